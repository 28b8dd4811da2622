#include "graph/match.h"

#include <utility>

#include "graph/pairing.h"

namespace msprobe::graph {
namespace {

/// Same name and same names of all ancestors. Ancestors are equal where the parents' names and the
/// parents' ancestors are.
void PairByName(Pairing* pairing) {
  const Graph& target = pairing->target();
  const Graph& golden = pairing->golden();
  for (const NodeId id : ParentsFirst(target)) {
    if (id == kRootNode) continue;
    const Node& node = target.nodes[id];
    const NodeId partner = golden.Find(node.name);
    if (partner == kNoNode || partner == kRootNode) continue;
    if (pairing->golden_of(node.parent) == golden.nodes[partner].parent) {
      pairing->Link(id, partner);
    } else {
      pairing->Reject(id, partner, MatchReason::kOtherParent);
    }
  }
}

void MatchByName(const MatchOptions& options, Pairing* pairing) {
  PairByName(pairing);
  Match& match = pairing->match();
  match.unchecked =
      options.mode == MatchMode::kStrict ? RecordRule::kSame : RecordRule::kSameUpToDType;
  if (options.leave_records) return;
  std::vector<NodeId> linked;
  for (NodeId id = 1; id < pairing->target().nodes.size(); ++id) {
    if (pairing->golden_of(id) != kNoNode) linked.push_back(id);
  }
  pairing->Check(linked, *match.unchecked, options,
                 [&](NodeId id, MatchReason reason) { BreakPair(id, reason, &match); });
  match.unchecked.reset();
}

}  // namespace

std::string_view MatchReasonText(MatchReason reason) {
  switch (reason) {
    case MatchReason::kNone: return "";
    case MatchReason::kNoSuchName: return "no such name";
    case MatchReason::kOtherParent: return "other parent";
    case MatchReason::kParentUnmatched: return "parent unmatched";
    case MatchReason::kOtherCount: return "other number of inputs or outputs";
    case MatchReason::kOtherType: return "other type";
    case MatchReason::kOtherShape: return "other shape";
    case MatchReason::kOtherDType: return "other dtype";
    case MatchReason::kNoCounterpart: return "no counterpart";
    case MatchReason::kAmbiguous: return "several alike at its place";
    case MatchReason::kWrapper: return "wraps a matched module";
    case MatchReason::kFusedProjection: return "part of a fused projection";
  }
  return "";
}

void BreakPair(NodeId target, MatchReason reason, Match* match) {
  const NodeId golden = match->golden_of_target[target];
  match->target_reason[target] = reason;
  match->golden_reason[golden] = reason;
  if (match->unchecked == RecordRule::kSame) {
    match->golden_of_target[target] = kNoNode;
    match->target_of_golden[golden] = kNoNode;
  } else {
    match->mismatched[target] = reason != MatchReason::kOtherDType;
  }
}

Result<Match> MatchGraphs(const Graph& target, const Graph& golden, const MatchOptions& options) {
  Pairing pairing(target, golden);
  if (options.mode == MatchMode::kAuto) {
    MatchAutomatically(options, &pairing);
  } else if (options.fuzzy || options.use_mapping) {
    MatchByScope(options, &pairing);
  } else {
    MatchByName(options, &pairing);
  }
  if (options.cancel != nullptr && options.cancel->cancelled()) return CancelledError();
  return std::move(pairing.match());
}

}  // namespace msprobe::graph
