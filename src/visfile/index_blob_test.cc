#include "visfile/index_blob.h"

#include <gtest/gtest.h>

#include <cmath>

namespace msprobe::visfile {
namespace {

SideIndex Sample(uint32_t count) {
  SideIndex side;
  static std::vector<std::string> names;
  names.resize(count);
  side.shape_texts = {"", "[2, 8]"};
  for (uint32_t id = 0; id < count; ++id) {
    names[id] = id == 0 ? std::string("DefaultModel") : "Module.m" + std::to_string(id);
    side.Add(names[id]);
    side.parents[id] = id == 0 ? graph::kNoNode : (id - 1) / 3;
    side.index[id] = id % 3 == 0 ? NAN : static_cast<float>(id % 7) / 7;
    side.partners[id] = id % 5 == 0 ? graph::kNoNode : id;
    side.places[id] = uint64_t{id} << 33;
    side.roles[id] = id % 11 == 0 ? compare::Role::kVictim : compare::Role::kNone;
    side.shapes.push_back(id % 2);
    side.sibling_ranks.push_back(1000 - id % 1000);
  }
  side.Complete(0.8F);
  return side;
}

std::vector<std::string> Pieces(const SideIndex& side) {
  std::vector<std::string> pieces;
  EXPECT_TRUE(WriteIndexBlob(side, [&](std::string_view piece) {
                pieces.emplace_back(piece);
                return Status::Ok();
              }).ok());
  return pieces;
}

Status Read(const std::vector<std::string>& pieces, SideIndex* side, base::StringArena* arena) {
  size_t at = 0;
  uint64_t total = 0;
  for (const std::string& piece : pieces) total += piece.size();
  return ReadIndexBlob(
      [&]() -> Result<std::string_view> {
        return at < pieces.size() ? std::string_view(pieces[at++]) : std::string_view();
      },
      total, side, arena);
}

TEST(IndexBlobTest, EverythingComesBack) {
  const SideIndex side = Sample(200'000);
  const std::vector<std::string> pieces = Pieces(side);
  EXPECT_GT(pieces.size(), 1U);
  SideIndex back;
  base::StringArena arena;
  ASSERT_TRUE(Read(pieces, &back, &arena).ok());
  back.Complete(0.8F);
  EXPECT_EQ(back.names, side.names);
  EXPECT_EQ(back.parents, side.parents);
  EXPECT_EQ(back.partners, side.partners);
  EXPECT_EQ(back.places, side.places);
  EXPECT_EQ(back.roles, side.roles);
  EXPECT_EQ(back.order, side.order) << "siblings keep their places";
  EXPECT_EQ(back.inside, side.inside);
  EXPECT_EQ(back.shape_texts, side.shape_texts);
}

TEST(IndexBlobTest, DamageIsAnError) {
  const std::vector<std::string> pieces = Pieces(Sample(20));
  const std::string& whole = pieces.front();
  for (size_t size = 0; size < whole.size(); ++size) {
    SideIndex side;
    base::StringArena arena;
    EXPECT_FALSE(Read({whole.substr(0, size)}, &side, &arena).ok()) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xFF);
    SideIndex side;
    base::StringArena arena;
    if (!Read({changed}, &side, &arena).ok()) continue;
    side.Complete(0.8F);
    EXPECT_EQ(side.order.size(), side.size());
  }
}

}  // namespace
}  // namespace msprobe::visfile
