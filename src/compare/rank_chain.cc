#include "compare/rank_chain.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "graph/call_clocks.h"
#include "graph/collective_call.h"

namespace msprobe::compare {

namespace {

using graph::CallEntry;
using graph::CollectivePattern;
using graph::kNoNode;
using graph::LinkedCall;
using graph::NodeId;
using Communication = RankTrace::Communication;

class Chainer {
 public:
  Chainer(std::span<const RankTrace> traces, std::span<const int64_t> rank_numbers,
          const std::vector<LinkedCall>& calls)
      : traces_(traces), rank_numbers_(rank_numbers), calls_(calls), ranks_(traces.size()) {}

  std::vector<std::vector<RankOrigin>> Run() {
    IndexTraces();
    CollectEntries();
    clocks_ = graph::ClockCalls(entries_, calls_.size());
    for (size_t rank = 0; rank < traces_.size(); ++rank) NoteOrigins(rank);
    for (size_t rank = 0; rank < traces_.size(); ++rank) {
      for (size_t i = 0; i < ranks_[rank].size(); ++i) Judge(rank, i);
    }
    for (size_t rank = 0; rank < traces_.size(); ++rank) {
      for (size_t i = 0; i < ranks_[rank].size(); ++i) FollowBack(rank, i);
    }
    return std::move(ranks_);
  }

 private:
  struct Index {
    std::unordered_map<NodeId, size_t> communications;
    std::unordered_map<NodeId, size_t> origins;
  };

  void IndexTraces() {
    for (const RankTrace& trace : traces_) {
      Index& index = indices_.emplace_back();
      for (const Communication& one : trace.communications) {
        index.communications.emplace(one.node, index.communications.size());
      }
      for (const RankTrace::Origin& one : trace.origins) {
        index.origins.emplace(one.node, index.origins.size());
      }
    }
  }

  const Communication* Find(const LinkedCall::Member& member) const {
    const auto found = indices_[member.rank].communications.find(member.node);
    if (found == indices_[member.rank].communications.end()) return nullptr;
    return &traces_[member.rank].communications[found->second];
  }

  void CollectEntries() {
    entries_.resize(traces_.size());
    // By call: the one rank that puts something wrong in, or that several do.
    constexpr size_t kSeveral = kNoRank - 1;
    std::vector<size_t> wrong(calls_.size(), kNoRank);
    for (size_t call = 0; call < calls_.size(); ++call) {
      for (const LinkedCall::Member& member : calls_[call].members) {
        const Communication* own = Find(member);
        if (own == nullptr) continue;
        entries_[member.rank].push_back({own->position, call});
        if (!own->takes_error) continue;
        const bool first = wrong[call] == kNoRank || wrong[call] == member.rank;
        wrong[call] = first ? member.rank : kSeveral;
      }
    }
    for (size_t rank = 0; rank < entries_.size(); ++rank) {
      std::vector<CallEntry>& entries = entries_[rank];
      std::ranges::sort(entries, [](const CallEntry& a, const CallEntry& b) {
        return std::tie(a.position, a.call) < std::tie(b.position, b.call);
      });
      std::vector<CallEntry>& brought = brought_.emplace_back();
      std::ranges::copy_if(entries, std::back_inserter(brought), [&](const CallEntry& entry) {
        return wrong[entry.call] != kNoRank && wrong[entry.call] != rank;
      });
    }
  }

  void NoteOrigins(size_t rank) {
    senders_.emplace_back(traces_[rank].origins.size());
    for (const RankTrace::Origin& origin : traces_[rank].origins) {
      // A collective comes before what it brings.
      const bool own = origin.role == Role::kCollective && origin.position > 0;
      const uint32_t position = own ? origin.position - 1 : origin.position;
      ranks_[rank].push_back({.node = origin.node,
                              .role = origin.role,
                              .clock = ClockAt(entries_[rank], clocks_, position),
                              .culprit = {},
                              .reason = {}});
    }
  }

  /// Whether what member `i` puts into the call reaches `rank`.
  static bool Reaches(const LinkedCall& call, size_t i, size_t rank) {
    switch (call.pattern) {
      case CollectivePattern::kAllToAll: return true;
      case CollectivePattern::kOneToAll:
        return call.root == LinkedCall::kNoRoot || call.members[i].rank == call.root;
      case CollectivePattern::kAllToOne:
        return call.root == LinkedCall::kNoRoot || call.root == rank;
      case CollectivePattern::kPointToPoint: return i == 0;
    }
    return false;
  }

  using Time = std::tuple<uint32_t, int64_t>;  ///< clock, rank number

  Time TimeOf(size_t rank, NodeId origin) const {
    const auto found = indices_[rank].origins.find(origin);
    const uint32_t clock =
        found == indices_[rank].origins.end() ? UINT32_MAX : ranks_[rank][found->second].clock;
    return {clock, rank_numbers_[rank]};
  }

  /// The rank that put something wrong into the call, the earliest of them; none: null.
  const LinkedCall::Member* Sender(const LinkedCall& call, size_t rank) const {
    const LinkedCall::Member* best = nullptr;
    Time best_time;
    for (size_t i = 0; i < call.members.size(); ++i) {
      const LinkedCall::Member& member = call.members[i];
      if (member.rank == rank || !Reaches(call, i, rank)) continue;
      const Communication* there = Find(member);
      if (there == nullptr || !there->takes_error) continue;
      const Time time = TimeOf(member.rank, there->origin);
      if (best != nullptr && best_time <= time) continue;
      best = &member;
      best_time = time;
    }
    return best;
  }

