#include "base/shortened.h"

#include <gtest/gtest.h>

namespace msprobe::base {
namespace {

TEST(Shortened, LeavesWhatFits) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("", 0), "");
}

TEST(Shortened, NeverCutsACharacterInHalves) {
  EXPECT_EQ(Shortened("abcd", 3), "abc…");
  EXPECT_EQ(Shortened("aéé", 2), "a…");
  EXPECT_EQ(Shortened("aéé", 3), "aé…");
  EXPECT_EQ(Shortened("\xbf\xbf\xbf", 1), "…");
}

}  // namespace
}  // namespace msprobe::base
