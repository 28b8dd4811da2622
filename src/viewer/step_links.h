#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "graph/collective_linker.h"

namespace msprobe::viewer {

/// The collective calls of all ranks of one step, collected while the ranks are loaded one by one:
/// which calls on other ranks a call belongs to is known when the last has come. Thread-safe.
class StepLinks {
 public:
  explicit StepLinks(size_t ranks) : ranks_(ranks), missing_(ranks) {}

  /// `golden` may be null. A rank that comes again is known already.
  void Add(size_t number, int64_t rank, const graph::Graph* target, const graph::Graph* golden);
  /// A rank that cannot be read.
  void Skip(size_t number);
  /// Fills the peers of the graphs of a rank; false while ranks are missing.
  bool Link(size_t number, graph::Graph* target, graph::Graph* golden) const;

 private:
  struct Rank {
    bool known = false;
    std::optional<size_t> target;  ///< into the linkers
    std::optional<size_t> golden;
  };
  mutable std::mutex mutex_;
  std::vector<Rank> ranks_;
  size_t missing_;
  graph::CollectiveLinker target_;
  graph::CollectiveLinker golden_;
};

}  // namespace msprobe::viewer
