#include "graph/overflow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>

#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

FakeValue With(FakeValue value, double max, double norm = 1) {
  value.max = max;
  value.norm = norm;
  return value;
}

FakeValue At(std::string key, FakeValue value) {
  value.key = std::move(key);
  return value;
}

OverflowLevel Level(std::vector<FakeValue> values,
                    std::string_view id = "Functional.linear.0.forward") {
  FakeRankDump dump;
  dump.Entry(id, std::move(values));
  dump::Record record;
  EXPECT_TRUE(dump.Read(0, &record).ok());
  return OverflowOf(record, ParseNodeName(id));
}

TEST(OverflowTest, LevelsOfSpec) {
  EXPECT_EQ(Level({Input(), Output()}), OverflowLevel::kNone);
  EXPECT_EQ(Level({Input(), With(Output(), NAN)}), OverflowLevel::kCritical);
  EXPECT_EQ(Level({Input(), With(Output(), -INFINITY)}), OverflowLevel::kCritical);
  EXPECT_EQ(Level({With(Input(), NAN), With(Output(), INFINITY)}), OverflowLevel::kHigh);
  EXPECT_EQ(Level({With(Input(), INFINITY), Output()}), OverflowLevel::kMedium);
}

TEST(OverflowTest, NormAloneIsAbnormal) {
  EXPECT_EQ(Level({Input(), With(Output(), 1, INFINITY)}), OverflowLevel::kCritical);
}

TEST(OverflowTest, NestedTensorsCount) {
  EXPECT_EQ(Level({Input(), At("output.0.3.state", With(Output(), NAN))}),
            OverflowLevel::kCritical);
}

TEST(OverflowTest, GrowthAboveHundredIsHigh) {
  EXPECT_EQ(Level({With(Input(), 1, 1), With(Output(), 1, 101)}), OverflowLevel::kHigh);
  EXPECT_EQ(Level({With(Input(), 1, 1), With(Output(), 1, 100)}), OverflowLevel::kNone);
  EXPECT_EQ(Level({With(Input(), 1, 1), With(Input(), 1, 50), With(Output(), 1, 200)}),
            OverflowLevel::kNone);
}

TEST(OverflowTest, GrowthNeedsAnInputToGrowFrom) {
  EXPECT_EQ(Level({With(Output(), 1, 500)}), OverflowLevel::kNone);
  EXPECT_EQ(Level({With(Input(), 0, 0), With(Output(), 1, 500)}), OverflowLevel::kNone);
}

TEST(OverflowTest, MemoryNotYetWrittenIsExempt) {
  EXPECT_EQ(Level({Input(), With(Output(), NAN)}, "Torch.empty.0.forward"), OverflowLevel::kNone);
  EXPECT_EQ(Level({With(Input(), NAN), Output()}, "Distributed.recv.0.forward"),
            OverflowLevel::kNone);
  EXPECT_EQ(Level({At("input.0.1", With(Input(), NAN)), At("input.1", Input()), Output()},
                  "Distributed.all_gather.0.forward"),
            OverflowLevel::kNone);
  EXPECT_EQ(Level({At("input.kwargs.tensor_list.0", With(Input(), NAN)), Output()},
                  "Distributed.all_gather.0.forward"),
            OverflowLevel::kNone);
  EXPECT_EQ(Level({At("input.0", With(Input(), NAN)), Output()}, "Tensor.copy_.0.forward"),
            OverflowLevel::kNone);
}

// torch 2.14 calls all_gather_into_tensor, reduce_scatter_tensor and gather_into_tensor so.
TEST(OverflowTest, SoIsWhatCollectivesOfASingleTensorWriteInto) {
  for (const auto& [api, position, keyword] :
       {std::tuple("all_gather_single", "0", "output_tensor"),
        std::tuple("reduce_scatter_single", "0", "output"),
        std::tuple("gather_single", "1", "gather_tensor"),
        std::tuple("gather_into_tensor", "1", "gather_tensor")}) {
    const std::string name = std::string("Distributed.") + api + ".0.forward";
    for (const std::string& key : {std::string(position), std::string("kwargs.") + keyword}) {
      EXPECT_EQ(Level({At("input." + key, With(Input(), NAN)), Output()}, name),
                OverflowLevel::kNone)
          << name << " " << key;
    }
    EXPECT_EQ(Level({At("input.kwargs.input", With(Input(), NAN)), Output()}, name),
              OverflowLevel::kMedium);
  }
}

TEST(OverflowTest, OtherArgumentsOfThoseApisAreNot) {
  EXPECT_EQ(
      Level({At("input.1", With(Input(), NAN)), Output()}, "Distributed.all_gather.0.forward"),
      OverflowLevel::kMedium);
  EXPECT_EQ(Level({At("input.0", With(Input(), NAN)), Output()}, "Tensor.scatter.0.forward"),
            OverflowLevel::kMedium);
}

TEST(OverflowTest, SetOnAllNodesOfAGraph) {
  auto dump = std::make_shared<FakeRankDump>();
  dump->Edge("Module.m.M.forward.0").Edge("Torch.a.0.forward", "Module.m.M.forward.0");
  dump->Entry("Module.m.M.forward.0", {With(Input(), NAN), Output()});
  dump->Entry("Torch.a.0.forward", {Input(), With(Output(), NAN)});
  base::Diagnostics diagnostics;
  const auto plain = BuildGraph(dump, {}, &diagnostics);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain.value()->nodes[1].overflow, OverflowLevel::kNone);
  const auto checked = BuildGraph(dump, {.check_overflow = true, .threads = 2}, &diagnostics);
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked.value()->nodes[1].overflow, OverflowLevel::kMedium);
  EXPECT_EQ(checked.value()->nodes[2].overflow, OverflowLevel::kCritical);
}

}  // namespace
}  // namespace msprobe::graph
