#include "graph/overflow_chain.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "graph/call_clocks.h"

namespace msprobe::graph {
namespace {

constexpr size_t kNone = SIZE_MAX;

class Chainer {
 public:
  Chainer(std::span<const OverflowScan> scans, std::span<const int64_t> rank_numbers,
          const std::vector<LinkedCall>& calls)
      : scans_(scans), rank_numbers_(rank_numbers), calls_(calls), entries_(scans.size()) {}

  OverflowChain Run() {
    CollectEntries();
    clocks_ = ClockCalls(entries_, calls_.size());
    chain_.contradictory = clocks_.contradictory;
    TimeFirstEvents();
    for (size_t rank = 0; rank < scans_.size(); ++rank) {
      if (!scans_[rank].events.empty()) FindOrigin(rank);
    }
    CutCycles();
    CountReached();
    SortRanks();
    return std::move(chain_);
  }

 private:
  /// A rank with an overflow while its place in the chain is looked for.
  struct Found {
    RankOverflow told;
    size_t rank = 0;
    size_t parent = kNone;  ///< rank it has it from
    size_t call = kNone;
  };

  static const OverflowScan::Communication* Flags(const OverflowScan& scan, NodeId node) {
    const auto it =
        std::ranges::lower_bound(scan.communication, node, {}, &OverflowScan::Communication::node);
    return it != scan.communication.end() && it->node == node ? &*it : nullptr;
  }

  void CollectEntries() {
    for (size_t call = 0; call < calls_.size(); ++call) {
      for (const LinkedCall::Member& member : calls_[call].members) {
        const auto* flags = Flags(scans_[member.rank], member.node);
        if (flags != nullptr) entries_[member.rank].push_back({flags->position, call});
      }
    }
    for (std::vector<CallEntry>& entries : entries_) {
      std::ranges::sort(entries, [](const CallEntry& a, const CallEntry& b) {
        return std::tie(a.position, a.call) < std::tie(b.position, b.call);
      });
    }
  }

  /// Members whose values not being finite reach `rank` by this call.
  size_t Sender(const LinkedCall& call, size_t rank) const {
    size_t best = kNone;
    for (size_t i = 0; i < call.members.size(); ++i) {
      const LinkedCall::Member& member = call.members[i];
      if (member.rank == rank) continue;
      if (call.pattern == CollectivePattern::kOneToAll && member.rank != call.root) continue;
      if (call.pattern == CollectivePattern::kPointToPoint && i != 0) continue;
      const auto* flags = Flags(scans_[member.rank], member.node);
      if (flags == nullptr || !flags->sends_overflow) continue;
      if (best == kNone || IsEarlier(member.rank, best)) best = member.rank;
    }
    const bool takes = call.pattern != CollectivePattern::kAllToOne || call.root == rank ||
                       call.root == LinkedCall::kNoRoot;
    return takes ? best : kNone;
  }

  using Time = std::tuple<uint32_t, uint32_t, int64_t>;  ///< clock, position, rank number

  void TimeFirstEvents() {
    for (size_t rank = 0; rank < scans_.size(); ++rank) {
      const std::vector<OverflowEvent>& events = scans_[rank].events;
      times_.push_back(events.empty() ? Time(UINT32_MAX, UINT32_MAX, rank_numbers_[rank])
                                      : Time(ClockAt(entries_[rank], clocks_, events[0].position),
                                             events[0].position, rank_numbers_[rank]));
    }
  }
  bool IsEarlier(size_t a, size_t b) const { return times_[a] < times_[b]; }

  void FindOrigin(size_t rank) {
    Found found;
    found.rank = rank;
    found.told.rank = rank_numbers_[rank];
    found.told.first = scans_[rank].events[0];
    const OverflowEvent& first = found.told.first;
    found.told.clock = std::get<0>(times_[rank]);
    found.told.origin = first.is_source()   ? OverflowOrigin::kComputed
                        : first.in_weights  ? OverflowOrigin::kWeights
                        : first.is_backward ? OverflowOrigin::kBackward
                                            : OverflowOrigin::kInput;
    // What a collective gives out of finite values, or what nothing on this rank made, was sent.
    const bool was_sent = first.is_collective ? first.is_source() : !first.is_source();
    if (was_sent) FindSender(&found);
    found_.push_back(std::move(found));
  }

  void FindSender(Found* found) const {
    const OverflowEvent& first = found->told.first;
    const std::vector<CallEntry>& entries = entries_[found->rank];
    for (size_t i = entries.size(); i-- > 0;) {
      if (entries[i].position > first.position) continue;
      const bool own = entries[i].position == first.position;
      if (first.is_collective && !own) break;
      const LinkedCall& call = calls_[entries[i].call];
      const size_t sender = Sender(call, found->rank);
      if (sender == kNone) continue;
      found->parent = sender;
      found->call = entries[i].call;
      found->told.origin = OverflowOrigin::kReceived;
      found->told.from_rank = rank_numbers_[sender];
      found->told.through = NameOn(call, found->rank);
      return;
    }
    if (!first.is_collective) return;
    found->told.origin = OverflowOrigin::kReceivedUnknown;
    found->told.through = first.name;
    for (const CallEntry& entry : entries) {
      if (entry.position == first.position) found->told.not_dumped = calls_[entry.call].not_dumped;
    }
  }

