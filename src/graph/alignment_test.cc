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

}  // namespace
}  // namespace msprobe::graph
