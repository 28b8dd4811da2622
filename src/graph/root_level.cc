#include "graph/root_level.h"

#include <algorithm>
#include <string>

#include "graph/hierarchy.h"

namespace msprobe::graph {
namespace {

using dump::Direction;

/// A new step starts at a forward module that follows any backward, and takes along the APIs that
/// stand between that backward and the module.
void CountMicroSteps(const std::vector<NodeId>& children, std::vector<Node>* nodes) {
  int32_t step = 0;
  bool seen_backward = false;
  for (size_t i = 0; i < children.size(); ++i) {
    Node& node = (*nodes)[children[i]];
    if (seen_backward && node.kind == NodeKind::kModule && node.direction == Direction::kForward) {
      seen_backward = false;
      ++step;
      for (size_t k = i; k-- > 0;) {
        Node& before = (*nodes)[children[k]];
        if (before.kind != NodeKind::kApi || before.is_backward) break;
        before.micro_step = step;
      }
    }
    seen_backward = seen_backward || node.is_backward;
    node.micro_step = step;
  }
}

/// construct.json's own numbers; a node without one goes on with the step before it.
void KeepMicroSteps(const std::vector<NodeId>& children, std::vector<Node>* nodes) {
  int32_t step = 0;
  for (const NodeId id : children) {
    Node& node = (*nodes)[id];
    if (node.micro_step < 0) node.micro_step = step;
    step = node.micro_step;
  }
}

}  // namespace

std::vector<NodeId> ArrangeRootLevel(Graph* graph) {
  std::vector<NodeId> children;
  for (NodeId id = 1; id < graph->nodes.size(); ++id) {
    if (graph->nodes[id].parent == kRootNode) children.push_back(id);
  }
  const bool own_steps = graph->dump->has_micro_steps();
  (own_steps ? KeepMicroSteps : CountMicroSteps)(children, &graph->nodes);

  std::vector<NodeId> arranged;
  uint32_t collections = 0;
  for (size_t begin = 0; begin < children.size();) {
    const Node first = graph->nodes[children[begin]];
    size_t end = begin + 1;
    while (first.kind == NodeKind::kApi && end < children.size() &&
           graph->nodes[children[end]].kind == NodeKind::kApi &&
           graph->nodes[children[end]].micro_step == first.micro_step) {
      ++end;
    }
    if (end - begin == 1) {
      arranged.push_back(children[begin]);
    } else {
      const NodeId collection =
          AddGroup(graph, "Apis_Between_Modules." + std::to_string(collections++),
                   NodeKind::kApiCollection, kRootNode);
      graph->nodes[collection].micro_step = first.micro_step;
      for (size_t i = begin; i < end; ++i) graph->nodes[children[i]].parent = collection;
      arranged.push_back(collection);
    }
    begin = end;
  }
  return arranged;
}

void SpreadMicroSteps(Graph* graph) {
  const bool own_steps = graph->dump->has_micro_steps();
  int32_t last = 0;
  for (const NodeId id : ParentsFirst(*graph)) {
    Node& node = graph->nodes[id];
    if (id == kRootNode) {
      node.micro_step = 0;
    } else if (node.parent != kRootNode && (!own_steps || node.micro_step < 0)) {
      node.micro_step = graph->nodes[node.parent].micro_step;
    }
    last = std::max(last, node.micro_step);
  }
  graph->micro_steps = static_cast<int32_t>(std::min<int64_t>(int64_t{last} + 1, INT32_MAX));
}

}  // namespace msprobe::graph