  /// What every member puts in was compared, and is too near golden's to explain `error_out`.
  bool AllAgree(const LinkedCall& call, double error_out) const {
    return std::ranges::all_of(call.members, [&](const LinkedCall::Member& member) {
      const Communication* there = Find(member);
      return there != nullptr && there->compared && !there->takes_error &&
             kGrowth * there->error_in < error_out;
    });
  }

  void Judge(size_t rank, size_t i) {
    const RankTrace::Origin& seen = traces_[rank].origins[i];
    if (seen.role == Role::kCollective) return JudgeCollective(rank, i);
    if (seen.role == Role::kUndecidable && seen.error_in > 0) JudgeLateArrival(rank, i);
  }

  void JudgeCollective(size_t rank, size_t i) {
    RankOrigin& origin = ranks_[rank][i];
    bool all_agree = true;
    bool all_dumped = true;
    bool any = false;
    for (const CallEntry& entry : std::ranges::equal_range(
             entries_[rank], traces_[rank].origins[i].position, {}, &CallEntry::position)) {
      any = true;
      all_dumped &= calls_[entry.call].all_dumped;
      if (const LinkedCall::Member* sender = Sender(calls_[entry.call], rank)) {
        return Receive(*sender, "its inputs agree on this rank; ", rank, i);
      }
      all_agree &= AllAgree(calls_[entry.call], traces_[rank].origins[i].error_out);
    }
    if (!any || !all_agree) return;
    if (!all_dumped) {
      origin.reason =
          "what the dumped ranks put in agrees, what comes out does not; if others took part, they "
          "may have put in something else";
      return;
    }
    origin.role = Role::kCulprit;
    origin.reason = "what all its ranks put in agrees, what comes out does not";
  }

  /// The record of an asynchronous call may be older than its result: what differs though nothing
  /// on this rank made it came with the last call that somebody put something wrong into.
  void JudgeLateArrival(size_t rank, size_t i) {
    const std::vector<CallEntry>& brought = brought_[rank];
    auto entry = std::ranges::lower_bound(brought, traces_[rank].origins[i].position, {},
                                          &CallEntry::position);
    while (entry != brought.begin()) {
      const LinkedCall::Member* sender = Sender(calls_[(--entry)->call], rank);
      if (sender == nullptr) continue;  // what it brought, it brought to others
      ranks_[rank][i].role = Role::kVictim;
      return Receive(*sender, "nothing on this rank made what differs; ", rank, i);
    }
  }

  void Receive(const LinkedCall::Member& sender, const std::string& lead, size_t rank, size_t i) {
    senders_[rank][i] = {sender.rank, Find(sender)->origin};
    ranks_[rank][i].reason =
        lead + "rank " + std::to_string(rank_numbers_[sender.rank]) + " puts in what differs";
  }

  /// Over the ranks that only hand on, to where it began.
  void FollowBack(size_t rank, size_t i) {
    RankOrigin& origin = ranks_[rank][i];
    Received from = senders_[rank][i];
    for (size_t steps = 0; steps < traces_.size() && from.rank != kNoRank; ++steps) {
      origin.from_rank = from.rank;
      origin.culprit.clear();
      const auto found = indices_[from.rank].origins.find(from.origin);
      if (found == indices_[from.rank].origins.end()) return;
      origin.culprit = traces_[from.rank].origins[found->second].name;
      from = senders_[from.rank][found->second];
    }
  }

  std::span<const RankTrace> traces_;
  std::span<const int64_t> rank_numbers_;
  const std::vector<LinkedCall>& calls_;
  std::vector<Index> indices_;                   ///< by rank
  std::vector<std::vector<CallEntry>> entries_;  ///< by rank
  std::vector<std::vector<CallEntry>> brought_;  ///< those that others put something wrong into
  graph::CallClocks clocks_;
  struct Received {
    size_t rank = kNoRank;
    NodeId origin = kNoNode;  ///< where it comes from on that rank
  };
  std::vector<std::vector<RankOrigin>> ranks_;
  std::vector<std::vector<Received>> senders_;  ///< beside ranks_
};

}  // namespace

RankTrace TraceRank(const Comparison& comparison, const DivergenceReport& report) {
  RankTrace trace;
  const std::vector<NodeId> order = graph::CompletionOrder(*comparison.target);
  std::vector<uint32_t> positions(order.size());
  for (uint32_t position = 0; position < order.size(); ++position) {
    positions[order[position]] = position;
  }
  std::unordered_map<NodeId, size_t> numbers;
  for (const CollectiveInput& input : report.collectives) {
    numbers.emplace(input.node, trace.communications.size());
    trace.communications.push_back(
        {input.node, positions[input.node], input.compared, false, input.error, kNoNode});
  }
  for (const Divergence& divergence : report.divergences) {
    const NodeId id = divergence.node;
    if (divergence.culprit == kNoNode) {
      trace.origins.push_back({id, positions[id], divergence.role, divergence.error_in,
                               divergence.error_out,
                               std::string(comparison.target->nodes[id].name)});
    }
    const auto found = numbers.find(id);
    if (found == numbers.end()) continue;
    Communication& one = trace.communications[found->second];
    one.takes_error = divergence.error_in > 0 && divergence.role != Role::kCulprit &&
                      divergence.role != Role::kCollective;
    one.origin = divergence.culprit == kNoNode ? id : divergence.culprit;
  }
  return trace;
}

std::vector<std::vector<RankOrigin>> ChainRanks(std::span<const RankTrace> traces,
                                                std::span<const int64_t> rank_numbers,
                                                const std::vector<LinkedCall>& calls) {
  return Chainer(traces, rank_numbers, calls).Run();
}

}  // namespace msprobe::compare
