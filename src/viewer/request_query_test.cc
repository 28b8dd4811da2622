#include "viewer/request_query.h"

#include <gtest/gtest.h>

namespace msprobe::viewer {
namespace {

TEST(QueryTest, DecodesAndBounds) {
  Result<RequestQuery> query =
      RequestQuery::Parse("file=a%20b.vis&u=3&q=%E4%B8%AD+x&empty=&flag&u=9");
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(*query->Text("file"), "a b.vis");
  EXPECT_EQ(*query->Text("q"), "中 x");
  EXPECT_EQ(*query->Text("empty"), "");
  EXPECT_EQ(*query->Text("flag"), "");
  EXPECT_EQ(*query->Int("u", 0, 0, 5), 3) << "of equal names the first counts";
  EXPECT_EQ(*query->Int("none", 7, 0, 5), 7);
  EXPECT_EQ(query->Int("u", 0, 4, 5).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(query->Int("q", 0, 0, 5).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(query->Text("none").status().code(), StatusCode::kInvalidArgument);
}

TEST(QueryTest, BrokenEscapesAndFloodsAreRefused) {
  for (const char* bad : {"a=%", "a=%4", "a=%zz", "%g=1"}) {
    EXPECT_FALSE(RequestQuery::Parse(bad).ok()) << bad;
  }
  EXPECT_EQ(RequestQuery::Parse(std::string(RequestQuery::kMaxBytes + 1, 'a')).status().code(),
            StatusCode::kLimitExceeded);
  EXPECT_TRUE(RequestQuery::Parse("&&=&").ok());
}

}  // namespace
}  // namespace msprobe::viewer
