#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "report/unit_summary.h"

namespace msprobe::report {

/// A node whose values differ.
struct DivergedNode {
  std::string name;
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  std::optional<int64_t> process;  ///< where there is no rank
  compare::Role role = compare::Role::kNone;
  std::string reason;
  double error_in = 0;                        ///< 0 … 1
  double error_out = 0;                       ///< 0 … 1
  std::string culprit;                        ///< of victims: whose; may be empty
  graph::NodeId culprit_id = graph::kNoNode;  ///< of victims, on this rank
  std::optional<int64_t> culprit_rank;        ///< where `culprit` is; none: no ranks, or unknown
  std::string source;              ///< culprits and collectives: "model.py:10  x = self.fc(x)"
  std::vector<std::string> stack;  ///< of the same: all frames, innermost first
  graph::NodeId id = graph::kNoNode;
  uint32_t clock = 0;  ///< communications with other ranks, one waiting for the other, before it
  bool consequence = false;  ///< culprits: see MayBeConsequence()
};

/// A node, or one value of a node, that was not compared.
struct NotCompared {
  enum class Kind : uint8_t { kUnmatched, kUnreadable, kLeftOut };

  Kind kind = Kind::kUnmatched;
  bool golden = false;  ///< the name is that of a golden node
  std::string name;
  std::string reason;
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  std::optional<int64_t> process = {};  ///< where there is no rank
};
std::string_view NotComparedName(NotCompared::Kind kind);  // "unmatched", "unreadable", "left out"

/// What UnitSummary only counts, by name.
struct UnitDetails {
  std::vector<DivergedNode> culprits;  ///< best first
  std::vector<DivergedNode> victims;   ///< all other roles, in execution order
  std::vector<NotCompared> not_compared;
};

UnitDetails CollectDetails(const compare::Comparison& comparison,
                           const compare::DivergenceReport& divergences,
                           const UnitSummary& summary);

enum class Verdict : uint8_t { kSame, kDiverged, kIncomplete };
std::string_view VerdictName(Verdict verdict);

/// No node had a value to compare, though dumps of this kind have some: the records are gone.
bool HasComparedNothing(const UnitSummary& unit);

/// "diverged" if some value differs, else "incomplete" if something could not be compared.
Verdict OverallVerdict(std::span<const UnitSummary> units);

}  // namespace msprobe::report
