#include "report/rank_origins.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>

namespace msprobe::report {

namespace {

using compare::RankOrigin;
using compare::Role;
using graph::NodeId;

class Teller {
 public:
  Teller(std::span<const RankOrigin> origins, std::span<const int64_t> rank_numbers)
      : rank_numbers_(rank_numbers) {
    for (const RankOrigin& origin : origins) {
      places_.emplace(origin.node, origins_.size());
      origins_.push_back(&origin);
    }
  }

  void Tell(UnitDetails* details) const {
    for (DivergedNode& node : details->culprits) SetClock(&node);
    for (DivergedNode& node : details->victims) {
      const RankOrigin* own = Find(node.id);
      if (own != nullptr) {
        node.role = own->role;
        node.clock = own->clock;
        if (!own->reason.empty()) node.reason = own->reason;
      }
      const RankOrigin* cause = own != nullptr ? own : Find(node.culprit_id);
      if (cause == nullptr || cause->from_rank == compare::kNoRank) continue;
      node.culprit = cause->culprit;
      node.culprit_rank = rank_numbers_[cause->from_rank];
    }
    Promote(&details->victims, &details->culprits);
  }

  void Tell(UnitSummary* summary) const {
    for (ListedNode& node : summary->culprits) SetClock(&node);
    for (ListedNode& node : summary->collectives) TellListed(&node);
    if (summary->first_difference) TellListed(&*summary->first_difference);
    summary->culprit_count +=
        static_cast<uint64_t>(std::ranges::count_if(origins_, [this](const RankOrigin* origin) {
          return origin->role == Role::kCulprit && !origin->reason.empty();
        }));
    Promote(&summary->collectives, &summary->culprits);
    if (summary->culprits.size() > kListedNodes) summary->culprits.resize(kListedNodes);
    if (!summary->culprits.empty()) summary->first_difference.reset();
  }

 private:
  const RankOrigin* Find(NodeId id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? nullptr : origins_[found->second];
  }

  template <class Node>
  void SetClock(Node* node) const {
    if (const RankOrigin* own = Find(node->id)) node->clock = own->clock;
  }

  void TellListed(ListedNode* node) const {
    const RankOrigin* own = Find(node->id);
    if (own == nullptr) return;
    node->role = own->role;
    node->clock = own->clock;
    if (own->reason.empty()) return;
    node->reason = own->reason;
    if (!own->culprit.empty()) node->reason += ", from " + own->culprit;
  }

  /// What turned out to be a culprit goes to the others, to its place in the order.
  template <class Node>
  void Promote(std::vector<Node>* from, std::vector<Node>* to) const {
    const auto others = std::stable_partition(
        from->begin(), from->end(), [](const Node& node) { return node.role != Role::kCulprit; });
    if (others == from->end()) return;
    to->insert(to->end(), std::make_move_iterator(others), std::make_move_iterator(from->end()));
    from->erase(others, from->end());
    std::ranges::stable_sort(*to, {}, [this](const Node& node) {
      const auto place = places_.find(node.id);
      return std::pair(node.consequence, place == places_.end() ? SIZE_MAX : place->second);
    });
  }

  std::span<const int64_t> rank_numbers_;
  std::vector<const RankOrigin*> origins_;
  std::unordered_map<NodeId, size_t> places_;
};

}  // namespace

void TellOrigins(std::span<const RankOrigin> origins, std::span<const int64_t> rank_numbers,
                 UnitSummary* summary, UnitDetails* details) {
  const Teller teller(origins, rank_numbers);
  teller.Tell(summary);
  teller.Tell(details);
}

}  // namespace msprobe::report
