#include <algorithm>
#include <cmath>

#include "graph/alignment.h"
#include "graph/auto_match.h"

namespace msprobe::graph {
namespace {

constexpr int32_t kCertain = 1000;

/// The APIs that belong to a matched module: its own and, with `deep`, those of modules without a
/// partner. Matched modules and fused groups stand in between as marks.
std::vector<NodeId> ApisOf(const MatchSide& side, NodeId module, bool deep) {
  std::vector<NodeId> items;
  std::vector<NodeId> open(side.graph.children(module).rbegin(),
                           side.graph.children(module).rend());
  uint32_t last_group = kNoGroup;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const Node& node = side.graph.nodes[id];
    const bool is_module = node.kind == NodeKind::kModule;
    if (node.kind != NodeKind::kApiCollection && node.direction != dump::Direction::kForward) {
      continue;
    }
    if (node.kind == NodeKind::kApi || (is_module && side.partner[id] != kNoNode)) {
      items.push_back(id);
      continue;
    }
    if (side.group[id] != kNoGroup) {
      if (side.group[id] != last_group) items.push_back(id);
      last_group = side.group[id];
      continue;
    }
    if (is_module && !deep && side.reason[id] != MatchReason::kWrapper) continue;
    const auto children = side.graph.children(id);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return items;
}

class ApiMatcher {
 public:
  ApiMatcher(NodeId target_module, NodeId golden_module, AutoMatchState* state) : state_(*state) {
    const bool deep = state_.IsAnchored(target_module, golden_module);
    targets_ = ApisOf(target_, target_module, deep);
    goldens_ = ApisOf(golden_, golden_module, deep);
  }

  void Run() {
    if (targets_.empty() || goldens_.empty()) return;
    if (AreSameCalls()) {
      for (size_t i = 0; i < targets_.size(); ++i) Link(i, i);
      return;
    }
    AlignmentRules rules;
    rules.one_to_one = [this](size_t i, size_t j) {
      return IsApi(i) ? WeightOf(Likeness(i, j)) : IsMark(i, j) ? kCertain : 0;
    };
    const Alignment found = Align(targets_.size(), goldens_.size(), rules);
    for (const AlignedSpan& span : found.spans) Link(span.target, span.golden);
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (found.target_ambiguous[i]) target_.reason[targets_[i]] = MatchReason::kAmbiguous;
    }
    for (size_t j = 0; j < goldens_.size(); ++j) {
      if (found.golden_ambiguous[j]) golden_.reason[goldens_[j]] = MatchReason::kAmbiguous;
    }
  }

 private:
  bool IsApi(size_t i) const { return target_.graph.nodes[targets_[i]].kind == NodeKind::kApi; }

  float Likeness(size_t i, size_t j) const {
    if (golden_.graph.nodes[goldens_[j]].kind != NodeKind::kApi) return 0;
    return ApiLikeness(target_.traits[targets_[i]], golden_.traits[goldens_[j]]);
  }

  /// The same pair of modules, or the same fused projection, on both sides.
  bool IsMark(size_t i, size_t j) const {
    if (target_.partner[targets_[i]] == goldens_[j]) return true;
    const uint32_t group = target_.group[targets_[i]];
    return group != kNoGroup && group == golden_.group[goldens_[j]];
  }

  /// The same calls in the same order, as many on both sides: their place says which belong
  /// together, however many are alike.
  bool AreSameCalls() const {
    if (targets_.size() != goldens_.size()) return false;
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (!(IsApi(i) ? IsSameCall(i) : IsMark(i, i))) return false;
    }
    return true;
  }

  /// With the same name they may have other shapes, as in loose mode.
  bool IsSameCall(size_t i) const {
    if (target_.graph.nodes[targets_[i]].name == golden_.graph.nodes[goldens_[i]].name) return true;
    return target_.traits[targets_[i]].id_word == golden_.traits[goldens_[i]].id_word &&
           Likeness(i, i) >= kLeastLikeness;
  }

  void Link(size_t i, size_t j) {
    if (!IsApi(i)) return;
    const float likeness = Likeness(i, j);
    state_.Link(targets_[i], goldens_[j], std::max(likeness, kLeastLikeness));
    if (likeness < kLeastLikeness) state_.named.push_back(targets_[i]);
  }

  AutoMatchState& state_;
  MatchSide& target_ = state_.target;
  MatchSide& golden_ = state_.golden;
  std::vector<NodeId> targets_;
  std::vector<NodeId> goldens_;
};

}  // namespace

int32_t WeightOf(float likeness) {
  return likeness < kLeastLikeness ? 0 : 10 + static_cast<int32_t>(std::lround(20 * likeness));
}

void MatchApis(NodeId target_module, NodeId golden_module, AutoMatchState* state) {
  ApiMatcher(target_module, golden_module, state).Run();
}

}  // namespace msprobe::graph
