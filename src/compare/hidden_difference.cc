#include "compare/hidden_difference.h"

#include "compare/first_divergence.h"
#include "compare/verdict.h"
#include "graph/node_name.h"

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

NodeId HiddenDifference::MakerOfInputs(NodeId id) const {
  constexpr int kDepth = 8, kFloatDepth = 4;  // nodes on the way back
  if (comparison_.mode != CompareMode::kStatistics) return kNoNode;
  const NodeId maker = MakerOfWholeNumbers(id, kDepth);
  const double error = facts_.nodes[id].error_out;
  if (maker != kNoNode || error > kGrowth * largest_) return maker;
  return MakerOf(id, error, kFloatDepth);
}

NodeId HiddenDifference::MakerOfWholeNumbers(NodeId id, int depth) const {
  if (depth == 0) return kNoNode;
  for (const TensorUse& input : WholeNumberInputs(comparison_, id)) {
    const NodeId maker = flow_.Producer(input);
    if (maker == kNoNode || maker == id) continue;
    if (states_[maker].cause != kNoNode) return maker;
    if (DecidesByItsInputs(*comparison_.target, maker) &&
        InputError(*comparison_.target, facts_, maker) > 0) {
      return maker;
    }
    const NodeId before = MakerOfWholeNumbers(maker, depth - 1);
    if (before != kNoNode) return before;
  }
  return kNoNode;
}

/// Who takes enough of an error for one of `error`, and yet seems to make what golden's makes.
NodeId HiddenDifference::MakerOf(NodeId id, double error, int depth) const {
  if (depth == 0) return kNoNode;
  for (const TensorUse& input : AllInputs(comparison_, id)) {
    const NodeId maker = flow_.Producer(input);
    if (maker == kNoNode || maker == id) continue;
    const NodeFacts& facts = facts_.nodes[maker];
    if (Hides(maker) && error <= kGrowth * facts.error_in) return maker;
    if (facts.differs()) continue;
    if (const NodeId before = MakerOf(maker, error, depth - 1); before != kNoNode) return before;
  }
  return kNoNode;
}

bool DecidesByItsInputs(const graph::Graph& graph, NodeId id) {
  const graph::NodeName name = graph::ParseNodeName(graph.nodes[id].name);
  if (name.kind != graph::NodeKind::kApi) return false;
  return IsDiscontinuous(name.api, name.direction == dump::Direction::kBackward);
}

}  // namespace msprobe::compare
