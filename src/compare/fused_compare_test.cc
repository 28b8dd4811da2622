#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/dumps_fixture.h"

namespace msprobe::compare {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kNet[] = "Module.net.Net.forward.0";
constexpr char kGate[] = "Module.net.gate.Linear.forward.0";
constexpr char kUp[] = "Module.net.up.Linear.forward.0";
constexpr char kBoth[] = "Module.net.fc1.Linear.forward.0";

std::string Linear(const TestTensor& output, const std::string& weight_shape) {
  TestTensor weight = TestTensor::Of("1.0");
  weight.shape = weight_shape;
  return Forward({Plain()}, {output.Json()}, "\"weight\": " + weight.Json());
}

/// Parts of 4 and 3 as norms, 1 and 2 as largest values; `norm` is that of the concatenation.
TestResult CompareFused(const std::string& norm) {
  TestDump target("target"), golden("golden");
  for (TestDump* dump : {&target, &golden}) dump->Add(kNet, "", Forward({Plain()}, {Plain()}));
  const TestTensor gate{"1.0", "-1.0", "0.5", "4.0", "torch.float32", "[2, 3]", ""};
  const TestTensor up{"2.0", "-0.5", "1.5", "3.0", "torch.float32", "[2, 3]", ""};
  const TestTensor whole{"2.0", "-1.0", "1.0", norm, "torch.float32", "[2, 6]", ""};
  target.Add(kGate, kNet, Linear(gate, "[3, 3]"));
  target.Add(kUp, kNet, Linear(up, "[3, 3]"));
  golden.Add(kBoth, kNet, Linear(whole, "[6, 3]"));
  graph::MatchOptions options;
  options.mode = graph::MatchMode::kAuto;
  return CompareDumps(target, golden, options);
}

TEST(FusedCompare, StatisticsOfAConcatenationFollowFromItsParts) {
  const TestResult result = CompareFused("5.0");
  EXPECT_EQ(result.node(kGate).status, NodeStatus::kUnmatched);
  for (const char* name : {kGate, kUp}) {
    EXPECT_THAT(result.reason(name), HasSubstr("gate, up = fc1; taken together"));
    EXPECT_THAT(result.reason(name), HasSubstr("outputs 0 %"));
  }
}

TEST(FusedCompare, AnotherNormIsTold) {
  EXPECT_THAT(CompareFused("10.0").reason(kGate), HasSubstr("outputs 50 %"));
  EXPECT_THAT(CompareFused("NaN").reason(kGate), Not(HasSubstr("outputs")));
}

}  // namespace
}  // namespace msprobe::compare
