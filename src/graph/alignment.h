#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace msprobe::graph {

/// What may stand beside each other in two sequences. Weights are positive; 0: never.
struct AlignmentRules {
  std::function<int32_t(size_t target, size_t golden)> one_to_one;
  /// `count` ≥ 2 neighbours on one side against one item on the other; may be empty.
  std::function<int32_t(size_t first_target, size_t count, size_t golden)> many_to_one;
  std::function<int32_t(size_t target, size_t first_golden, size_t count)> one_to_many;
};

/// Neighbours on the target side and neighbours on the golden side; one of the counts is 1.
struct AlignedSpan {
  uint32_t target = 0;
  uint32_t golden = 0;
  uint32_t target_count = 1;
  uint32_t golden_count = 1;
};

struct Alignment {
  std::vector<AlignedSpan> spans;  ///< in order, without crossings
  /// By item: it stands in some of the heaviest alignments, but not with the same partner in all.
  std::vector<bool> target_ambiguous;
  std::vector<bool> golden_ambiguous;
};

/// The heaviest alignment without crossings, of which only that is kept which all equally heavy
/// ones share: where a choice would be a guess there is none. Time and memory are bounded: of
/// thousands of items only alignments are looked at that leave few of the shorter side out, and
/// where such a one could not be found all items are ambiguous.
Alignment Align(size_t targets, size_t goldens, const AlignmentRules& rules);

}  // namespace msprobe::graph
