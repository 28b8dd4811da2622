#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/overflow_chain.h"
#include "msprobe/status.h"

namespace msprobe::report {

/// What `msprobe overflow` found: the first step with an overflow, or none.
struct OverflowReport {
  struct Failure {
    std::string label;
    Status status;
  };
  bool found = false;
  std::optional<int64_t> step;  ///< where it was found; none if the dump has no steps
  bool has_ranks = false;       ///< the dump says which ranks it holds
  size_t steps_read = 0;        ///< later ones are not read
  size_t steps = 0;
  size_t ranks = 0;  ///< of the step where it was found, else of all steps together
  uint64_t nodes = 0;
  uint64_t unreadable_records = 0;  ///< a dump.json that is cut off counts as one
  uint64_t cut_off = 0;             ///< dump.json files that lost records at their end
  uint64_t masked_records = 0;      ///< hold -Inf that is no overflow: masks
  graph::OverflowChain chain;
  std::vector<graph::OverflowEvent> events;         ///< on the first rank, the first ones
  std::vector<graph::OverflowEvent> later_sources;  ///< on the first rank
  uint64_t event_count = 0;                         ///< on the first rank
  uint64_t later_source_count = 0;
  std::vector<Failure> failures;  ///< ranks that could not be read
  double seconds = 0;

  /// The rank where it began; call only if found.
  const graph::RankOverflow& first() const { return chain.ranks[chain.origins.front()]; }
};

/// Verdict, the first node with its source line, the way through the ranks.
std::string OverflowText(const OverflowReport& report);

/// One JSON object (schema/overflow.schema.json).
std::string OverflowJson(const OverflowReport& report, int exit_code);

/// "0-2, 5"
std::string RankList(const std::vector<int64_t>& ranks);

}  // namespace msprobe::report
