#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "msprobe/status.h"

namespace msprobe::report {

inline constexpr size_t kReasonCount = graph::kMatchReasons;
inline constexpr size_t kOverflowLevels = 4;
inline constexpr size_t kListedNodes = 5;

struct SideCounts {
  uint64_t nodes = 0;  ///< without the root, which stands for no record
  uint64_t matched = 0;
  std::array<uint64_t, kReasonCount> unmatched{};  ///< by graph::MatchReason

  uint64_t unmatched_total() const { return nodes - matched; }
};

/// A node worth a line in the closing table.
struct ListedNode {
  std::string name;
  double index = 0;  ///< NaN: none
  compare::NodeStatus status = compare::NodeStatus::kUnmatched;
  compare::Role role = compare::Role::kNone;
  std::string reason;
  std::string source;  ///< "model.py:10  x = self.fc(x)"; empty if no stack was recorded
  graph::NodeId id = graph::kNoNode;
  uint32_t clock = 0;  ///< communications with other ranks, one waiting for the other, before it
  bool consequence = false;  ///< culprits: see MayBeConsequence()
  bool by_status = false;  ///< first differences: an error, though its values are within tolerances
};

/// What the closing table shows of one rank in one step.
struct UnitSummary {
  std::string label;  ///< "step0/rank1", or the directory if there is only one unit
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  std::optional<int64_t> process;        ///< number of a process that has no rank
  std::optional<int64_t> diverged_step;  ///< the first step before this one in which values differ
  std::filesystem::path output;          ///< empty if nothing was written
  Status status;                         ///< why this unit failed; the rest is empty then
  double seconds = 0;

  bool compared = false;
  compare::CompareMode mode = compare::CompareMode::kStatistics;
  SideCounts target;
  SideCounts golden;
  double lowest_confidence = 1;     ///< of a pair; only automatic matching doubts
  uint64_t mismatched = 0;          ///< pairs whose type, shape or count differ (loose)
  std::array<uint64_t, 5> bands{};  ///< compared target nodes by colour band, fine to worst
  uint64_t without_index = 0;       ///< pairs without values to compare
  uint64_t left_out = 0;            ///< nodes some value of which one side did not record
  uint64_t warnings = 0;            ///< nodes
  uint64_t errors = 0;              ///< nodes
  uint64_t unreadable_tensors = 0;
  uint64_t unreadable_records = 0;  ///< of dump.json; one that is cut off counts as one
  std::array<uint64_t, kOverflowLevels> overflow{};  ///< by graph::OverflowLevel

  uint64_t suspect_count = 0;
  std::vector<ListedNode> suspects;  ///< the first in execution order
  uint64_t divergence_count = 0;     ///< readable nodes whose values differ
  uint64_t culprit_count = 0;
  std::vector<ListedNode> culprits;     ///< best first
  std::vector<ListedNode> collectives;  ///< those that brought an error from other ranks, the first
  /// Without culprits: the first node in execution order whose difference no other node explains;
  /// where the tolerances hide all differences, the first with the status error.
  std::optional<ListedNode> first_difference;
};

/// Parameters that differ after a step or a call in which values did: the optimizer has seen other
/// gradients.
bool MayBeConsequence(const compare::Divergence& divergence, const UnitSummary& summary);

/// Its reason; of a consequence with the step that differs already.
std::string ReasonText(const compare::Divergence& divergence, const UnitSummary& summary);

/// The culprits of `divergences`, best first: those that may be consequences come last.
std::vector<const compare::Divergence*> CulpritOrder(const compare::DivergenceReport& divergences,
                                                     const UnitSummary& summary);

/// Adds the counts of `unit` to `total` (its mode, lists and texts stay as they are).
void AddCounts(const UnitSummary& unit, UnitSummary* total);

/// Fills everything from `compared` on.
void SummarizeComparison(const compare::Comparison& comparison,
                         const compare::DivergenceReport& divergences, UnitSummary* summary);
void SummarizeGraph(const graph::Graph& graph, UnitSummary* summary);

/// "File /a/model.py, line 10, in forward, \n x = f(x)" → "/a/model.py:10  x = f(x)".
std::string SourceLine(std::string_view frame);

}  // namespace msprobe::report
