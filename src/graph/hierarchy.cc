#include "graph/hierarchy.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/thread_pool.h"
#include "graph/node_name.h"
#include "graph/recompute.h"

namespace msprobe::graph {
namespace {

using dump::Direction;

constexpr NodeId kUnknownParent = kNoNode - 1;

/// Builds the parents of one graph; see BuildHierarchy.
class Hierarchy {
 public:
  Hierarchy(Graph* graph, size_t threads, base::Diagnostics* diagnostics)
      : graph_(*graph),
        threads_(threads),
        diagnostics_(*diagnostics),
        edges_(graph->dump->construct()) {}

  void Build() {
    AddNodes();
    ResolveParents();
    MoveBackward();
    FindEntries();
    AddLateNodes();
    AttachLostNodes();
    MoveRecomputed(&graph_);
  }

 private:
  Node MakeNode(std::string_view id) {
    const NodeName name = ParseNodeName(id);
    if (!name.known_prefix && unknown_prefixes_.insert(name.prefix).second) {
      diagnostics_.Add(base::DiagnosticKind::kUnknownPrefix,
                       UnsupportedError("unknown prefix '" + std::string(name.prefix) +
                                        "' is taken as that of an API"));
    }
    Node node;
    node.name = id;
    node.kind = name.kind;
    node.direction = name.direction;
    node.is_backward = name.direction == Direction::kBackward;
    return node;
  }

  /// Adds the node unless its name is there; returns the id either way.
  NodeId Add(std::string_view id, bool* is_new) {
    const NodeId at = static_cast<NodeId>(graph_.nodes.size());
    graph_.nodes.emplace_back().name = id;
    const NodeId known = graph_.index.Insert(graph_.nodes, at);
    *is_new = known == kNoNode;
    if (!*is_new) {
      graph_.nodes.pop_back();
      return known;
    }
    graph_.nodes[at] = MakeNode(id);
    return at;
  }

  void AddNodes() {
    graph_.nodes.reserve(edges_.size() + edges_.size() / 8 + 16);
    graph_.index.Reserve(graph_.nodes, edges_.size() + edges_.size() / 8 + 16);
    graph_.nodes.emplace_back().name = kRootName;
    graph_.index.Insert(graph_.nodes, kRootNode);
    edge_of_node_.push_back(0);
    for (uint32_t edge = 0; edge < edges_.size(); ++edge) {
      bool is_new = false;
      const NodeId id = Add(edges_[edge].child, &is_new);
      // A key that stands twice keeps its first place and its last value, as in Python.
      if (is_new) edge_of_node_.push_back(edge);
      edge_of_node_[id] = edge;
    }
  }

  void ResolveParents() {
    std::string_view last_name;
    NodeId last = kRootNode;
    for (NodeId id = 1; id < graph_.nodes.size(); ++id) {
      const dump::ConstructEdge& edge = edges_[edge_of_node_[id]];
      if (edge.parent != last_name) {
        last_name = edge.parent;
        last = edge.parent.empty() ? kRootNode : graph_.Find(edge.parent);
        if (last == kNoNode) last = kUnknownParent;
      }
      graph_.nodes[id].parent = last;
      graph_.nodes[id].micro_step = edge.micro_step;
    }
  }

  /// The backward of the parent of this backward's forward, kNoNode if there is none.
  NodeId MirroredParent(NodeId id) const {
    const std::string_view text = graph_.nodes[id].name;
    const NodeId forward = graph_.Find(ForwardOf(text, ParseNodeName(text)));
    if (forward == kNoNode) return kNoNode;
    const NodeId parent = graph_.nodes[forward].parent;
    if (parent == kRootNode) return kRootNode;
    if (parent >= graph_.nodes.size()) return kNoNode;
    const std::string_view parent_text = graph_.nodes[parent].name;
    return graph_.Find(BackwardOf(parent_text, ParseNodeName(parent_text)));
  }

  /// True if the parent is a module that cannot contain this one: an in-place module whose exit
  /// event never came swallows all that runs after it.
  bool IsSwallowed(const Node& node) const {
    if (node.kind != NodeKind::kModule || node.parent >= graph_.nodes.size()) return false;
    const Node& parent = graph_.nodes[node.parent];
    return parent.is_backward && parent.kind == NodeKind::kModule &&
           !IsPathPrefix(ParseNodeName(parent.name).path, ParseNodeName(node.name).path);
  }

  void MoveBackward() {
    for (NodeId id = 1; id < graph_.nodes.size(); ++id) {
      Node& node = graph_.nodes[id];
      if (!node.is_backward) continue;
      if (node.parent != kRootNode && !IsSwallowed(node)) continue;
      const NodeId parent = MirroredParent(id);
      if (parent != kNoNode && parent != id) node.parent = parent;
    }
  }

  void FindEntries() {
    base::ParallelFor(graph_.nodes.size(), 4096, threads_, [&](size_t begin, size_t end) {
      for (size_t id = std::max<size_t>(1, begin); id < end; ++id) {
        graph_.nodes[id].entry = graph_.dump->Find(graph_.nodes[id].name);
      }
    });
  }

  void AddLateNodes() {
    std::vector<bool> placed(graph_.dump->entry_count(), false);
    for (const Node& node : graph_.nodes) {
      if (node.entry != dump::kNoEntry) placed[node.entry] = true;
    }
    for (dump::EntryId entry = 0; entry < placed.size(); ++entry) {
      if (placed[entry]) continue;
      bool is_new = false;
      const NodeId id = Add(graph_.dump->entry_name(entry), &is_new);
      if (!is_new) continue;
      graph_.nodes[id].entry = entry;
      graph_.nodes[id].micro_step = -1;
      graph_.nodes[id].parent = kUnknownParent;
    }
    AddNodesOfStacks();
    PlaceGradients();
  }

