#include "compare/idle_memory.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "graph/node_name.h"

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

namespace {

/// By API name without underscores around it.
bool MovesData(std::string_view api) {
  static constexpr std::string_view kApis[] = {
      "alias",        "as_strided", "broadcast_to",  "cat",        "chunk",
      "clone",        "concat",     "concatenate",   "contiguous", "copy",
      "detach",       "dsplit",     "expand",        "expand_as",  "flatten",
      "foreach_copy", "getitem",    "hsplit",        "hstack",     "index_copy",
      "index_put",    "movedim",    "moveaxis",      "narrow",     "permute",
      "ravel",        "reshape",    "reshape_as",    "select",     "select_scatter",
      "setitem",      "slice",      "slice_scatter", "split",      "split_with_sizes",
      "squeeze",      "stack",      "swapaxes",      "swapdims",   "t",
      "tensor_split", "to",         "transpose",     "type",       "type_as",
      "unbind",       "unflatten",  "unsqueeze",     "view",       "view_as",
      "vsplit",       "vstack"};
  while (api.ends_with('_')) api.remove_suffix(1);
  while (api.starts_with('_')) api.remove_prefix(1);
  return std::ranges::find(kApis, api) != std::end(kApis);
}

}  // namespace

IdleMemory::IdleMemory(const Comparison& comparison, const FactTable& facts, const DataFlow& flow)
    : comparison_(comparison),
      facts_(facts),
      flow_(flow),
      origins_(comparison.nodes.size(), kNoNode),
      takes_only_(comparison.nodes.size(), false) {}

void IdleMemory::Begin(NodeId id, std::string_view reason) {
  origins_[id] = id;
  chains_.try_emplace(id, Chain{id, std::string(reason), {}});
}

bool IdleMemory::OnlyMoves(NodeId id) const {
  const graph::NodeName name = graph::ParseNodeName(comparison_.target->nodes[id].name);
  return name.kind == graph::NodeKind::kApi && name.direction == dump::Direction::kForward &&
         MovesData(name.api);
}

/// `normal_` into a new tensor, `out=`: what comes out is golden's to the last bit.
bool IdleMemory::Overwrites(NodeId id) const {
  const graph::NodeName name = graph::ParseNodeName(comparison_.target->nodes[id].name);
  const bool is_call =
      name.kind == graph::NodeKind::kApi && name.direction == dump::Direction::kForward;
  if (!is_call || !facts_.nodes[id].outputs_equal || flow_.Outputs(id).empty()) return false;
  if (name.api.ends_with('_') && !name.api.ends_with("__")) return true;
  dump::Record record;
  return ReadRecordOf(*comparison_.target, id, &record) &&
         std::ranges::any_of(record.values,
                             [](const auto& value) { return value.key.ends_with(".out"); });
}

bool IdleMemory::Waits(NodeId id, NodeId from, std::string_view reason) {
  const NodeFacts& facts = facts_.nodes[id];
  if (facts.parameters_differ || facts.argument_error > 0) return false;
  const bool moves = OnlyMoves(id);
  if (facts.outputs_differ) {
    const bool gives_back = from != kNoNode && IsUnwritten(from) && MakerOfOutputs(id) != kNoNode;
    if (!moves && !gives_back) return false;
  } else if (from == kNoNode && !moves && !facts.is_collective && !Overwrites(id)) {
    return false;  // else it overwrites what differs, or reads none of it
  }
  takes_only_[id] = !facts.outputs_differ;
  if (from == kNoNode) {
    Begin(id, reason);
  } else {
    chains_.at(origins_[from]).others.push_back(id);
    origins_[id] = origins_[from];
  }
  return true;
}

NodeId IdleMemory::MakerOfOutputs(NodeId module) const {
  if (comparison_.target->nodes[module].kind != graph::NodeKind::kModule) return kNoNode;
  NodeId maker = kNoNode;
  for (const TensorUse& output : flow_.Outputs(module)) {
    if (output.error <= facts_.nodes[module].tolerance) continue;
    maker = flow_.Producer(output);
    if (!Holds(maker)) return kNoNode;
  }
  return maker;
}

NodeId IdleMemory::Hidden(NodeId id, bool* unclear) const {
  if (!OnlyMoves(id)) return MakerOfOutputs(id);
  for (const TensorUse& input : AllInputs(comparison_, id)) {
    *unclear |= std::isnan(input.norm);
    const NodeId producer = flow_.Producer(input);
    if (Holds(producer)) return producer;
  }
  return kNoNode;
}

IdleMemory::Chain IdleMemory::Release(NodeId holder) {
  const auto found = chains_.find(origins_[holder]);
  Chain chain = std::move(found->second);
  chains_.erase(found);
  origins_[chain.origin] = kNoNode;
  for (const NodeId id : chain.others) origins_[id] = kNoNode;
  return chain;
}

bool IdleMemory::IsAll() const {
  for (size_t id = 0; id < origins_.size(); ++id) {
    if (facts_.nodes[id].compared && (origins_[id] == kNoNode || takes_only_[id])) return false;
  }
  return true;
}

std::vector<NodeId> IdleMemory::UnknownOrigins() const {
  std::vector<NodeId> origins;
  for (const auto& [origin, chain] : chains_) {
    if (!chain.reason.empty()) origins.push_back(origin);
  }
  std::ranges::sort(origins);
  return origins;
}

std::vector<Excused> IdleMemory::Left() const {
  std::vector<Excused> left;
  for (NodeId id = 0; id < origins_.size(); ++id) {
    if (origins_[id] == kNoNode || !facts_.nodes[id].differs()) continue;
    if (origins_[id] == id && IsUnwritten(id)) continue;  // comparing has said so
    left.push_back({id, IsUnwritten(id)
                            ? "what differs in it is memory that nobody has written yet"
                            : "no recorded node made what differs in it, and nothing that was "
                              "computed differs by it"});
  }
  return left;
}

}  // namespace msprobe::compare
