#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "dump/layout.h"
#include "dump/rank_dump.h"

// Dumps of small real models, collected with mindstudio-probe 1.2.1 and 26.2.0.

namespace msprobe::dump {
namespace {

std::filesystem::path DumpPath(std::string_view name) {
  return std::filesystem::path(MSPROBE_SOURCE_DIR) / "tests/interop/data/dumps" / name;
}

std::unique_ptr<RankDump> OpenDump(std::string_view name, bool need_construct = true) {
  base::Diagnostics diagnostics;
  auto dump = RankDump::Open(DumpPath(name), {.need_construct = need_construct}, &diagnostics);
  EXPECT_TRUE(dump.ok()) << dump.status().ToString();
  EXPECT_TRUE(diagnostics.entries().empty());
  return dump.ok() ? std::move(*dump) : nullptr;
}

/// Counted in the files by other means.
struct Expected {
  std::string_view name;
  size_t entries, tensors, scalars, nulls, files, checksums, edges, stacks;
};

struct PeerDump : testing::TestWithParam<Expected> {};

TEST_P(PeerDump, IsReadWhole) {
  const Expected& expected = GetParam();
  const auto dump = OpenDump(expected.name, expected.edges > 0);
  ASSERT_NE(dump, nullptr);
  EXPECT_EQ(dump->entry_count(), expected.entries);
  EXPECT_EQ(dump->construct().size(), expected.edges);
  EXPECT_EQ(dump->has_checksums(), expected.checksums > 0);
  EXPECT_EQ(dump->has_statistics(), expected.tensors > 0);
  size_t tensors = 0, scalars = 0, nulls = 0, files = 0, checksums = 0, stacks = 0;
  Record record;
  for (EntryId entry = 0; entry < dump->entry_count(); ++entry) {
    ASSERT_TRUE(dump->Read(entry, &record).ok()) << dump->entry_name(entry);
    EXPECT_NE(record.direction, Direction::kOther) << dump->entry_name(entry);
    const StackId stack = dump->FindStack(dump->entry_name(entry));
    stacks += stack != kNoStack && !dump->StackFrames(stack).empty();
    for (const Value& value : record.values) {
      tensors += value.kind == ValueKind::kTensor;
      scalars += value.kind == ValueKind::kScalar;
      nulls += value.kind == ValueKind::kNull;
      files += !value.data_name.empty() && dump->TensorPath(value.data_name).ok();
      checksums += !value.md5.empty();
      if (value.kind == ValueKind::kTensor) {
        EXPECT_NE(value.dtype, DType::kUnknown);
      }
    }
  }
  EXPECT_EQ(tensors, expected.tensors);
  EXPECT_EQ(scalars, expected.scalars);
  EXPECT_EQ(nulls, expected.nulls);
  EXPECT_EQ(files, expected.files);
  EXPECT_EQ(checksums, expected.checksums);
  if (expected.entries > 0) {
    EXPECT_EQ(stacks, expected.stacks);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PeerDump,
    testing::Values(Expected{"1.2.1_md5_mix/step0/rank", 79, 202, 46, 10, 0, 202, 73, 50},
                    Expected{"1.2.1_statistics_L0/step0/rank", 20, 49, 8, 5, 0, 0, 14, 8},
                    Expected{"1.2.1_tensor_mix/step0/rank", 20, 52, 2, 1, 52, 0, 18, 12},
                    Expected{"26.2_md5_L1/step0/proc1000", 30, 80, 21, 5, 0, 80, 0, 19},
                    Expected{"26.2_md5_mix/step0/proc1000", 54, 133, 29, 15, 0, 133, 60, 27},
                    Expected{"26.2_statistics_L0/step0/proc1000", 22, 53, 8, 6, 0, 0, 16, 8},
                    Expected{"26.2_structure_mix/step0/proc1000", 0, 0, 0, 0, 0, 0, 60, 27},
                    Expected{"26.2_tensor_mix/step0/proc1000", 15, 38, 1, 1, 38, 0, 14, 7}));

const Value* FindValue(const Record& record, std::string_view key) {
  for (const Value& value : record.values) {
    if (value.key == key) return &value;
  }
  return nullptr;
}

TEST(PeerDumps, ValuesOfOneRecord) {
  const auto dump = OpenDump("26.2_md5_mix/step0/proc1000");
  ASSERT_NE(dump, nullptr);
  Record record;
  ASSERT_TRUE(dump->Read(dump->Find("Module.b.0.Block.forward.0"), &record).ok());
  ASSERT_NE(FindValue(record, "input.scale"), nullptr);
  EXPECT_EQ(FindValue(record, "input.scale")->value_text, "0.5");
  EXPECT_EQ(FindValue(record, "input.flags.b.0")->value_text, "True");
  EXPECT_EQ(FindValue(record, "input.flags.b.2")->value_text, "\xC3\xA9\"x");
  EXPECT_EQ(FindValue(record, "output.0.out")->shape_text, "[4, 8]");
  EXPECT_EQ(FindValue(record, "output.0.extra.1")->kind, ValueKind::kNull);
  ASSERT_TRUE(dump->Read(dump->Find("Tensor.__mul__.2.forward"), &record).ok());
  EXPECT_TRUE(std::isnan(FindValue(record, "input.0")->norm.number));
}

TEST(PeerDumps, LayoutsAreFound) {
  base::Diagnostics diagnostics;
  const auto old_tree = FindDumpUnits(DumpPath("1.2.1_md5_mix"), &diagnostics);
  const auto new_tree = FindDumpUnits(DumpPath("26.2_md5_mix"), &diagnostics);
  ASSERT_TRUE(old_tree.ok());
  ASSERT_TRUE(new_tree.ok());
  EXPECT_EQ(new_tree->kind, LayoutKind::kSteps);
  const auto pairs = PairUnits(*old_tree, *new_tree);
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(pairs->size(), 1u);
  EXPECT_TRUE(diagnostics.entries().empty());
}

}  // namespace
}  // namespace msprobe::dump
