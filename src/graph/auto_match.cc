#include <algorithm>
#include <utility>

#include "graph/alignment.h"
#include "graph/auto_match.h"

namespace msprobe::graph {
namespace {

constexpr uint32_t kMostRounds = 64;

/// Neighbouring modules of both sides between which no pair is known yet.
struct Region {
  std::vector<NodeId> targets;
  std::vector<NodeId> goldens;
  NodeId target_parent = kRootNode;  ///< the pair they lie in
  NodeId golden_parent = kRootNode;
  uint32_t round = 0;
};

class AutoMatcher {
 public:
  AutoMatcher(const MatchOptions& options, Pairing* pairing) : state_(options, pairing) {
    match_.confidence.assign(target_.graph.nodes.size(), 0);
    match_.confidence[kRootNode] = 1;
    std::ranges::fill(match_.target_reason, MatchReason::kNoCounterpart);
    std::ranges::fill(match_.golden_reason, MatchReason::kNoCounterpart);
    match_.target_reason[kRootNode] = match_.golden_reason[kRootNode] = MatchReason::kNone;
    Open(&target_);
    Open(&golden_);
  }

  void Run() {
    EnterPair(kRootNode, kRootNode);
    while (!regions_.empty() && !cancelled()) {
      const Region region = std::move(regions_.back());
      regions_.pop_back();
      MatchRegion(region);
    }
    MatchWhatFollows(&state_);
  }

 private:
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }

  void Open(MatchSide* side) {
    side->traits = ReadTraits(side->graph, &words_, options_.threads, options_.cancel);
    side->group.assign(side->graph.nodes.size(), kNoGroup);
  }

  void EnterPair(NodeId target, NodeId golden) {
    Push({target_.ModulesBelow(target), golden_.ModulesBelow(golden), target, golden, 0});
  }

  void Push(Region region) {
    if (region.targets.empty() || region.goldens.empty()) return;
    for (NodeId& id : region.targets) id = target_.Unwrap(id);
    for (NodeId& id : region.goldens) id = golden_.Unwrap(id);
    regions_.push_back(std::move(region));
  }

  static bool HasContainer(const MatchSide& side, const std::vector<NodeId>& ids) {
    return std::ranges::any_of(ids, [&](NodeId id) { return side.traits[id].modules_below > 0; });
  }

  /// Weights in front of a node and behind it, inside the pair that the region lies in.
  static std::pair<uint64_t, uint64_t> Around(const MatchSide& side, NodeId parent, NodeId id) {
    const uint64_t before = side.traits[id].weights_before - side.traits[parent].weights_before;
    return {before, side.traits[parent].weights - before - side.traits[id].weights};
  }

  /// Where something is missing on one side, only what lies in front of it or behind it is the
  /// same, and the number of the layer must agree.
  bool SamePlace(const Region& region, NodeId target, NodeId golden) const {
    const auto [target_before, target_after] = Around(target_, region.target_parent, target);
    const auto [golden_before, golden_after] = Around(golden_, region.golden_parent, golden);
    if (state_.IsAnchored(region.target_parent, region.golden_parent)) {
      return target_before == golden_before;
    }
    return target_.traits[target].layer == golden_.traits[golden].layer &&
           (target_before == golden_before || target_after == golden_after);
  }

  /// Another partner that is about as good, near by, where the place alone does not decide.
  bool HasRival(const Region& region, size_t i, size_t j) const {
    constexpr float kMargin = 0.05F;
    constexpr size_t kNear = 256;
    if (state_.IsAnchored(region.target_parent, region.golden_parent)) return false;
    const auto likeness = [&](size_t target, size_t golden) {
      const NodeId a = region.targets[target];
      const NodeId b = region.goldens[golden];
      return SamePlace(region, a, b) ? ModuleLikeness(target_.traits[a], golden_.traits[b]) : 0;
    };
    const float least = std::max(kLeastLikeness, likeness(i, j) - kMargin);
    for (size_t k = i > kNear ? i - kNear : 0; k < std::min(region.targets.size(), i + kNear);
         ++k) {
      if (k != i && likeness(k, j) >= least) return true;
    }
    for (size_t k = j > kNear ? j - kNear : 0; k < std::min(region.goldens.size(), j + kNear);
         ++k) {
      if (k != j && likeness(i, k) >= least) return true;
    }
    return false;
  }

