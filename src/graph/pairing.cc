#include "graph/pairing.h"

#include "base/thread_pool.h"

namespace msprobe::graph {

Pairing::Pairing(const Graph& target, const Graph& golden) : target_(target), golden_(golden) {
  match_.golden_of_target.assign(target.nodes.size(), kNoNode);
  match_.target_of_golden.assign(golden.nodes.size(), kNoNode);
  match_.target_reason.assign(target.nodes.size(), MatchReason::kNoSuchName);
  match_.golden_reason.assign(golden.nodes.size(), MatchReason::kNoSuchName);
  match_.mismatched.assign(target.nodes.size(), false);
  match_.by_mapping.assign(target.nodes.size(), false);
  Link(kRootNode, kRootNode);
}

NodeId Pairing::PartnersParent(NodeId target) const {
  NodeId parent = kNoNode;
  for (const NodeId child : target_.children(target)) {
    const NodeId partner = golden_of(child);
    if (partner == kNoNode) continue;
    if (parent != kNoNode && golden_.nodes[partner].parent != parent) return kNoNode;
    parent = golden_.nodes[partner].parent;
  }
  return parent;
}

void Pairing::Link(NodeId target, NodeId golden) {
  match_.golden_of_target[target] = golden;
  match_.target_of_golden[golden] = target;
  match_.target_reason[target] = MatchReason::kNone;
  match_.golden_reason[golden] = MatchReason::kNone;
}

void Pairing::Reject(NodeId target, NodeId golden, MatchReason reason) {
  match_.golden_of_target[target] = kNoNode;
  match_.target_of_golden[golden] = kNoNode;
  match_.target_reason[target] = reason;
  match_.golden_reason[golden] = reason;
}

std::vector<MatchReason> Pairing::Reasons(std::span<const NodeId> targets, RecordRule rule,
                                          const MatchOptions& options) const {
  std::vector<MatchReason> reasons(targets.size(), MatchReason::kNone);
  base::ParallelFor(targets.size(), 256, options.threads, [&](size_t begin, size_t end) {
    if (options.cancel != nullptr && options.cancel->cancelled()) return;
    dump::Record a;
    dump::Record b;
    a.parse_numbers = b.parse_numbers = false;
    const dump::Record nothing;
    const auto read = [&nothing](const Graph& graph, NodeId id,
                                 dump::Record* record) -> const dump::Record* {
      const dump::EntryId entry = graph.nodes[id].entry;
      if (entry == dump::kNoEntry) return &nothing;
      return graph.dump->Read(entry, record).ok() ? record : nullptr;
    };
    for (size_t i = begin; i < end; ++i) {
      const dump::Record* target = read(target_, targets[i], &a);
      const dump::Record* golden = read(golden_, golden_of(targets[i]), &b);
      if (target != nullptr && golden != nullptr) reasons[i] = CheckRecords(*target, *golden, rule);
    }
  });
  return reasons;
}

}  // namespace msprobe::graph
