#include "compare/unpaired_calls.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

bool AllFinite(std::span<const TensorUse> uses) {
  return std::ranges::all_of(uses, [](const TensorUse& use) { return std::isfinite(use.norm); });
}

}  // namespace

void UnpairedCalls::Note(NodeId id) {
  if (!flow_.Unmatched(id)) return;
  Extra& extra = extra_[id];
  if (!AllFinite(flow_.Outputs(id)) && AllFinite(flow_.Inputs(id))) {
    extra = {id, true};
    return;
  }
  for (const TensorUse& input : flow_.Inputs(id)) {
    const NodeId maker = flow_.Producer(input);
    if (maker == kNoNode || !flow_.Unmatched(maker)) continue;
    const Extra& before = extra_[maker];
    if (extra.call == kNoNode || (before.makes_nan && !extra.makes_nan)) extra = before;
  }
  if (extra.makes_nan) return;
  const NodeId forward = flow_.ForwardOf(id);
  if (flow_.Calls(id).only_here) extra.call = id;
  if (forward != kNoNode && flow_.Unmatched(forward) && flow_.Calls(forward).only_here) {
    extra.call = forward;
  }
}

bool UnpairedCalls::IsOtherCall(NodeId id) const {
  if (!flow_.Unmatched(id) || !flow_.Calls(id).same) return false;
  const graph::MatchReason reason = comparison_.match.target_reason[id];
  return reason == graph::MatchReason::kOtherCount || reason == graph::MatchReason::kOtherType ||
         reason == graph::MatchReason::kOtherShape;
}

}  // namespace msprobe::compare
