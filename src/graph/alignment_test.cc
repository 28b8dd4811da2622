#include "graph/alignment.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace msprobe::graph {
namespace {

/// Equal letters may stand beside each other.
std::string AlignWords(std::string_view target, std::string_view golden) {
  AlignmentRules rules;
  rules.one_to_one = [&](size_t i, size_t j) { return target[i] == golden[j] ? 10 : 0; };
  std::string text;
  for (const AlignedSpan& span : Align(target.size(), golden.size(), rules).spans) {
    text += std::to_string(span.target) + "=" + std::to_string(span.golden) + " ";
  }
  return text;
}

TEST(Alignment, KeepsTheOrder) {
  EXPECT_EQ(AlignWords("abc", "abc"), "0=0 1=1 2=2 ");
  EXPECT_EQ(AlignWords("abcd", "bd"), "1=0 3=1 ");
  EXPECT_EQ(AlignWords("", "a"), "");
}

TEST(Alignment, DoesNotGuessAmongEquals) {
  EXPECT_EQ(AlignWords("aaa", "aa"), "");
  EXPECT_EQ(AlignWords("aab", "ab"), "2=1 ");  // b is certain, which a is not
  EXPECT_EQ(AlignWords("ab", "ba"), "");       // only one of them can be had
}

TEST(Alignment, TellsWhatIsAmbiguous) {
  AlignmentRules rules;
  rules.one_to_one = [](size_t, size_t) { return 1; };
  const Alignment found = Align(2, 1, rules);
  EXPECT_TRUE(found.spans.empty());
  EXPECT_TRUE(found.target_ambiguous[0] && found.target_ambiguous[1] && found.golden_ambiguous[0]);
}

TEST(Alignment, WeighsSeveralAgainstOne) {
  AlignmentRules rules;
  rules.one_to_one = [](size_t i, size_t j) { return i == 0 && j == 0 ? 10 : 0; };
  rules.many_to_one = [](size_t first, size_t count, size_t golden) {
    return first == 0 && count == 3 && golden == 0 ? 40 : 0;
  };
  const Alignment found = Align(3, 1, rules);
  ASSERT_EQ(found.spans.size(), 1U);
  EXPECT_EQ(found.spans[0].target_count, 3U);
}

TEST(Alignment, LongSequencesAreAlignedInABand) {
  AlignmentRules rules;
  rules.one_to_one = [](size_t i, size_t j) { return i == j ? 1 : 0; };
  EXPECT_EQ(Align(20'000, 20'000, rules).spans.size(), 20'000U);
}

/// A block of calls that comes again and again, each time alike but for its last call.
AlignmentRules Layers(size_t extra_targets, size_t extra_goldens) {
  AlignmentRules rules;
  rules.one_to_one = [=](size_t i, size_t j) {
    if (i < extra_targets || j < extra_goldens) return 0;
    const size_t target = i - extra_targets;
    const size_t golden = j - extra_goldens;
    if (target % 60 != golden % 60) return 0;
    return target % 60 < 59 || target == golden ? 10 : 0;
  };
  return rules;
}

TEST(Alignment, WhatOneSideHasMoreAtItsBeginIsNoBar) {
  for (const bool swapped : {false, true}) {
    const AlignmentRules rules = swapped ? Layers(0, 400) : Layers(400, 0);
    const Alignment found = Align(swapped ? 4800 : 5200, swapped ? 5200 : 4800, rules);
    ASSERT_EQ(found.spans.size(), 4800U);
    for (const AlignedSpan& span : found.spans) {
      ASSERT_EQ(span.target + (swapped ? 400 : 0), span.golden + (swapped ? 0 : 400));
    }
  }
}

TEST(Alignment, WhereTheTruthMayLieOutOfReachNothingIsCertain) {
  // 3000 more at the begin of one side, 3000 more at the end of the other: far off the diagonal.
  AlignmentRules rules;
  rules.one_to_one = [](size_t i, size_t j) {
    return i >= 3000 && (i - 3000) % 60 == j % 60 ? 10 : 0;
  };
  const Alignment far = Align(9000, 9000, rules);
  EXPECT_TRUE(far.spans.empty());
  EXPECT_TRUE(far.target_ambiguous[0] && far.golden_ambiguous[8999]);
  const Alignment longer = Align(20'000, 90'000, rules);
  EXPECT_TRUE(longer.spans.empty()) << "too different in length";
}

}  // namespace
}  // namespace msprobe::graph
