#include "base/wildcard.h"

#include <gtest/gtest.h>

#include <string>

namespace msprobe::base {
namespace {

TEST(Wildcards, StarsAndQuestionMarks) {
  EXPECT_TRUE(FitsWildcards("a.b", "a.b"));
  EXPECT_FALSE(FitsWildcards("a.b", "a.bc"));
  EXPECT_TRUE(FitsWildcards("*", ""));
  EXPECT_TRUE(FitsWildcards("*.fc?.*", "Module.net.fc1.Linear"));
  EXPECT_FALSE(FitsWildcards("*.fc?.*", "Module.net.fc12.Linear"));
  EXPECT_TRUE(FitsWildcards("a*b*c", "aXbXbYc"));
  EXPECT_FALSE(FitsWildcards("a*b*c", "aXbXbYcd"));
  EXPECT_FALSE(FitsWildcards("", "a"));
  EXPECT_TRUE(FitsWildcards("", ""));
  // Must not take exponential time.
  EXPECT_FALSE(FitsWildcards("*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace msprobe::base
