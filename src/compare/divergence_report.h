#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compare/first_divergence.h"
#include "compare/node_facts.h"
#include "compare/reason_table.h"

namespace msprobe::compare {

/// What finding the first divergence knows of a node.
struct NodeState {
  Role role = Role::kNone;
  /// Where its error comes from: itself, or the next node on the way.
  graph::NodeId cause = graph::kNoNode;
  graph::NodeId origin_below = graph::kNoNode;  ///< the first node inside that is its own cause
  bool amplifier_below = false;
  /// The first inside whose inputs' makers agree, or itself.
  graph::NodeId rewired_below = graph::kNoNode;
  /// Alone: the first on the way that golden calls in another way.
  graph::NodeId other_call = graph::kNoNode;
  bool inputs_traced = true;      ///< alone: it is known who made all it takes
  bool moved_parameters = false;  ///< as in Divergence
  uint32_t reason = 0;            ///< into the table of reasons
};

/// All nodes with a role, in `order`. Each cause in `states` becomes the node that is its own; a
/// circle (equal data at both ends of it) has none.
DivergenceReport ReportOf(const graph::Graph& graph, const std::vector<graph::NodeId>& order,
                          const FactTable& facts, std::shared_ptr<const ReasonTable> reasons,
                          std::vector<NodeState>* states);

}  // namespace msprobe::compare
