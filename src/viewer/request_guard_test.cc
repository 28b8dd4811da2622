#include "viewer/request_guard.h"

#include <gtest/gtest.h>

namespace msprobe::viewer {
namespace {

TEST(RequestGuardTest, OnlyOwnNamesAreServed) {
  const RequestGuard guard("127.0.0.1");
  for (const char* host :
       {"localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]:99", "127.0.1.1:80", "[0:0::1]:1"}) {
    EXPECT_TRUE(guard.AllowsHost(host)) << host;
  }
  for (const char* host :
       {"", "evil.example", "localhost.evil.example:8080", "10.0.0.1", "[::1",
        "127.0.0.1.evil.example", ":8080", "[]", "::1", "127.0.0.1.", "128.0.0.1"}) {
    EXPECT_FALSE(guard.AllowsHost(host)) << host;
  }
}

TEST(RequestGuardTest, TheNameGivenIsServed) {
  EXPECT_TRUE(RequestGuard("node7.Cluster").AllowsHost("node7.cluster:80"));
  EXPECT_FALSE(RequestGuard("node7.cluster").AllowsHost("node8.cluster:80"));
  EXPECT_TRUE(RequestGuard("fe80::1").AllowsHost("[fe80::1]:80"));
}

TEST(RequestGuardTest, TheAddressThatANameMeansIsServed) {
  const RequestGuard guard("node7", "10.0.0.5");
  EXPECT_TRUE(guard.AllowsHost("10.0.0.5:80"));
  EXPECT_TRUE(guard.AllowsHost("node7:80"));
  EXPECT_FALSE(guard.AllowsHost("10.0.0.6:80"));
  for (const char* spelling : {"fe80:0::1", "[FE80::0001]", "fe80::1"}) {
    EXPECT_TRUE(RequestGuard(spelling).AllowsHost("[fe80::1]:80")) << spelling;
    EXPECT_FALSE(RequestGuard(spelling).AllowsHost("[fe80::2]:80")) << spelling;
  }
}

TEST(RequestGuardTest, OnEveryAddressOnlyDigitsAreServed) {
  // A name may be rebound to this machine by whoever owns it, an address may not.
  for (const char* every : {"0.0.0.0", "::", "[::]", "0::0"}) {
    const RequestGuard guard(every);
    EXPECT_TRUE(guard.AllowsHost("10.1.2.3:8080")) << every;
    EXPECT_TRUE(guard.AllowsHost("[2001:db8::1]:8080")) << every;
    EXPECT_FALSE(guard.AllowsHost("10.1.2.3.evil.example:8080")) << every;
    EXPECT_FALSE(guard.AllowsHost("[evil]:8080")) << every;
  }
}

TEST(RequestGuardTest, LoopbackIsThisMachineOnly) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "LocalHost", "::1", "[::1]"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "[::]", "10.0.0.1", "node7", "127.0.0.1.evil", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(RequestGuardTest, OriginIsThePageItself) {
  EXPECT_TRUE(RequestGuard::AllowsOrigin("http://localhost:8080", "localhost:8080"));
  EXPECT_FALSE(RequestGuard::AllowsOrigin("http://localhost:9090", "localhost:8080"));
  EXPECT_FALSE(RequestGuard::AllowsOrigin("http://evil.example", "localhost:8080"));
  EXPECT_FALSE(RequestGuard::AllowsOrigin("null", "localhost:8080"));
  EXPECT_FALSE(RequestGuard::AllowsOrigin("", ""));
}

}  // namespace
}  // namespace msprobe::viewer
