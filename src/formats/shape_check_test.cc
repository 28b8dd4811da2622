#include "formats/shape_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msprobe::formats {
namespace {

using ::testing::ElementsAre;

StatusCode Check(std::vector<int64_t> shape) { return CheckShape(shape, {}).code(); }

TEST(ShapeCheck, AcceptsShapesOfTensors) {
  EXPECT_EQ(Check({}), StatusCode::kOk);
  EXPECT_EQ(Check({0}), StatusCode::kOk);
  EXPECT_EQ(Check({3, 0, 5}), StatusCode::kOk);
  EXPECT_EQ(Check({int64_t{1} << 40}), StatusCode::kOk);
}

TEST(ShapeCheck, RefusesWhatWouldOverflow) {
  EXPECT_EQ(Check({-1}), StatusCode::kCorrupt);
  EXPECT_EQ(Check({int64_t{1} << 32, int64_t{1} << 31}), StatusCode::kCorrupt);
  EXPECT_EQ(Check({0, INT64_MAX, INT64_MAX}), StatusCode::kCorrupt);
  EXPECT_EQ(Check({(int64_t{1} << 40) + 1}), StatusCode::kLimitExceeded);
}

TEST(ShapeCheck, Strides) {
  const std::vector<int64_t> shape = {2, 3, 4};
  EXPECT_THAT(ContiguousStrides(shape, false), ElementsAre(12, 4, 1));
  EXPECT_THAT(ContiguousStrides(shape, true), ElementsAre(1, 2, 6));
  EXPECT_THAT(ContiguousStrides({}, false), ElementsAre());
}

TEST(ShapeCheck, TextIsPythons) {
  EXPECT_EQ(ShapeText({}), "()");
  EXPECT_EQ(ShapeText(std::vector<int64_t>{4}), "(4,)");
  EXPECT_EQ(ShapeText(std::vector<int64_t>{2, 3}), "(2, 3)");
}

}  // namespace
}  // namespace msprobe::formats