  /// Names that only stack.json knows: something was called, but nothing of it was recorded.
  void AddNodesOfStacks() {
    const size_t count = graph_.dump->stack_name_count();
    std::vector<uint8_t> unknown(count, 0);
    base::ParallelFor(count, 4096, threads_, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        unknown[i] = graph_.Find(graph_.dump->stack_name(i)) == kNoNode ? 1 : 0;
      }
    });
    for (size_t i = 0; i < count; ++i) {
      if (unknown[i] == 0) continue;
      bool is_new = false;
      const NodeId id = Add(graph_.dump->stack_name(i), &is_new);
      if (!is_new) continue;
      graph_.nodes[id].micro_step = -1;
      graph_.nodes[id].parent = kUnknownParent;
    }
  }

  /// "Module.a.b" of a module's id: where it is in the model.
  static std::string_view PlaceOf(std::string_view text) {
    const NodeName name = ParseNodeName(text);
    return text.substr(0, name.prefix.size() + (name.path.empty() ? 0 : 1 + name.path.size()));
  }

  /// parameters_grad goes under the last backward of its module; of one that has none (it is never
  /// called: another module uses its parameters) under that of the module around it.
  void PlaceGradients() {
    std::vector<NodeId> gradients;
    for (NodeId id = 1; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      const bool has_place = node.parent != kUnknownParent && node.parent != kRootNode;
      if (node.direction == Direction::kParametersGrad && !has_place) gradients.push_back(id);
    }
    if (gradients.empty()) return;
    struct Last {
      NodeId id;
      int64_t call;
    };
    std::unordered_map<std::string_view, Last> last_backward;
    for (NodeId id = 1; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      if (!node.is_backward || node.kind != NodeKind::kModule) continue;
      const int64_t call = ParseNodeName(node.name).call;
      Last& last = last_backward.try_emplace(PlaceOf(node.name), Last{id, -1}).first->second;
      if (call > last.call) last = {id, call};
    }
    for (const NodeId id : gradients) {
      Node& node = graph_.nodes[id];
      std::string_view place = PlaceOf(node.name);
      auto it = last_backward.find(place);
      // What construct.json has at the root stays there, if its own module is there.
      if (it != last_backward.end() && node.parent == kRootNode) continue;
      for (size_t dot = place.rfind('.'); it == last_backward.end() && dot != place.npos;
           dot = place.rfind('.')) {
        place = place.substr(0, dot);
        it = last_backward.find(place);
      }
      if (it != last_backward.end()) node.parent = it->second.id;
    }
  }

  void Unplace(NodeId id, const char* reason) {
    if (unplaced_ == kNoNode) {
      unplaced_ = AddGroup(&graph_, kUnplacedName, NodeKind::kModule, kRootNode);
    }
    Node& node = graph_.nodes[id];
    node.parent = unplaced_;
    diagnostics_.Add(base::DiagnosticKind::kUnplacedNode,
                     CorruptError("'" + std::string(node.name) + "' " + reason + ": shown under '" +
                                      std::string(kUnplacedName) + "'",
                                  {}, (graph_.dump->directory() / "construct.json").string()));
  }

  void AttachLostNodes() {
    const size_t size = graph_.nodes.size();
    for (NodeId id = 1; id < size; ++id) {
      if (graph_.nodes[id].parent != kUnknownParent) continue;
      Unplace(id, id < edge_of_node_.size() ? "has a parent that construct.json does not define"
                  : graph_.nodes[id].entry == dump::kNoEntry
                      ? "stands in stack.json only"
                      : "stands in dump.json but not in construct.json");
    }
    BreakCycles(size);
  }

  /// Walks up from each node once; a walk that meets itself has found a cycle.
  void BreakCycles(size_t size) {
    std::vector<NodeId> walk_of_node(graph_.nodes.size(), kNoNode);
    walk_of_node[kRootNode] = kRootNode;
    for (NodeId start = 1; start < size; ++start) {
      NodeId at = start;
      while (at < size && walk_of_node[at] == kNoNode) {
        walk_of_node[at] = start;
        at = graph_.nodes[at].parent;
      }
      if (at >= size || walk_of_node[at] != start) continue;
      NodeId first = at;
      for (NodeId next = graph_.nodes[at].parent; next != at; next = graph_.nodes[next].parent) {
        first = std::min(first, next);
      }
      Unplace(first, "is its own ancestor in construct.json");
    }
  }

  Graph& graph_;
  size_t threads_;
  base::Diagnostics& diagnostics_;
  std::span<const dump::ConstructEdge> edges_;
  std::vector<uint32_t> edge_of_node_;  ///< by node of construct.json; the root's is not used
  std::unordered_set<std::string_view> unknown_prefixes_;
  NodeId unplaced_ = kNoNode;
};

}  // namespace

void BuildHierarchy(Graph* graph, size_t threads, base::Diagnostics* diagnostics) {
  Hierarchy(graph, threads, diagnostics).Build();
}

NodeId AddGroup(Graph* graph, std::string_view name, NodeKind kind, NodeId parent) {
  const NodeId id = static_cast<NodeId>(graph->nodes.size());
  graph->nodes.emplace_back();
  Node& node = graph->nodes.back();
  node.kind = kind;
  node.parent = parent;
  node.micro_step = -1;
  node.name = graph->arena.Copy(name);
  for (uint32_t k = 1; graph->index.Insert(graph->nodes, id) != kNoNode; ++k) {
    node.name = graph->arena.Copy(std::string(name) + "." + std::to_string(k));
  }
  return id;
}

}  // namespace msprobe::graph
