#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/reason_table.h"
#include "compare/tolerance.h"

namespace msprobe::compare {

/// Outputs that are this much further off than the inputs did not get there by rounding alone.
inline constexpr double kGrowth = 10;

enum class Role : uint8_t { kNone, kCulprit, kVictim, kAmplifier, kCollective, kUndecidable };
std::string_view RoleName(Role role);

struct Divergence {
  graph::NodeId node = graph::kNoNode;  ///< of the target
  Role role = Role::kNone;
  graph::NodeId culprit = graph::kNoNode;  ///< victims: whose victim
  double error_in = 0;                     ///< index-like error of the inputs, 0 … 1
  double error_out = 0;                    ///< of the outputs
  std::string_view reason;                 ///< one sentence
  bool by_parameters = false;              ///< culprits: because its parameters differ
  /// They agree in an earlier call, and another culprit comes before this one: most likely a
  /// consequence of that.
  bool moved_parameters = false;
};

/// A communication with other ranks: what goes into it here.
struct CollectiveInput {
  graph::NodeId node = graph::kNoNode;
  bool compared = false;
  double error = 0;
};

/// A node whose differing values mean nothing.
struct Excused {
  graph::NodeId node = graph::kNoNode;
  std::string_view reason;
};

struct DivergenceReport {
  std::vector<Divergence> divergences;       ///< in execution order, every node whose values differ
  std::vector<graph::NodeId> culprits;       ///< best first
  std::vector<Excused> excused;              ///< by node; they have no role
  std::vector<CollectiveInput> collectives;  ///< in execution order, also those that agree
  std::shared_ptr<const ReasonTable> reasons;  ///< holds those of the divergences
};

/// Separates the nodes that caused a divergence (inputs agree, outputs do not) from those that
/// only carry it on. Matched culprits get the status error in `comparison`: the numbers of a node
/// alone (all signs flipped, equal norms) may look like a pass. `profile` says what is rounding;
/// null: the defaults by dtype.
DivergenceReport FindDivergences(Comparison* comparison, size_t threads = 1,
                                 const ToleranceProfile* profile = nullptr);

/// The last part of it, for a report that comes from another comparison of the same target; what is
/// excused there becomes a pass.
void ApplyReport(const DivergenceReport& report, Comparison* comparison);

}  // namespace msprobe::compare
