#include "graph/graph.h"

#include <algorithm>

namespace msprobe::graph {

std::string_view CommunicationName(Communication communication) {
  switch (communication) {
    case Communication::kSend: return "send";
    case Communication::kReceive: return "receive";
    case Communication::kSendReceive: break;
  }
  return "send_receive";
}

void NodeIndex::Reserve(const std::vector<Node>& nodes, size_t capacity) {
  slots_ = dump::NameIndex(capacity);
  capacity_ = capacity;
  const auto name_of = [&](uint32_t id) { return nodes[id].name; };
  for (NodeId id = 0; id < size_; ++id) slots_.Insert(nodes[id].name, id, name_of);
}

NodeId NodeIndex::Insert(const std::vector<Node>& nodes, NodeId id) {
  if (size_ == capacity_) Reserve(nodes, 2 * capacity_ + 16);
  const NodeId known =
      slots_.Insert(nodes[id].name, id, [&](uint32_t other) { return nodes[other].name; });
  if (known == kNoNode) ++size_;
  return known;
}

NodeId NodeIndex::Find(const std::vector<Node>& nodes, std::string_view name) const {
  return slots_.Find(name, [&](uint32_t id) { return nodes[id].name; });
}

std::span<const DistributedPeer> Graph::peers(NodeId id) const {
  const auto [begin, end] =
      std::ranges::equal_range(distributed_peers, id, {}, &DistributedPeer::node);
  return {begin, end};
}

std::vector<NodeId> ParentsFirst(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.nodes.size());
  order.push_back(kRootNode);
  for (size_t i = 0; i < order.size(); ++i) {
    for (const NodeId child : graph.children(order[i])) order.push_back(child);
  }
  return order;
}

std::vector<NodeId> EntryOrder(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.nodes.size());
  std::vector<NodeId> open = {kRootNode};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    order.push_back(id);
    const std::span<const NodeId> children = graph.children(id);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return order;
}

std::vector<NodeId> CompletionOrder(const Graph& graph) {
  // Depth first with the parent before its children and the children backwards is the wanted order
  // backwards; a stack of ids instead of recursion, because chains may be 100,000 deep.
  std::vector<NodeId> order(graph.nodes.size());
  std::vector<NodeId> open = {kRootNode};
  size_t at = order.size();
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    order[--at] = id;
    for (const NodeId child : graph.children(id)) open.push_back(child);
  }
  return order;
}

}  // namespace msprobe::graph
