#include "base/string_arena.h"

#include <gtest/gtest.h>

#include <utility>

namespace msprobe::base {
namespace {

TEST(StringArenaTest, AnArenaThatGaveItsStringsAwayWritesElsewhere) {
  StringArena owner;
  StringArena reused;
  const std::string_view kept = reused.Copy("kept");
  owner.Adopt(std::move(reused));
  reused.Clear();
  EXPECT_EQ(reused.Copy("over"), "over");
  EXPECT_EQ(kept, "kept");
}

}  // namespace
}  // namespace msprobe::base
