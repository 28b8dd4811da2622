#include "graph/recompute.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "graph/node_name.h"
#include "graph/stack_frames.h"

namespace msprobe::graph {
namespace {

class Mover {
 public:
  explicit Mover(Graph* graph) : graph_(*graph) {}

  void Run() {
    NodeId last_backward = kNoNode;  // the last backward module at the root
    for (NodeId id = 1; id < graph_.nodes.size(); ++id) {
      Node& node = graph_.nodes[id];
      if (node.parent != kRootNode || node.kind != NodeKind::kModule) continue;
      if (node.is_backward) last_backward = id;
      if (last_backward == kNoNode || node.direction != dump::Direction::kForward) continue;
      if (!IsRecomputed(node)) continue;
      const NodeId target = BackwardFor(id, last_backward);
      if (target == kNoNode || Top(target) == id) continue;
      node.parent = target;
      up_[id] = target;
    }
  }

 private:
  bool IsRecomputed(const Node& node) {
    const dump::StackId stack = graph_.dump->FindStack(node.name);
    if (stack == dump::kNoStack) return false;
    const auto [it, is_new] = recomputed_.try_emplace(stack, false);
    if (is_new) it->second = ShowsRecomputation(graph_.dump->StackFrames(stack));
    return it->second;
  }

  void Prepare() {
    if (!up_.empty()) return;
    up_.reserve(graph_.nodes.size());
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      up_.push_back(node.parent);
      if (!node.is_backward || node.kind != NodeKind::kModule) continue;
      backwards_[node.name.substr(0, ParseNodeName(node.name).direction_begin)].push_back(id);
    }
  }

  /// The backward of the same call; else the one of the same module that began last before, or
  /// first after the recomputation; else the backward at the root that was running.
  NodeId BackwardFor(NodeId forward, NodeId last_backward) {
    Prepare();
    const std::string_view text = graph_.nodes[forward].name;
    const NodeName name = ParseNodeName(text);
    const NodeId same_call = graph_.Find(BackwardOf(text, name));
    if (same_call != kNoNode) return same_call;
    const auto it = backwards_.find(text.substr(0, name.direction_begin));
    if (it != backwards_.end()) {
      const std::vector<NodeId>& ids = it->second;
      const auto after = std::upper_bound(ids.begin(), ids.end(), forward);
      return after == ids.begin() ? *after : *(after - 1);
    }
    const NodeName outer = ParseNodeName(graph_.nodes[last_backward].name);
    return IsPathPrefix(outer.path, name.path) ? last_backward : kNoNode;
  }

  /// The ancestor just below the root; shortens the way for the next time.
  NodeId Top(NodeId id) {
    while (up_[id] != kRootNode) {
      const NodeId parent = up_[id];
      if (up_[parent] != kRootNode) up_[id] = up_[parent];
      id = parent;
    }
    return id;
  }

  Graph& graph_;
  std::unordered_map<dump::StackId, bool> recomputed_;
  std::unordered_map<std::string_view, std::vector<NodeId>> backwards_;
  std::vector<NodeId> up_;  ///< an ancestor of each node, at first its parent
};

}  // namespace

void MoveRecomputed(Graph* graph) { Mover(graph).Run(); }

}  // namespace msprobe::graph
