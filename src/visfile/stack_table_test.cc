#include "visfile/stack_table.h"

#include <gtest/gtest.h>

#include <string>

namespace msprobe::visfile {
namespace {

TEST(StackTable, EqualTextsHaveOneNumber) {
  StackTable table;
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < 5000; ++i) {
      bool added = false;
      EXPECT_EQ(table.Find(StackKey::Of("[\"line " + std::to_string(i) + "\"]"), &added), i);
      EXPECT_EQ(added, round == 0);
    }
  }
}

TEST(StackTable, TextsWithOneHashAreToldApart) {
  StackTable table;
  bool added = false;
  EXPECT_EQ(table.Find({7, 1, 10}, &added), 0U);
  EXPECT_EQ(table.Find({7, 2, 10}, &added), 1U);
  EXPECT_EQ(table.Find({7, 1, 11}, &added), 2U);
  EXPECT_EQ(table.Find({7, 2, 10}, &added), 1U);
}

}  // namespace
}  // namespace msprobe::visfile
