#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "graph/collective_linker.h"

namespace msprobe::compare {

/// What one rank says about where its divergence comes from. Its graph is not needed any more.
struct RankTrace {
  struct Communication {
    graph::NodeId node = graph::kNoNode;
    uint32_t position = 0;                  ///< in the order in which nodes are left
    bool compared = false;                  ///< it is known what goes in
    bool takes_error = false;               ///< what goes in differs
    double error_in = 0;                    ///< by how much, also where that is rounding
    graph::NodeId origin = graph::kNoNode;  ///< where that comes from, on this rank
  };
  /// A node that diverged, and no other node of this rank is the cause.
  struct Origin {
    graph::NodeId node = graph::kNoNode;
    uint32_t position = 0;
    Role role = Role::kNone;
    double error_in = 0;
    double error_out = 0;
    std::string name;
  };
  std::vector<Communication> communications;  ///< in order
  std::vector<Origin> origins;                ///< in order
};

RankTrace TraceRank(const Comparison& comparison, const DivergenceReport& report);

inline constexpr size_t kNoRank = SIZE_MAX;

/// An origin, as all ranks together see it.
struct RankOrigin {
  graph::NodeId node = graph::kNoNode;
  Role role = Role::kNone;     ///< may be another than the rank alone can tell
  uint32_t clock = 0;          ///< communications, one waiting for the other, before it
  size_t from_rank = kNoRank;  ///< which rank brought the error here; by number of the trace
  std::string culprit;         ///< where it began there; may be empty
  std::string reason;          ///< empty: what the rank alone says holds
};

/// Puts the ranks of one step together: whoever sends comes before who receives. What a collective
/// gives out wrong comes from a rank that put something wrong in; if all put in what golden's put
/// in, the collective itself is the culprit. `calls` number the ranks as `traces` do. By rank, in
/// the order of RankTrace::origins.
std::vector<std::vector<RankOrigin>> ChainRanks(std::span<const RankTrace> traces,
                                                std::span<const int64_t> rank_numbers,
                                                const std::vector<graph::LinkedCall>& calls);

}  // namespace msprobe::compare
