#include "graph/alignment.h"

#include <algorithm>
#include <limits>

namespace msprobe::graph {
namespace {

constexpr size_t kMaxCells = size_t{1} << 23;
constexpr size_t kLeastBand = 96;
constexpr size_t kLongestSpan = 6;
constexpr int32_t kUnreachable = std::numeric_limits<int32_t>::min() / 2;

/// Which corners between items are looked at: all, or those where not more than `slack` items of
/// the shorter side have been left out for good.
struct Band {
  size_t slack = 0;  ///< 0: nothing fits
  bool whole = true;

  Band(size_t rows, size_t columns) {
    const size_t difference = std::max(rows, columns) - std::min(rows, columns);
    const size_t widest = kMaxCells / (rows + 1);
    whole = columns + 1 <= widest;
    if (whole) {
      slack = std::max<size_t>({rows, columns, 1});
    } else if (difference + 2 * kLeastBand < widest) {
      slack = (widest - difference) / 2;
    }
  }
};

/// Scores of the corners inside the band.
class Corners {
 public:
  Corners(size_t rows, size_t columns, const Band& band)
      : rows_(rows),
        columns_(columns),
        before_(band.slack + (rows > columns ? rows - columns : 0)),
        width_(std::min(columns, before_ + band.slack + (columns > rows ? columns - rows : 0)) + 1),
        scores_((rows + 1) * width_, kUnreachable) {}

  size_t Begin(size_t row) const {
    return std::min(row > before_ ? row - before_ : 0, columns_ + 1 - width_);
  }
  size_t End(size_t row) const { return Begin(row) + width_; }
  int32_t Get(size_t row, size_t column) const {
    if (row > rows_ || column < Begin(row) || column >= End(row)) return kUnreachable;
    return scores_[row * width_ + column - Begin(row)];
  }
  void Raise(size_t row, size_t column, int32_t score) {
    if (row > rows_ || column < Begin(row) || column >= End(row)) return;
    int32_t& old = scores_[row * width_ + column - Begin(row)];
    old = std::max(old, score);
  }

 private:
  size_t rows_;
  size_t columns_;
  size_t before_;  ///< how far the band reaches to the left of the diagonal
  size_t width_;
  std::vector<int32_t> scores_;
};

Alignment Undecided(size_t targets, size_t goldens) {
  Alignment result;
  result.target_ambiguous.resize(targets, true);
  result.golden_ambiguous.resize(goldens, true);
  return result;
}

class Aligner {
 public:
  Aligner(size_t targets, size_t goldens, const AlignmentRules& rules, const Band& band)
      : targets_(targets),
        goldens_(goldens),
        rules_(rules),
        band_(band),
        from_begin_(targets, goldens, band),
        to_end_(targets, goldens, band) {}

  Alignment Run() {
    FillFromBegin();
    FillToEnd();
    return Extract();
  }

 private:
  struct Tally {
    uint32_t ways = 0;  ///< different spans of heaviest alignments that hold the item
    bool skipped = false;
  };

  /// Calls visit(target_count, golden_count, weight) for what may start at a corner.
  template <class Visit>
  void ForEachSpan(size_t i, size_t j, const Visit& visit) const {
    if (i >= targets_ || j >= goldens_) return;
    if (const int32_t weight = rules_.one_to_one(i, j); weight > 0) visit(1, 1, weight);
    for (size_t count = 2; rules_.many_to_one && count <= kLongestSpan; ++count) {
      if (i + count > targets_) break;
      const int32_t weight = rules_.many_to_one(i, count, j);
      if (weight > 0) visit(count, 1, weight);
    }
    for (size_t count = 2; rules_.one_to_many && count <= kLongestSpan; ++count) {
      if (j + count > goldens_) break;
      const int32_t weight = rules_.one_to_many(i, j, count);
      if (weight > 0) visit(1, count, weight);
    }
  }

  void FillFromBegin() {
    from_begin_.Raise(0, 0, 0);
    for (size_t i = 0; i <= targets_; ++i) {
      for (size_t j = from_begin_.Begin(i); j < from_begin_.End(i); ++j) {
        const int32_t here = from_begin_.Get(i, j);
        if (here == kUnreachable) continue;
        if (i < targets_) from_begin_.Raise(i + 1, j, here);
        if (j < goldens_) from_begin_.Raise(i, j + 1, here);
        ForEachSpan(i, j, [&](size_t di, size_t dj, int32_t weight) {
          from_begin_.Raise(i + di, j + dj, here + weight);
        });
      }
    }
  }

