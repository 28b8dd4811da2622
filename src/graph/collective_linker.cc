#include "graph/collective_linker.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "graph/graph.h"
#include "graph/node_name.h"

namespace msprobe::graph {
namespace {

/// By node and rank; a batch that sends to a call and receives from it has one peer for both.
void SortPeers(Graph* graph) {
  auto& peers = graph->distributed_peers;
  const auto key = [](const DistributedPeer& peer) {
    return std::tie(peer.node, peer.peer_rank, peer.peer_name);
  };
  std::stable_sort(peers.begin(), peers.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (size_t i = 0; i < peers.size(); ++i) {
    if (kept > 0 && key(peers[kept - 1]) == key(peers[i])) {
      if (peers[kept - 1].communication != peers[i].communication) {
        peers[kept - 1].communication = Communication::kSendReceive;
      }
    } else {
      if (kept != i) peers[kept] = std::move(peers[i]);
      ++kept;
    }
  }
  peers.resize(kept);
}

}  // namespace

size_t CollectiveLinker::Add(const Graph& graph, int64_t rank_number) {
  const size_t index = rank_numbers_.size();
  rank_numbers_.push_back(rank_number);
  dump::Record record;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    const NodeName name = ParseNodeName(node.name);
    if (!IsCollective(name) || node.entry == dump::kNoEntry) continue;
    if (!graph.dump->Read(node.entry, &record).ok()) continue;  // told where its values are shown
    CollectiveCall call = ReadCollectiveCall(name, record);
    Endpoint endpoint{index, id, call.root, std::string(node.name)};
    if (call.pattern == CollectivePattern::kPointToPoint) {
      AddTransfers(endpoint, call);
      continue;
    }
    GroupKey key{std::move(call.group), std::string(name.api), call.pattern, std::move(call.ranks)};
    collectives_[std::move(key)][index].push_back(std::move(endpoint));
  }
  return index;
}

void CollectiveLinker::AddTransfers(const Endpoint& from, const CollectiveCall& call) {
  const int64_t rank = rank_numbers_[from.rank];
  for (const Transfer& transfer : call.transfers) {
    // From, to: equal on both ends.
    const auto way =
        transfer.is_send ? std::pair(rank, transfer.peer) : std::pair(transfer.peer, rank);
    Transfers& transfers = transfers_[way];
    (transfer.is_send ? transfers.sends : transfers.receives).push_back(from);
  }
}

/// Ranks of this dump that should take part.
size_t CollectiveLinker::MemberCount(const GroupKey& key, const Calls& calls) const {
  size_t members = 0;
  for (size_t i = 0; i < rank_numbers_.size(); ++i) {
    const bool named = std::binary_search(key.ranks.begin(), key.ranks.end(), rank_numbers_[i]);
    members += key.ranks.empty() || named || calls.contains(i);
  }
  return members;
}

std::vector<const CollectiveLinker::Endpoint*> CollectiveLinker::CallsTogether(const Calls& calls,
                                                                               size_t k) const {
  std::vector<const Endpoint*> together;
  for (const auto& [rank, endpoints] : calls) {
    if (k < endpoints.size()) together.push_back(&endpoints[k]);
  }
  return together;
}

void CollectiveLinker::Finish(base::Diagnostics* diagnostics) const {
  uint64_t unmatched = 0;
  for (const auto& [key, calls] : collectives_) {
    const size_t members = MemberCount(key, calls);
    for (size_t k = 0;; ++k) {
      const size_t together = CallsTogether(calls, k).size();
      if (together == 0) break;
      if (together < members) unmatched += together;
    }
  }
  for (const auto& [way, transfers] : transfers_) {
    // A rank that was not dumped cannot answer.
    if (way.first >= 0 && !(IsDumped(way.first) && IsDumped(way.second))) continue;
    const size_t pairs = std::min(transfers.sends.size(), transfers.receives.size());
    unmatched += transfers.sends.size() + transfers.receives.size() - 2 * pairs;
  }
  if (unmatched == 0) return;
  diagnostics->Add(base::DiagnosticKind::kNote,
                   NotFoundError(std::to_string(unmatched) +
                                 " collective calls have no counterpart on another rank"));
}

void CollectiveLinker::Link(size_t index, Graph* graph) const {
  graph->distributed_peers.clear();
  for (const auto& [key, calls] : collectives_) {
    const auto own = calls.find(index);
    if (own == calls.end()) continue;
    for (size_t k = 0; k < own->second.size(); ++k) {
      LinkCall(key.pattern, CallsTogether(calls, k), index, graph);
    }
  }
  for (const auto& [way, transfers] : transfers_) {
    const size_t pairs = std::min(transfers.sends.size(), transfers.receives.size());
    for (size_t k = 0; k < pairs; ++k) {
      const Endpoint& send = transfers.sends[k];
      const Endpoint& receive = transfers.receives[k];
      if (send.rank == index) AddPeer(send, receive, Communication::kSend, graph);
      if (receive.rank == index) AddPeer(receive, send, Communication::kReceive, graph);
    }
  }
  SortPeers(graph);
}

std::vector<LinkedCall> CollectiveLinker::LinkedCalls() const {
  std::vector<LinkedCall> linked;
  for (const auto& [key, calls] : collectives_) {
    std::vector<int64_t> not_dumped;
    for (const int64_t rank : key.ranks) {
      if (!IsDumped(rank)) not_dumped.push_back(rank);
    }
    for (size_t k = 0;; ++k) {
      std::vector<const Endpoint*> together = CallsTogether(calls, k);
      if (together.empty()) break;
      std::ranges::sort(together, {}, [&](const Endpoint* e) { return rank_numbers_[e->rank]; });
      LinkedCall& call = linked.emplace_back();
      call.name = together.front()->name;
      call.pattern = key.pattern;
      call.not_dumped = not_dumped;
      call.all_dumped = !key.ranks.empty() && together.size() == key.ranks.size();
      for (const Endpoint* member : together) {
        call.members.push_back({member->rank, member->node});
        if (rank_numbers_[member->rank] == together.front()->root) call.root = member->rank;
      }
    }
  }
  for (const auto& [way, transfers] : transfers_) {
    const size_t pairs = std::min(transfers.sends.size(), transfers.receives.size());
    for (size_t k = 0; k < pairs; ++k) {
      const Endpoint& send = transfers.sends[k];
      const Endpoint& receive = transfers.receives[k];
      linked.push_back({.name = receive.name,
                        .pattern = CollectivePattern::kPointToPoint,
                        .members = {{send.rank, send.node}, {receive.rank, receive.node}},
                        .not_dumped = {},
                        .all_dumped = true});
    }
  }
  return linked;
}

void CollectiveLinker::LinkCall(CollectivePattern pattern,
                                const std::vector<const Endpoint*>& together, size_t index,
                                Graph* graph) const {
  const int64_t root = together.front()->root;
  const auto is_root = [&](const Endpoint& e) { return rank_numbers_[e.rank] == root; };
  const bool rooted =
      pattern != CollectivePattern::kAllToAll &&
      std::any_of(together.begin(), together.end(), [&](const Endpoint* e) { return is_root(*e); });
  const auto at_root =
      pattern == CollectivePattern::kOneToAll ? Communication::kSend : Communication::kReceive;
  const auto elsewhere =
      pattern == CollectivePattern::kOneToAll ? Communication::kReceive : Communication::kSend;
  const auto own = std::find_if(together.begin(), together.end(),
                                [&](const Endpoint* e) { return e->rank == index; });
  if (own == together.end()) return;
  const Endpoint& from = **own;
  for (const Endpoint* to : together) {
    if (to->rank == index) continue;
    if (!rooted) {
      AddPeer(from, *to, Communication::kSendReceive, graph);
    } else if (is_root(from)) {
      AddPeer(from, *to, at_root, graph);
    } else if (is_root(*to)) {
      AddPeer(from, *to, elsewhere, graph);
    }
  }
}

void CollectiveLinker::AddPeer(const Endpoint& from, const Endpoint& to,
                               Communication communication, Graph* graph) const {
  graph->distributed_peers.push_back(
      {from.node, static_cast<int32_t>(rank_numbers_[to.rank]), to.name, communication});
}

bool CollectiveLinker::IsDumped(int64_t rank) const {
  return std::find(rank_numbers_.begin(), rank_numbers_.end(), rank) != rank_numbers_.end();
}

}  // namespace msprobe::graph
