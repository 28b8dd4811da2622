#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/dumps_fixture.h"

namespace msprobe::compare {
namespace {

using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// ---- the table of special values, statistics ----

struct StatisticsRow {
  const char* name;
  const char* target;
  const char* golden;
  double index;  // NaN: not compared
  NodeStatus status;
  const char* reason;
};

class StatisticsTable : public testing::TestWithParam<StatisticsRow> {};

TEST_P(StatisticsTable, WholeTensor) {
  const StatisticsRow& row = GetParam();
  const TestResult result =
      CompareOutputs(TestTensor::Of(row.target).Json(), TestTensor::Of(row.golden).Json());
  EXPECT_EQ(result.comparison.mode, CompareMode::kStatistics);
  const NodeResult& node = result.node(kApi);
  if (std::isnan(row.index)) {
    EXPECT_TRUE(std::isnan(node.index)) << node.index;
  } else {
    EXPECT_NEAR(node.index, row.index, 1e-12);
  }
  EXPECT_EQ(node.status, row.status) << result.reason(kApi);
  EXPECT_THAT(result.reason(kApi), HasSubstr(row.reason));
  EXPECT_EQ(result.value(kApi, 1).nan_on_both_sides,
            std::string(row.target) == "NaN" && std::string(row.golden) == "NaN");
}

INSTANTIATE_TEST_SUITE_P(
    SpecialValues, StatisticsTable,
    testing::Values(
        StatisticsRow{"NanAgainstFinite", "NaN", "1.0", 1, NodeStatus::kError, "one side only"},
        StatisticsRow{"FiniteAgainstNan", "1.0", "NaN", 1, NodeStatus::kError, "one side only"},
        StatisticsRow{"NanAgainstNan", "NaN", "NaN", 0, NodeStatus::kPass, "NaN on both sides"},
        StatisticsRow{"NanAgainstInf", "NaN", "Infinity", 1, NodeStatus::kError, "one side"},
        StatisticsRow{"InfAgainstFinite", "Infinity", "1.0", 1, NodeStatus::kError, "one side"},
        StatisticsRow{"FiniteAgainstInf", "1.0", "Infinity", 1, NodeStatus::kError, "one side"},
        StatisticsRow{"InfAgainstMinusInf", "Infinity", "-Infinity", 1, NodeStatus::kError,
                      "one side"},
        StatisticsRow{"InfAgainstInf", "Infinity", "Infinity", 0, NodeStatus::kPass, ""},
        StatisticsRow{"NonzeroAgainstZero", "0.001", "0.0", 1, NodeStatus::kError, "norm"},
        StatisticsRow{"ThousandAgainstZero", "1000.0", "0.0", 1, NodeStatus::kError, "norm"},
        StatisticsRow{"ZeroAgainstZero", "0.0", "0.0", 0, NodeStatus::kPass, ""},
        StatisticsRow{"ZeroAgainstMinusZero", "0.0", "-0.0", 0, NodeStatus::kPass, ""},
        StatisticsRow{"NullAgainstNumber", "null", "1.0", kNaN, NodeStatus::kWarning,
                      "target recorded no statistics"},
        StatisticsRow{"NumberAgainstNull", "1.0", "null", kNaN, NodeStatus::kWarning,
                      "golden recorded no statistics"},
        StatisticsRow{"NullAgainstNull", "null", "null", kNaN, NodeStatus::kWarning,
                      "not compared"},
        StatisticsRow{"Near", "1.001", "1.0", 0.001, NodeStatus::kWarning, "10 times"},
        StatisticsRow{"FarIsClampedToOne", "1e300", "1e-300", 1, NodeStatus::kError, "norm"}),
    [](const auto& row) { return row.param.name; });

TEST(SpecialValues, MetricsOfStatistics) {
  const TestResult result = CompareOutputs(TestTensor{"3.0", "NaN", "Infinity", "0.5"}.Json(),
                                           TestTensor{"2.0", "1.0", "Infinity", "0.0"}.Json());
  const auto& metrics = result.value(kApi, 1).metrics;
  EXPECT_EQ(metrics[0], 1);
  EXPECT_TRUE(std::isnan(metrics[1]));
  EXPECT_EQ(metrics[2], 0);
  EXPECT_EQ(metrics[3], 0.5);
  EXPECT_EQ(metrics[4], 0.5);
  EXPECT_EQ(metrics[5], kInf);
  EXPECT_EQ(metrics[6], 0);
  EXPECT_EQ(metrics[7], kInf);
}

// With one NaN inside all four statistics are NaN, with one infinity the norm is infinite.
TEST(SpecialValues, OtherCountsOfNanAndInfinities) {
  const auto counted = [](const char* number, const char* counts) {
    TestTensor tensor = TestTensor::Of(number);
    tensor.extra = counts;
    return tensor.Json();
  };
  const TestResult nan = CompareOutputs(counted("NaN", R"("nan_count": 3)"),
                                        counted("NaN", R"("nan_count": 5, "inf_count": 1)"));
  EXPECT_EQ(nan.node(kApi).index, 1);
  EXPECT_EQ(nan.node(kApi).status, NodeStatus::kError);
  EXPECT_EQ(nan.reason(kApi),
            "the number of NaN is 3, golden's 5; the number of infinities is 0, golden's 1 "
            "(output.0)");
  EXPECT_FALSE(nan.value(kApi, 1).nan_on_both_sides);
  const TestResult infinite = CompareOutputs(counted("Infinity", R"("inf_count": 2)"),
                                             counted("Infinity", R"("inf_count": 1)"));
  EXPECT_EQ(infinite.node(kApi).index, 1);
  EXPECT_THAT(infinite.reason(kApi), HasSubstr("the number of infinities is 2, golden's 1"));
  EXPECT_EQ(CompareOutputs(counted("NaN", R"("nan_count": 3)"), counted("NaN", R"("nan_count": 3)"))
                .node(kApi)
                .status,
            NodeStatus::kPass);
  // Other tools count nothing.
  EXPECT_EQ(
      CompareOutputs(counted("NaN", R"("nan_count": 3)"), counted("NaN", "")).node(kApi).status,
      NodeStatus::kPass);
}

TEST(SpecialValues, EmptyTensorsInStatistics) {
  const std::string empty =
      TestTensor{"null", "null", "null", "null", "torch.float32", "[0, 4]"}.Json();
  const TestResult result = CompareOutputs(empty, empty);
  EXPECT_EQ(result.node(kApi).index, 0);
  EXPECT_EQ(result.node(kApi).status, NodeStatus::kPass);
}

TEST(SpecialValues, AllSignsFlippedInStatistics) {
  const TestResult result = CompareOutputs(TestTensor{"3.0", "-1.0", "0.5"}.Json(),
                                           TestTensor{"1.0", "-3.0", "-0.5"}.Json());
  EXPECT_EQ(result.node(kApi).index, 1);
}

TEST(SpecialValues, BoolAndIntegersAreExactInStatistics) {
  const auto integers = [](const char* max) {
    return TestTensor{max, "0", "0.5", "2.0", "torch.int64"}.Json();
  };
  EXPECT_EQ(CompareOutputs(integers("7"), integers("7")).node(kApi).index, 0);
  EXPECT_NEAR(CompareOutputs(integers("8"), integers("7")).node(kApi).index, 1.0 / 7, 1e-12);
  // Not equal although they are the same float64.
  const TestResult large =
      CompareOutputs(integers("9007199254740993"), integers("9007199254740992"));
  EXPECT_EQ(large.value(kApi, 1).metrics[0], 1);
  EXPECT_GT(large.node(kApi).index, 0);
  const auto bools = [](const char* max) {
    return TestTensor{max, "false", "0.0", "0.0", "torch.bool"}.Json();
  };
  EXPECT_EQ(CompareOutputs(bools("true"), bools("false")).node(kApi).index, 1);
  EXPECT_EQ(CompareOutputs(bools("true"), bools("true")).node(kApi).index, 0);
}

// Max and Min of shuffled whole numbers agree.
TEST(SpecialValues, AStatisticOnOneSideOnlyIsSaidToBeLeftOut) {
  const std::string whole = TestTensor{"7", "0", "3.5", "9.0", "torch.int64"}.Json();
  const std::string part = TestTensor{"7", "0", "null", "null", "torch.int64"}.Json();
  const TestResult golden_lacks = CompareOutputs(whole, part);
  EXPECT_EQ(golden_lacks.node(kApi).index, 0);
  EXPECT_EQ(golden_lacks.node(kApi).status, NodeStatus::kPass);
  EXPECT_THAT(golden_lacks.reason(kApi),
              HasSubstr("compared only in part: golden recorded no Mean, Norm (output.0)"));
  EXPECT_THAT(CompareOutputs(part, whole).reason(kApi), HasSubstr("target recorded no Mean, Norm"));
  EXPECT_EQ(CompareOutputs(part, part).reason(kApi), "");
  const std::string other = TestTensor{"7", "0", "3.5", "9.0", "torch.int32"}.Json();
  EXPECT_THAT(CompareOutputs(other, part).reason(kApi),
              HasSubstr("the dtype differs; compared only"));
}

// ---- the table of special values, real data ----

struct RealDataRow {
  const char* name;
  std::vector<float> target;
  std::vector<float> golden;
  double index;
};

class RealDataTable : public testing::TestWithParam<RealDataRow> {};

/// An API with the input [1, 2] on both sides and these outputs.
TestResult CompareStored(const std::vector<float>& target, const std::vector<float>& golden,
                         const std::vector<int64_t>& target_shape,
                         const std::vector<int64_t>& golden_shape, size_t threads = 1) {
  TestDump target_dump("target"), golden_dump("golden");
  const auto fill = [](TestDump& dump, const std::vector<float>& output,
                       const std::vector<int64_t>& shape) {
    dump.task = "tensor";
    std::string text;
    for (const int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    dump.Add(kApi, "",
             Forward({Stored("input.npy", "[2]")}, {Stored("output.npy", "[" + text + "]")}));
    dump.WriteFloats("input.npy", {1, 2}, {2});
    dump.WriteFloats("output.npy", output, shape);
  };
  fill(target_dump, target, target_shape);
  fill(golden_dump, golden, golden_shape);
  return CompareDumps(target_dump, golden_dump, Loose(), threads);
}

TEST_P(RealDataTable, Elements) {
  const RealDataRow& row = GetParam();
  const std::vector<int64_t> shape = {static_cast<int64_t>(row.target.size())};
  const TestResult result = CompareStored(row.target, row.golden, shape, shape);
  EXPECT_EQ(result.comparison.mode, CompareMode::kRealData);
  EXPECT_NEAR(result.node(kApi).index, row.index, 1e-12);
  EXPECT_EQ(result.comparison.unreadable_tensors, 0U);
}

constexpr float kNaNF = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    SpecialValues, RealDataTable,
    testing::Values(RealDataRow{"NanAgainstFinite", {kNaNF, 1, 1, 1}, {1, 1, 1, 1}, 0.25},
                    RealDataRow{"FiniteAgainstNan", {1, 1, 1, 1}, {1, kNaNF, 1, 1}, 0.25},
                    RealDataRow{"NanAgainstNan", {kNaNF, 1}, {kNaNF, 1}, 0},
                    RealDataRow{"NanAtOtherPlaces", {kNaNF, 1}, {1, kNaNF}, 1},
                    RealDataRow{"InfAgainstFinite", {kInfF, 1}, {1, 1}, 0.5},
                    RealDataRow{"InfAgainstMinusInf", {kInfF, 1}, {-kInfF, 1}, 0.5},
                    RealDataRow{"InfAgainstInf", {kInfF, 1}, {kInfF, 1}, 0},
                    RealDataRow{"NonzeroAgainstZero", {1e-30F, 1}, {0, 1}, 0.5},
                    RealDataRow{"ZeroAgainstZero", {0, 0}, {0, 0}, 0},
                    RealDataRow{"ThousandAgainstZero", {1000, 1000}, {0, 0}, 1},
                    RealDataRow{"OneElementEqual", {3}, {3}, 0},
                    RealDataRow{"OneElementOther", {3}, {-3}, 1}, RealDataRow{"Empty", {}, {}, 0},
                    RealDataRow{"AllSignsFlipped", {1, -2, 3}, {-1, 2, -3}, 1}),
    [](const auto& row) { return row.param.name; });

// A value without its file is judged by its statistics, in the colour bands of real data.
TEST(RealData, StatisticsStandInForAMissingFile) {
  const auto compare = [](const std::string& target_output) {
    TestDump target("target"), golden("golden");
    for (TestDump* dump : {&target, &golden}) {
      dump->task = "tensor";
      dump->WriteFloats("input.npy", {1, 2}, {2});
    }
    golden.WriteFloats("output.npy", {1, 2}, {2});
    const std::string input = Stored("input.npy", "[2]");
    target.Add(kApi, "", Forward({input}, {target_output}));
    golden.Add(kApi, "", Forward({input}, {Stored("output.npy", "[2]")}));
    return CompareDumps(target, golden, Loose());
  };
  TestTensor output{"1.0", "0.0", "0.5", "2.0", "torch.float32", "[2]"};
  const TestResult same = compare(output.Json());
  EXPECT_EQ(same.comparison.mode, CompareMode::kRealData);
  EXPECT_TRUE(same.value(kApi, 1).by_statistics);
  EXPECT_EQ(same.comparison.UlpsOf(same.value(kApi, 1)), nullptr);
  EXPECT_EQ(same.node(kApi).index, 0);
  EXPECT_EQ(same.node(kApi).status, NodeStatus::kPass);
  EXPECT_THAT(same.reason(kApi), HasSubstr("only statistics are compared: target has no tensor"));
  EXPECT_THAT(same.diagnostics, testing::SizeIs(1));
  output.max = "1.4";
  EXPECT_NEAR(compare(output.Json()).node(kApi).index, 0.1, 1e-9);
  output.norm = "20.0";
  EXPECT_EQ(compare(output.Json()).node(kApi).index, 1);
  EXPECT_EQ(compare(output.Json()).node(kApi).status, NodeStatus::kError);
  output.max = output.min = output.mean = output.norm = "null";
  const TestResult none = compare(output.Json());
  EXPECT_TRUE(std::isnan(none.node(kApi).index));
  EXPECT_THAT(none.reason(kApi), HasSubstr("not compared: target has no tensor file"));
}

TEST(RealData, OneMissingFileLeavesTheElementsOfTheOthers) {
  const auto compare = [](const char* known_norm) {
    TestDump target("target"), golden("golden");
    const auto record = [](const char* norm) {
      const TestTensor known{"1.0", "0.0", "0.5", norm, "torch.float32", "[2]"};
      return Forward({Stored("input.npy", "[4]"), known.Json()}, {Stored("output.npy", "[4]")});
    };
    for (TestDump* dump : {&target, &golden}) {
      dump->task = "tensor";
      dump->WriteFloats("input.npy", {1, 2, 3, 4}, {4});
    }
    target.WriteFloats("output.npy", {4, 1, 2, 3}, {4});  // of the same norm
    golden.WriteFloats("output.npy", {1, 2, 3, 4}, {4});
    target.Add(kApi, "", record(known_norm));
    golden.Add(kApi, "", record("2.0"));
    return CompareDumps(target, golden, Loose()).node(kApi).status;
  };
  EXPECT_EQ(compare("2.0"), NodeStatus::kError);
  EXPECT_EQ(compare("20.0"), NodeStatus::kPass);  // that input may be why
}

TEST(SpecialValues, ScalarsHaveCosineOneOrMinusOne) {
  EXPECT_EQ(CompareStored({2}, {2}, {}, {}).value(kApi, 1).metrics[0], 1);
  EXPECT_EQ(CompareStored({2}, {-2}, {}, {}).value(kApi, 1).metrics[0], -1);
}

TEST(RealData, ShapePairsNeverThrow) {
  const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {1}, {5}, {1, 5}, {2, 0}};
  for (const auto& target : shapes) {
    for (const auto& golden : shapes) {
      const auto values = [](const std::vector<int64_t>& shape) {
        return std::vector<float>(static_cast<size_t>(ElementCount(shape)), 2.0F);
      };
      const TestResult result = CompareStored(values(target), values(golden), target, golden);
      const NodeResult& node = result.node(kApi);
      EXPECT_EQ(node.index, target == golden ? 0 : 1);
      EXPECT_EQ(node.status, target == golden ? NodeStatus::kPass : NodeStatus::kError);
    }
  }
}

}  // namespace
}  // namespace msprobe::compare
