#include "visfile/content_index.h"

namespace msprobe::visfile {

using graph::NodeId;

namespace {

void IndexGraph(const graph::Graph& graph, SideIndex* side) {
  const auto count = static_cast<NodeId>(graph.nodes.size());
  side->Reserve(count);
  side->sibling_ranks.resize(count);
  for (NodeId id = 0; id < count; ++id) {
    const graph::Node& node = graph.nodes[id];
    side->Add(node.name);
    side->parents[id] = node.parent;
    side->kinds[id] = node.kind;
    side->overflow[id] = node.overflow;
    side->micro_steps[id] = node.micro_step;
    side->places[id] = id;
    uint32_t rank = 0;
    for (const NodeId child : graph.children(id)) side->sibling_ranks[child] = rank++;
  }
}

void IndexComparison(const compare::Comparison& comparison, SideIndex* target, SideIndex* golden) {
  for (NodeId id = 0; id < target->size(); ++id) {
    const compare::NodeResult& result = comparison.nodes[id];
    target->partners[id] = comparison.match.golden_of_target[id];
    target->index[id] = static_cast<float>(result.index);
    target->status[id] = result.status;
  }
  for (NodeId id = 0; id < golden->size(); ++id) {
    golden->partners[id] = comparison.match.target_of_golden[id];
  }
}

}  // namespace

UnitIndex IndexContent(const VisContent& content) {
  UnitIndex unit;
  unit.step = content.step;
  unit.rank = content.rank;
  if (content.comparison == nullptr) {
    unit.micro_steps = content.single->micro_steps;
    IndexGraph(*content.single, &unit.target);
    unit.target.Complete(1);
    return unit;
  }
  const compare::Comparison& comparison = *content.comparison;
  unit.micro_steps = comparison.target->micro_steps;
  IndexGraph(*comparison.target, &unit.target);
  IndexGraph(*comparison.golden, &unit.golden);
  IndexComparison(comparison, &unit.target, &unit.golden);
  if (content.divergences != nullptr) {
    for (const compare::Divergence& divergence : content.divergences->divergences) {
      if (divergence.node < unit.target.size()) {
        unit.target.roles[divergence.node] = divergence.role;
      }
    }
  }
  unit.Finish(comparison.mode);
  return unit;
}

}  // namespace msprobe::visfile
