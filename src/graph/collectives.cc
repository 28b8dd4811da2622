#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "graph/collective_call.h"
#include "graph/graph.h"

namespace msprobe::graph {
namespace {

struct Endpoint {
  size_t graph = 0;  ///< position among the ranks
  NodeId node = kNoNode;
  int64_t root = -1;
};

class Matcher {
 public:
  Matcher(std::span<Graph* const> graphs, std::span<const int64_t> rank_numbers)
      : graphs_(graphs), rank_numbers_(rank_numbers) {}

  void Run(base::Diagnostics* diagnostics) {
    for (size_t i = 0; i < graphs_.size(); ++i) Collect(i);
    for (const auto& [key, calls] : collectives_) LinkGroup(key, calls);
    for (const auto& [way, transfers] : transfers_) LinkTransfers(way, transfers);
    for (Graph* graph : graphs_) SortPeers(graph);
    if (unmatched_ == 0) return;
    diagnostics->Add(base::DiagnosticKind::kNote,
                     NotFoundError(std::to_string(unmatched_) +
                                   " collective calls have no counterpart on another rank"));
  }

 private:
  /// Group, members and operation; the k-th call of a key on each rank belongs together.
  struct GroupKey {
    std::string group;
    std::string api;
    CollectivePattern pattern;
    std::vector<int64_t> ranks;
    auto operator<=>(const GroupKey&) const = default;
  };
  struct Transfers {
    std::vector<Endpoint> sends;
    std::vector<Endpoint> receives;
  };

  void Collect(size_t index) {
    Graph* graph = graphs_[index];
    graph->distributed_peers.clear();
    dump::Record record;
    for (NodeId id = 0; id < graph->nodes.size(); ++id) {
      const Node& node = graph->nodes[id];
      const NodeName name = ParseNodeName(node.name);
      if (!IsCollective(name) || node.entry == dump::kNoEntry) continue;
      if (!graph->dump->Read(node.entry, &record).ok())
        continue;  // told where its values are shown
      CollectiveCall call = ReadCollectiveCall(name, record);
      if (call.pattern == CollectivePattern::kPointToPoint) {
        CollectTransfers(index, id, call);
        continue;
      }
      auto& calls = collectives_[{std::move(call.group), std::string(name.api), call.pattern,
                                  std::move(call.ranks)}];
      calls.resize(graphs_.size());
      calls[index].push_back({index, id, call.root});
    }
  }

  void CollectTransfers(size_t index, NodeId id, const CollectiveCall& call) {
    const int64_t rank = rank_numbers_[index];
    for (const Transfer& transfer : call.transfers) {
      // From, to: equal on both ends.
      const auto way =
          transfer.is_send ? std::pair(rank, transfer.peer) : std::pair(transfer.peer, rank);
      Transfers& transfers = transfers_[way];
      (transfer.is_send ? transfers.sends : transfers.receives).push_back({index, id, -1});
    }
  }

  void LinkGroup(const GroupKey& key, const std::vector<std::vector<Endpoint>>& calls) {
    std::vector<size_t> members;  // those that are in this dump
    for (size_t i = 0; i < graphs_.size(); ++i) {
      const bool named = std::binary_search(key.ranks.begin(), key.ranks.end(), rank_numbers_[i]);
      if (key.ranks.empty() || named || !calls[i].empty()) members.push_back(i);
    }
    size_t longest = 0;
    for (const auto& on_rank : calls) longest = std::max(longest, on_rank.size());
    for (size_t k = 0; k < longest; ++k) {
      std::vector<Endpoint> together;
      for (const size_t i : members) {
        if (k < calls[i].size()) together.push_back(calls[i][k]);
      }
      if (together.size() < members.size()) unmatched_ += together.size();
      LinkCall(key.pattern, together);
    }
  }

  void LinkCall(CollectivePattern pattern, const std::vector<Endpoint>& together) {
    const int64_t root = together.front().root;
    const bool rooted = pattern != CollectivePattern::kAllToAll &&
                        std::any_of(together.begin(), together.end(), [&](const Endpoint& e) {
                          return rank_numbers_[e.graph] == root;
                        });
    const auto at_root =
        pattern == CollectivePattern::kOneToAll ? Communication::kSend : Communication::kReceive;
    const auto elsewhere =
        pattern == CollectivePattern::kOneToAll ? Communication::kReceive : Communication::kSend;
    for (const Endpoint& from : together) {
      for (const Endpoint& to : together) {
        if (from.graph == to.graph) continue;
        if (!rooted) {
          AddPeer(from, to, Communication::kSendReceive);
        } else if (rank_numbers_[from.graph] == root) {
          AddPeer(from, to, at_root);
        } else if (rank_numbers_[to.graph] == root) {
          AddPeer(from, to, elsewhere);
        }
      }
    }
  }

  bool IsDumped(int64_t rank) const {
    return std::find(rank_numbers_.begin(), rank_numbers_.end(), rank) != rank_numbers_.end();
  }

  void LinkTransfers(const std::pair<int64_t, int64_t>& way, const Transfers& transfers) {
    const size_t pairs = std::min(transfers.sends.size(), transfers.receives.size());
    for (size_t k = 0; k < pairs; ++k) {
      AddPeer(transfers.sends[k], transfers.receives[k], Communication::kSend);
      AddPeer(transfers.receives[k], transfers.sends[k], Communication::kReceive);
    }
    // A rank that was not dumped cannot answer.
    const bool answerable = way.first < 0 || (IsDumped(way.first) && IsDumped(way.second));
    if (answerable) {
      unmatched_ += transfers.sends.size() + transfers.receives.size() - 2 * pairs;
    }
  }

  void AddPeer(const Endpoint& from, const Endpoint& to, Communication communication) {
    graphs_[from.graph]->distributed_peers.push_back(
        {from.node, static_cast<int32_t>(rank_numbers_[to.graph]),
         std::string(graphs_[to.graph]->nodes[to.node].name), communication});
  }

  /// By node and rank; a batch that sends to a call and receives from it has one peer for both.
  static void SortPeers(Graph* graph) {
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

  std::span<Graph* const> graphs_;
  std::span<const int64_t> rank_numbers_;
  std::map<GroupKey, std::vector<std::vector<Endpoint>>> collectives_;
  std::map<std::pair<int64_t, int64_t>, Transfers> transfers_;
  uint64_t unmatched_ = 0;
};

}  // namespace

std::string_view CommunicationName(Communication communication) {
  switch (communication) {
    case Communication::kSend: return "send";
    case Communication::kReceive: return "receive";
    case Communication::kSendReceive: break;
  }
  return "send_receive";
}

std::span<const DistributedPeer> Graph::peers(NodeId id) const {
  const auto [begin, end] =
      std::ranges::equal_range(distributed_peers, id, {}, &DistributedPeer::node);
  return {begin, end};
}

void MatchCollectives(std::span<Graph* const> ranks, std::span<const int64_t> rank_numbers,
                      base::Diagnostics* diagnostics) {
  if (ranks.size() < 2) return;
  Matcher(ranks, rank_numbers).Run(diagnostics);
}

}  // namespace msprobe::graph
