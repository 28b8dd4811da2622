#include "base/diagnostics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace msprobe::base {
namespace {

Status Unreadable(size_t number) {
  return CorruptError("tensor " + std::to_string(number), "collect it again", "/data/x.pt");
}

std::vector<std::string> FurtherTensors(const Diagnostics& diagnostics) {
  std::vector<std::string> texts;
  diagnostics.ForEachFurtherTensor([&](std::string_view text) { texts.emplace_back(text); });
  return texts;
}

TEST(Diagnostics, NamesEveryUnreadableTensor) {
  constexpr size_t kMore = 5;
  Diagnostics all;
  Diagnostics rank;
  for (Diagnostics* diagnostics : {&all, &rank}) {
    for (size_t i = 0; i < Diagnostics::kMaxPerKind + kMore; ++i) {
      diagnostics->Add(DiagnosticKind::kUnreadableTensor, Unreadable(i));
    }
  }
  all.Merge(std::move(rank));
  EXPECT_EQ(all.count(DiagnosticKind::kUnreadableTensor), 2 * (Diagnostics::kMaxPerKind + kMore));
  const std::vector<std::string> further = FurtherTensors(all);
  EXPECT_EQ(all.entries().size(), Diagnostics::kMaxPerKind);
  ASSERT_EQ(further.size(), Diagnostics::kMaxPerKind + 2 * kMore);
  EXPECT_EQ(further[0], Unreadable(Diagnostics::kMaxPerKind).ToString());
  EXPECT_EQ(further[kMore], Unreadable(0).ToString());
  EXPECT_EQ(further.back(), Unreadable(Diagnostics::kMaxPerKind + kMore - 1).ToString());
}

TEST(Diagnostics, OthersAreCountedOnly) {
  Diagnostics diagnostics;
  for (size_t i = 0; i < Diagnostics::kMaxPerKind + 1; ++i) {
    diagnostics.Add(DiagnosticKind::kUnknownPrefix, Unreadable(i));
  }
  EXPECT_EQ(diagnostics.count(DiagnosticKind::kUnknownPrefix), Diagnostics::kMaxPerKind + 1);
  EXPECT_EQ(diagnostics.entries().size(), Diagnostics::kMaxPerKind);
  EXPECT_TRUE(FurtherTensors(diagnostics).empty());
  Diagnostics all;
  all.Add(DiagnosticKind::kUnknownPrefix, Unreadable(0));
  all.Add(DiagnosticKind::kNote, Unreadable(1));
  all.Merge(std::move(diagnostics));
  EXPECT_EQ(all.count(DiagnosticKind::kUnknownPrefix), Diagnostics::kMaxPerKind + 2);
  EXPECT_EQ(all.count(DiagnosticKind::kNote), 1u);
  EXPECT_EQ(all.entries().size(), Diagnostics::kMaxPerKind + 1);
}

}  // namespace
}  // namespace msprobe::base
