#include "compare/scalar_argument.h"

#include <gtest/gtest.h>

#include <limits>

namespace msprobe::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

dump::Value Scalar(std::string_view type, std::string_view text,
                   std::string_view key = "input.kwargs.p") {
  dump::Value value;
  value.kind = dump::ValueKind::kScalar;
  value.type = type;
  value.value_text = text;
  value.key = key;
  return value;
}

dump::Record WithTensor(std::vector<int64_t> shape) {
  dump::Record record;
  dump::Value tensor;
  tensor.kind = dump::ValueKind::kTensor;
  tensor.shape_size = static_cast<uint32_t>(shape.size());
  record.extents = std::move(shape);
  record.values.push_back(tensor);
  return record;
}

double Error(const dump::Value& target, const dump::Value& golden) {
  return ArgumentError(WithTensor({5, 8, 16}), target, golden);
}

double ErrorOfWhole(std::string_view target, std::string_view golden) {
  return Error(Scalar("int", target), Scalar("int", golden));
}

TEST(ScalarArgument, HowFarItIsFromGoldens) {
  EXPECT_EQ(Error(Scalar("str", "tanh"), Scalar("str", "none")), kInfinity);
  EXPECT_EQ(Error(Scalar("str", "tanh"), Scalar("str", "tanh")), 0);
  EXPECT_EQ(Error(Scalar("bool", "True"), Scalar("bool", "False")), kInfinity);
  EXPECT_EQ(Error(Scalar("int", "3"), Scalar("int", "2")), kInfinity);
  EXPECT_EQ(Error(Scalar("float", "0.25"), Scalar("float", "0.5")), 0.5);
  EXPECT_EQ(Error(Scalar("float", "0.5"), Scalar("int", "1")), 0.5);
  EXPECT_EQ(Error(Scalar("float", "0.5"), Scalar("float", "0.0")), kInfinity);
  EXPECT_EQ(Error(Scalar("float", "inf"), Scalar("float", "0.5")), kInfinity);
  EXPECT_EQ(Error(Scalar("float", "nan"), Scalar("float", "nan")), 0);
}

TEST(ScalarArgument, OtherSpellingsAndPlacesAreNoOtherArgument) {
  EXPECT_EQ(Error(Scalar("torch.dtype", "torch.float16"), Scalar("torch.dtype", "torch.float32")),
            0);
  EXPECT_EQ(Error(Scalar("str", "npu:0"), Scalar("str", "cuda:0")), 0);
  EXPECT_EQ(Error(Scalar("str", "torch.float16"), Scalar("str", "torch.float32")), 0);
  EXPECT_EQ(Error(Scalar("slice", "slice(0, -1, None)"), Scalar("slice", "slice(0, 3, None)")), 0);
  EXPECT_EQ(Error(Scalar("bool", "True", "input.kwargs.inplace"),
                  Scalar("bool", "False", "input.kwargs.inplace")),
            0);
}

TEST(ScalarArgument, APlaceMayBeCountedFromTheOtherEnd) {
  EXPECT_EQ(ErrorOfWhole("-1", "2"), 0);  // of three dimensions
  EXPECT_EQ(ErrorOfWhole("1", "-2"), 0);
  EXPECT_EQ(ErrorOfWhole("-1", "7"), 0);   // the last of eight
  EXPECT_EQ(ErrorOfWhole("-1", "16"), 0);  // a size that follows
  EXPECT_EQ(ErrorOfWhole("16", "-1"), 0);
  EXPECT_EQ(ErrorOfWhole("-1", "1"), kInfinity);
  EXPECT_EQ(ErrorOfWhole("-1", "0"), kInfinity);
  EXPECT_EQ(ErrorOfWhole("-100", "0"), kInfinity);
  EXPECT_EQ(ErrorOfWhole("-2", "16"), kInfinity);
  EXPECT_EQ(ErrorOfWhole("-2", "-1"), kInfinity);
}

TEST(ScalarArgument, TheOperationOfACollectiveIsOne) {
  constexpr std::string_view kType = "torch.distributed.ReduceOp";
  EXPECT_EQ(Error(Scalar(kType, "RedOpType.MAX"), Scalar(kType, "RedOpType.SUM")), kInfinity);
}

TEST(ScalarArgument, WhatOneSideAloneGives) {
  const auto record = [](std::vector<dump::Value> values) {
    dump::Record made;
    made.values = std::move(values);
    return made;
  };
  const dump::Record none = record({Scalar("float", "1.0", "input.1")});
  const dump::Record scale =
      record({Scalar("float", "1.0", "input.1"), Scalar("float", "0.5", "input.scale")});
  EXPECT_EQ(OneSidedArgument(scale, none), "argument `scale` is 0.5, golden gives none");
  EXPECT_EQ(OneSidedArgument(none, scale), "golden's argument `scale` is 0.5, none is given here");
  EXPECT_EQ(OneSidedArgument(scale, scale), "");
  EXPECT_EQ(OneSidedArgument(record({Scalar("bool", "True", "input.inplace")}), none),
            "golden's argument `1` is 1.0, none is given here");
}

TEST(ScalarArgument, ItIsNamedWithBothValues) {
  EXPECT_EQ(ArgumentText(Scalar("str", "tanh", "input.approximate"), Scalar("str", "none")),
            "argument `approximate` is tanh, golden's is none");
  const std::string text(100, 'x');
  EXPECT_LT(ArgumentText(Scalar("str", text, "input.1"), Scalar("str", "none")).size(), 90U);
}

TEST(ScalarArgument, LongTextsAreShownWhereTheyDiffer) {
  const std::string same(100, 'x');
  EXPECT_EQ(ArgumentText(Scalar("str", same + "é", "input.1"), Scalar("str", same + "è")),
            "argument `1` is …é, golden's is …è");
}

}  // namespace
}  // namespace msprobe::compare
