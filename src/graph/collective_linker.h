#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "graph/collective_call.h"
#include "graph/graph.h"

namespace msprobe::graph {

/// Calls of several ranks that are one communication.
struct LinkedCall {
  struct Member {
    size_t rank = 0;  ///< number of Add()
    NodeId node = kNoNode;
  };
  static constexpr size_t kNoRoot = SIZE_MAX;
  std::string name;  ///< of the first member's node
  CollectivePattern pattern = CollectivePattern::kAllToAll;
  size_t root = kNoRoot;            ///< of one-to-all and all-to-one, if it was dumped
  std::vector<Member> members;      ///< by rank number; point to point: sender, receiver
  std::vector<int64_t> not_dumped;  ///< ranks that take part as well
  bool all_dumped = false;          ///< it is recorded who takes part, and all of them are members
};

/// Links the same collective (and send/recv pairs) on all ranks of one step. Keeps of each rank
/// only its collective calls, so that graphs may come and go one after the other: Add() all ranks,
/// Finish(), then Link() any of them, built anew or not.
class CollectiveLinker {
 public:
  /// Returns the number to Link() this rank by.
  size_t Add(const Graph& graph, int64_t rank_number);
  /// Notes how many calls have no counterpart.
  void Finish(base::Diagnostics* diagnostics) const;
  /// Fills the distributed_peers of `graph`, which is that of rank `index`. Thread-safe.
  void Link(size_t index, Graph* graph) const;
  /// All communication between the ranks, in no particular order.
  std::vector<LinkedCall> LinkedCalls() const;

 private:
  struct Endpoint {
    size_t rank = 0;  ///< number of Add()
    NodeId node = kNoNode;
    int64_t root = -1;
    std::string name;
  };
  /// Group, members and operation; the k-th call of a key on each rank belongs together.
  struct GroupKey {
    std::string group;
    std::string api;
    CollectivePattern pattern;
    std::vector<int64_t> ranks;
    auto operator<=>(const GroupKey&) const = default;
  };
  using Calls = std::map<size_t, std::vector<Endpoint>>;  ///< by rank
  struct Transfers {
    std::vector<Endpoint> sends;
    std::vector<Endpoint> receives;
  };

  void AddTransfers(const Endpoint& from, const CollectiveCall& call);
  std::vector<const Endpoint*> CallsTogether(const Calls& calls, size_t k) const;
  size_t MemberCount(const GroupKey& key, const Calls& calls) const;
  void LinkCall(CollectivePattern pattern, const std::vector<const Endpoint*>& together,
                size_t index, Graph* graph) const;
  void AddPeer(const Endpoint& from, const Endpoint& to, Communication communication,
               Graph* graph) const;
  bool IsDumped(int64_t rank) const;

  std::vector<int64_t> rank_numbers_;
  std::map<GroupKey, Calls> collectives_;
  std::map<std::pair<int64_t, int64_t>, Transfers> transfers_;  ///< by (from, to)
};

}  // namespace msprobe::graph
