#include "graph/record_check.h"

#include <gtest/gtest.h>

#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

MatchReason Check(std::vector<FakeValue> target, std::vector<FakeValue> golden, RecordRule rule) {
  FakeRankDump dump;
  dump.Entry("a", std::move(target)).Entry("b", std::move(golden));
  dump::Record a;
  dump::Record b;
  EXPECT_TRUE(dump.Read(0, &a).ok());
  EXPECT_TRUE(dump.Read(1, &b).ok());
  return CheckRecords(a, b, rule);
}

FakeValue Null() {
  FakeValue value;
  value.kind = dump::ValueKind::kNull;
  value.type = "";
  value.shape = {};
  return value;
}

FakeValue Typed(std::string type) {
  FakeValue value = Input();
  value.type = std::move(type);
  return value;
}

FakeValue HalfInput() {
  FakeValue value = Input();
  value.dtype = DType::kFloat16;
  return value;
}

constexpr RecordRule kSame = RecordRule::kSame;
constexpr RecordRule kDType = RecordRule::kSameUpToDType;
constexpr RecordRule kShapes = RecordRule::kShapesInCommon;

TEST(RecordCheckTest, EqualRecordsBreakNoRule) {
  for (const RecordRule rule : {kSame, kDType, kShapes}) {
    EXPECT_EQ(Check({Input({3, 4}), Scalar("input.1", "int", "1"), Null(), Output()},
                    {Input({3, 4}), Scalar("input.1", "int", "2"), Null(), Output()}, rule),
              MatchReason::kNone);
    EXPECT_EQ(Check({}, {}, rule), MatchReason::kNone);
  }
}

TEST(RecordCheckTest, NumberOfInputsOutputsAndParameters) {
  EXPECT_EQ(Check({Input(), Input()}, {Input()}, kSame), MatchReason::kOtherCount);
  EXPECT_EQ(Check({Input(), Output()}, {Input(), Input()}, kSame), MatchReason::kOtherCount);
  FakeValue parameter = Input();
  parameter.section = dump::Section::kParameter;
  EXPECT_EQ(Check({Input(), parameter}, {Input()}, kDType), MatchReason::kOtherCount);
  EXPECT_EQ(Check({Input(), Input()}, {Input()}, kShapes), MatchReason::kNone);
}

TEST(RecordCheckTest, Types) {
  EXPECT_EQ(Check({Scalar("input.0", "int", "1")}, {Scalar("input.0", "float", "1")}, kSame),
            MatchReason::kOtherType);
  EXPECT_EQ(Check({Null()}, {Input()}, kSame), MatchReason::kOtherType);
  EXPECT_EQ(Check({Typed("torch.nn.parameter.Parameter")}, {Input()}, kSame),
            MatchReason::kOtherType);
  EXPECT_EQ(Check({Typed("torch.nn.parameter.Parameter")}, {Input()}, kShapes), MatchReason::kNone);
  EXPECT_EQ(Check({Typed("mindspore.Tensor")}, {Input()}, kSame), MatchReason::kNone);
}

TEST(RecordCheckTest, Shapes) {
  for (const RecordRule rule : {kSame, kDType, kShapes}) {
    EXPECT_EQ(Check({Input({2, 3})}, {Input({3, 2})}, rule), MatchReason::kOtherShape);
    EXPECT_EQ(Check({Input({1, 2})}, {Input({2})}, rule), MatchReason::kOtherShape);
    EXPECT_EQ(Check({Input({})}, {Input({0})}, rule), MatchReason::kOtherShape);
    EXPECT_EQ(Check({Output({2})}, {Output({3})}, rule), MatchReason::kOtherShape);
  }
  EXPECT_EQ(Check({Null()}, {Input()}, kShapes), MatchReason::kOtherShape);
  EXPECT_EQ(Check({Scalar("input.0", "int", "1")}, {Input({})}, kShapes), MatchReason::kNone);
}

TEST(RecordCheckTest, DTypeMattersLastAndOnlyWhereAsked) {
  EXPECT_EQ(Check({HalfInput()}, {Input()}, kSame), MatchReason::kNone);
  EXPECT_EQ(Check({HalfInput()}, {Input()}, kDType), MatchReason::kOtherDType);
  EXPECT_EQ(Check({HalfInput(), Output({2})}, {Input(), Output({3})}, kDType),
            MatchReason::kOtherShape);
}

TEST(RecordCheckTest, PositionCountsNotTheKey) {
  EXPECT_EQ(Check({Scalar("input.a", "int", "1")}, {Scalar("input.b", "int", "1")}, kSame),
            MatchReason::kNone);
}

}  // namespace
}  // namespace msprobe::graph