  std::string NameOn(const LinkedCall& call, size_t rank) const {
    for (const LinkedCall::Member& member : call.members) {
      if (member.rank != rank) continue;
      const OverflowScan& scan = scans_[rank];
      if (!scan.events.empty() && scan.events[0].node == member.node) return scan.events[0].name;
    }
    return call.name;
  }

  Found* FindRank(size_t rank) {
    const auto it = std::ranges::lower_bound(found_, rank, {}, &Found::rank);
    return it != found_.end() && it->rank == rank ? &*it : nullptr;
  }

  /// Of ranks that each claim to have it from the other, the earliest is where it began.
  void CutCycles() {
    for (Found& start : found_) {
      std::vector<size_t> way;
      for (Found* at = &start; at != nullptr && at->parent != kNone; at = FindRank(at->parent)) {
        const auto seen = std::ranges::find(way, at->rank);
        if (seen == way.end()) {
          way.push_back(at->rank);
          continue;
        }
        chain_.contradictory = true;
        const size_t first =
            *std::min_element(seen, way.end(), [&](size_t a, size_t b) { return IsEarlier(a, b); });
        Found& origin = *FindRank(first);
        origin.parent = kNone;
        origin.told.origin = OverflowOrigin::kReceivedUnknown;
        origin.told.from_rank = -1;
        break;
      }
    }
  }

  void CountReached() {
    for (const Found& found : found_) {
      size_t steps = 0;
      for (size_t parent = found.parent; parent != kNone && steps++ < found_.size();) {
        Found* at = FindRank(parent);
        if (at == nullptr) break;
        ++at->told.reached;
        parent = at->parent;
      }
    }
  }

  size_t OriginOf(size_t rank) {
    for (size_t steps = 0; steps <= found_.size(); ++steps) {
      const Found* at = FindRank(rank);
      if (at == nullptr || at->parent == kNone) return rank;
      rank = at->parent;
    }
    return rank;
  }

  void SortRanks() {
    std::vector<const Found*> order;
    order.reserve(found_.size());
    for (const Found& found : found_) order.push_back(&found);
    std::ranges::sort(order, [](const Found* a, const Found* b) {
      const auto key = [](const Found* f) {
        return std::tuple(f->told.clock, f->parent != kNone, f->told.first.position, f->told.rank);
      };
      return key(a) < key(b);
    });
    for (const Found* found : order) {
      if (found->parent == kNone) chain_.origins.push_back(chain_.ranks.size());
      chain_.ranks.push_back(found->told);
    }
    if (chain_.origins.empty()) return;
    std::map<std::tuple<uint32_t, size_t, int64_t>, OverflowHop> hops;
    const auto first = std::ranges::find_if(found_, [&](const Found& found) {
      return found.told.rank == chain_.ranks[chain_.origins[0]].rank;
    });
    for (const Found* found : order) {
      if (found->parent == kNone || OriginOf(found->rank) != first->rank) continue;
      const uint32_t clock = clocks_.clocks[found->call];
      OverflowHop& hop = hops[{clock, found->call, found->told.from_rank}];
      hop.through = calls_[found->call].name;
      hop.from = found->told.from_rank;
      hop.clock = clock;
      hop.to.push_back(found->told.rank);
    }
    for (auto& [key, hop] : hops) {
      std::ranges::sort(hop.to);
      chain_.hops.push_back(std::move(hop));
    }
  }

  std::span<const OverflowScan> scans_;
  std::span<const int64_t> rank_numbers_;
  const std::vector<LinkedCall>& calls_;
  std::vector<std::vector<CallEntry>> entries_;  ///< by rank, in order
  CallClocks clocks_;
  std::vector<Time> times_;   ///< by rank, of its first event
  std::vector<Found> found_;  ///< by rank
  OverflowChain chain_;
};

}  // namespace

std::string_view OverflowOriginText(OverflowOrigin origin) {
  switch (origin) {
    case OverflowOrigin::kComputed: return "computed";
    case OverflowOrigin::kInput: return "input data";
    case OverflowOrigin::kBackward: return "unrecorded backward";
    case OverflowOrigin::kWeights: return "weights";
    case OverflowOrigin::kReceived: return "received";
    case OverflowOrigin::kReceivedUnknown: return "received from an unknown rank";
  }
  return "";
}

OverflowChain ChainOverflow(std::span<const OverflowScan> scans,
                            std::span<const int64_t> rank_numbers,
                            const std::vector<LinkedCall>& calls) {
  return Chainer(scans, rank_numbers, calls).Run();
}

}  // namespace msprobe::graph