  void FillToEnd() {
    to_end_.Raise(targets_, goldens_, 0);
    for (size_t i = targets_ + 1; i-- > 0;) {
      for (size_t j = to_end_.End(i); j-- > to_end_.Begin(i);) {
        to_end_.Raise(i, j, to_end_.Get(i + 1, j));
        to_end_.Raise(i, j, to_end_.Get(i, j + 1));
        ForEachSpan(i, j, [&](size_t di, size_t dj, int32_t weight) {
          const int32_t rest = to_end_.Get(i + di, j + dj);
          if (rest != kUnreachable) to_end_.Raise(i, j, rest + weight);
        });
      }
    }
  }

  /// True if a heaviest alignment goes from corner to corner with `weight` in between.
  bool IsBest(size_t i, size_t j, size_t di, size_t dj, int32_t weight) const {
    const int32_t before = from_begin_.Get(i, j);
    const int32_t after = to_end_.Get(i + di, j + dj);
    return before != kUnreachable && after != kUnreachable && before + weight + after == best_;
  }

  Alignment Extract() {
    best_ = from_begin_.Get(targets_, goldens_);
    std::vector<Tally> target_tally(targets_);
    std::vector<Tally> golden_tally(goldens_);
    std::vector<AlignedSpan> candidates;
    for (size_t i = 0; i <= targets_ && best_ > 0; ++i) {
      for (size_t j = from_begin_.Begin(i); j < from_begin_.End(i); ++j) {
        if (i < targets_ && IsBest(i, j, 1, 0, 0)) target_tally[i].skipped = true;
        if (j < goldens_ && IsBest(i, j, 0, 1, 0)) golden_tally[j].skipped = true;
        if (from_begin_.Get(i, j) == kUnreachable) continue;
        ForEachSpan(i, j, [&](size_t di, size_t dj, int32_t weight) {
          if (!IsBest(i, j, di, dj, weight)) return;
          for (size_t k = 0; k < di; ++k) ++target_tally[i + k].ways;
          for (size_t k = 0; k < dj; ++k) ++golden_tally[j + k].ways;
          candidates.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(j),
                                static_cast<uint32_t>(di), static_cast<uint32_t>(dj)});
        });
      }
    }
    Alignment result = Keep(candidates, target_tally, golden_tally);
    if (band_.whole || StandsAgainstAll(target_tally, golden_tally)) return result;
    return Undecided(targets_, goldens_);
  }

  /// An alignment that leaves the band leaves out more than `slack` items of the shorter side.
  bool StandsAgainstAll(const std::vector<Tally>& targets,
                        const std::vector<Tally>& goldens) const {
    const auto left_out = [](const std::vector<Tally>& side) {
      return static_cast<size_t>(std::ranges::count(side, 0U, &Tally::ways));
    };
    return (targets_ < goldens_ ? left_out(targets) : left_out(goldens)) <= band_.slack;
  }

  static bool AllCertain(const std::vector<Tally>& tally, size_t first, size_t count) {
    return std::all_of(tally.begin() + static_cast<ptrdiff_t>(first),
                       tally.begin() + static_cast<ptrdiff_t>(first + count),
                       [](const Tally& item) { return item.ways == 1 && !item.skipped; });
  }

  Alignment Keep(const std::vector<AlignedSpan>& candidates, const std::vector<Tally>& targets,
                 const std::vector<Tally>& goldens) const {
    Alignment result;
    result.target_ambiguous.resize(targets_);
    result.golden_ambiguous.resize(goldens_);
    for (const AlignedSpan& span : candidates) {
      if (AllCertain(targets, span.target, span.target_count) &&
          AllCertain(goldens, span.golden, span.golden_count)) {
        result.spans.push_back(span);
        continue;
      }
      for (size_t k = 0; k < span.target_count; ++k) {
        result.target_ambiguous[span.target + k] = true;
      }
      for (size_t k = 0; k < span.golden_count; ++k) {
        result.golden_ambiguous[span.golden + k] = true;
      }
    }
    return result;
  }

  size_t targets_;
  size_t goldens_;
  const AlignmentRules& rules_;
  Band band_;
  Corners from_begin_;
  Corners to_end_;
  int32_t best_ = 0;
};

}  // namespace

Alignment Align(size_t targets, size_t goldens, const AlignmentRules& rules) {
  const Band band(targets, goldens);
  return band.slack > 0 ? Aligner(targets, goldens, rules, band).Run()
                        : Undecided(targets, goldens);
}

}  // namespace msprobe::graph