  float Fused(const MatchSide& many, const NodeId* first, size_t count, const NodeTraits& whole) {
    parts_.clear();
    for (size_t i = 0; i < count; ++i) {
      const NodeTraits& traits = many.traits[first[i]];
      if (traits.weights > 0) {
        parts_.push_back(&traits);
      } else if (i == 0 || i + 1 == count) {
        return 0;
      }
    }
    return parts_.size() < 2 ? 0 : FusedLikeness(parts_, whole);
  }

  /// Containers first: whatever is left of them is opened before leaves are looked at, so that a
  /// leaf is never paired past its true partner that still lies inside a container.
  void MatchRegion(const Region& region) {
    const bool leaves =
        !HasContainer(target_, region.targets) && !HasContainer(golden_, region.goldens);
    AlignmentRules rules;
    rules.one_to_one = [&](size_t i, size_t j) {
      const NodeId target = region.targets[i];
      const NodeId golden = region.goldens[j];
      if (!leaves && target_.traits[target].modules_below == 0) return 0;
      if (!SamePlace(region, target, golden)) return 0;
      return WeightOf(ModuleLikeness(target_.traits[target], golden_.traits[golden]));
    };
    if (leaves) {
      rules.many_to_one = [&](size_t i, size_t count, size_t j) {
        if (!SamePlace(region, region.targets[i], region.goldens[j])) return 0;
        return 2 * WeightOf(Fused(target_, &region.targets[i], count,
                                  golden_.traits[region.goldens[j]]));
      };
      rules.one_to_many = [&](size_t i, size_t j, size_t count) {
        if (!SamePlace(region, region.targets[i], region.goldens[j])) return 0;
        return 2 * WeightOf(Fused(golden_, &region.goldens[j], count,
                                  target_.traits[region.targets[i]]));
      };
    }
    Alignment found = Align(region.targets.size(), region.goldens.size(), rules);
    std::erase_if(found.spans, [&](const AlignedSpan& span) {
      const bool rival = span.target_count == 1 && span.golden_count == 1 &&
                         HasRival(region, span.target, span.golden);
      if (rival) found.target_ambiguous[span.target] = found.golden_ambiguous[span.golden] = true;
      return rival;
    });
    for (const AlignedSpan& span : found.spans) Accept(region, span);
    OpenGaps(region, found);
  }

  void Accept(const Region& region, const AlignedSpan& span) {
    NodeId target = region.targets[span.target];
    NodeId golden = region.goldens[span.golden];
    if (span.target_count > 1 || span.golden_count > 1) return AddGroup(region, span);
    float likeness = ModuleLikeness(target_.traits[target], golden_.traits[golden]);
    for (;;) {  // a class that only holds another one: the better of the two is meant
      const NodeId below_target = target_.OnlyModuleBelow(target);
      const NodeId below_golden = golden_.OnlyModuleBelow(golden);
      const float deeper_target =
          below_target == kNoNode
              ? 0
              : ModuleLikeness(target_.traits[below_target], golden_.traits[golden]);
      const float deeper_golden =
          below_golden == kNoNode
              ? 0
              : ModuleLikeness(target_.traits[target], golden_.traits[below_golden]);
      if (std::max(deeper_target, deeper_golden) <= likeness) break;
      likeness = std::max(deeper_target, deeper_golden);
      if (deeper_target >= deeper_golden) {
        match_.target_reason[target] = MatchReason::kWrapper;
        target = below_target;
      } else {
        match_.golden_reason[golden] = MatchReason::kWrapper;
        golden = below_golden;
      }
    }
    state_.Link(target, golden, likeness);
    EnterPair(target, golden);
  }

