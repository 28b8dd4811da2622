#pragma once

#include <algorithm>
#include <vector>

#include "compare/comparison.h"
#include "compare/data_flow.h"
#include "compare/divergence_report.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Data with golden's statistics may be something else: a matrix that is transposed, one that a
/// mask fills with -inf, indices in another order.
class HiddenDifference {
 public:
  /// All are kept by reference.
  HiddenDifference(const Comparison& comparison, const FactTable& facts, const DataFlow& flow,
                   const std::vector<NodeState>& states)
      : comparison_(comparison), facts_(facts), flow_(flow), states_(states) {}

  /// After `id` got its role, in completion order.
  void Note(graph::NodeId id) {
    if (Hides(id)) largest_ = std::max(largest_, facts_.nodes[id].error_in);
  }

  /// Of a node whose inputs seem to agree: who diverged, or decided by inputs that are not exactly
  /// golden's, and made what it takes; kNoNode where nobody is known, and where statistics are not
  /// all there is to compare.
  graph::NodeId MakerOfInputs(graph::NodeId id) const;

 private:
  bool Hides(graph::NodeId id) const {
    const NodeFacts& facts = facts_.nodes[id];
    return states_[id].cause != graph::kNoNode && facts.inputs_differ && !facts.outputs_differ;
  }
  graph::NodeId MakerOfWholeNumbers(graph::NodeId id, int depth) const;
  graph::NodeId MakerOf(graph::NodeId id, double error, int depth) const;

  const Comparison& comparison_;
  const FactTable& facts_;
  const DataFlow& flow_;
  const std::vector<NodeState>& states_;
  double largest_ = 0;  ///< error that any node hides
};

/// Of an API call: a little more or less in its inputs may make its outputs quite other ones.
bool DecidesByItsInputs(const graph::Graph& graph, graph::NodeId id);

}  // namespace msprobe::compare