  void AddGroup(const Region& region, const AlignedSpan& span) {
    const auto number = static_cast<uint32_t>(match_.groups.size());
    FusedGroup group;
    for (size_t i = 0; i < span.target_count; ++i) {
      const NodeId id = region.targets[span.target + i];
      if (target_.traits[id].weights == 0) continue;
      group.targets.push_back(id);
      target_.group[id] = number;
    }
    for (size_t i = 0; i < span.golden_count; ++i) {
      const NodeId id = region.goldens[span.golden + i];
      if (golden_.traits[id].weights == 0) continue;
      group.goldens.push_back(id);
      golden_.group[id] = number;
    }
    const bool split = span.target_count > 1;
    const NodeTraits& whole =
        split ? golden_.traits[group.goldens[0]] : target_.traits[group.targets[0]];
    group.confidence = split ? Fused(target_, group.targets.data(), group.targets.size(), whole)
                             : Fused(golden_, group.goldens.data(), group.goldens.size(), whole);
    for (const NodeId id : group.targets) match_.target_reason[id] = MatchReason::kFusedProjection;
    for (const NodeId id : group.goldens) match_.golden_reason[id] = MatchReason::kFusedProjection;
    match_.groups.push_back(std::move(group));
  }

  /// Between two pairs: opens the largest containers that found no partner, and tries again.
  void OpenGaps(const Region& region, const Alignment& found) {
    size_t target = 0;
    size_t golden = 0;
    for (size_t i = 0; i <= found.spans.size(); ++i) {
      const bool last = i == found.spans.size();
      const size_t target_end = last ? region.targets.size() : found.spans[i].target;
      const size_t golden_end = last ? region.goldens.size() : found.spans[i].golden;
      Region gap{Free(region.targets, found.target_ambiguous, target, target_end, &target_),
                 Free(region.goldens, found.golden_ambiguous, golden, golden_end, &golden_),
                 region.target_parent, region.golden_parent, region.round + 1};
      OpenGap(std::move(gap), found.spans.empty());
      if (last) return;
      target = target_end + found.spans[i].target_count;
      golden = golden_end + found.spans[i].golden_count;
    }
  }

  static std::vector<NodeId> Free(const std::vector<NodeId>& ids,
                                  const std::vector<bool>& ambiguous, size_t begin, size_t end,
                                  MatchSide* side) {
    std::vector<NodeId> free;
    for (size_t i = begin; i < end; ++i) {
      if (ambiguous[i]) {
        side->reason[ids[i]] = MatchReason::kAmbiguous;
      } else {
        free.push_back(ids[i]);
      }
    }
    return free;
  }

  void OpenGap(Region gap, bool whole_region) {
    if (gap.targets.empty() || gap.goldens.empty() || gap.round > kMostRounds) return;
    uint32_t largest = 0;
    for (const NodeId id : gap.targets) {
      largest = std::max(largest, target_.traits[id].modules_below);
    }
    for (const NodeId id : gap.goldens) {
      largest = std::max(largest, golden_.traits[id].modules_below);
    }
    if (largest == 0 && whole_region) return;  // leaves without a likeness
    gap.targets = Opened(target_, gap.targets, largest);
    gap.goldens = Opened(golden_, gap.goldens, largest);
    Push(std::move(gap));
  }

  static std::vector<NodeId> Opened(const MatchSide& side, const std::vector<NodeId>& ids,
                                    uint32_t largest) {
    std::vector<NodeId> opened;
    for (const NodeId id : ids) {
      const uint32_t below = side.traits[id].modules_below;
      if (below == 0 || below < (largest + 1) / 2) {
        opened.push_back(id);
        continue;
      }
      const std::vector<NodeId> inside = side.ModulesBelow(id);
      opened.insert(opened.end(), inside.begin(), inside.end());
    }
    return opened;
  }

  AutoMatchState state_;
  const MatchOptions& options_ = state_.options;
  Match& match_ = state_.match;
  MatchSide& target_ = state_.target;
  MatchSide& golden_ = state_.golden;
  WordTable words_;
  std::vector<Region> regions_;
  std::vector<const NodeTraits*> parts_;
};

}  // namespace

void MatchAutomatically(const MatchOptions& options, Pairing* pairing) {
  AutoMatcher(options, pairing).Run();
}

}  // namespace msprobe::graph
