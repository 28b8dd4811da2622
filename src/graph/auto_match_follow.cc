#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "graph/auto_match.h"
#include "graph/node_name.h"

namespace msprobe::graph {
namespace {

using dump::Direction;

class Follower {
 public:
  explicit Follower(AutoMatchState* state) : state_(*state) {}

  void Run() {
    MatchNamed(Direction::kForward);
    MatchApis(kRootNode, kRootNode, &state_);
    Follow();
    do {
      MatchNamed(std::nullopt);
    } while (Follow());
    for (uint32_t i = 0; i < match_.groups.size(); ++i) {
      for (const NodeId id : match_.groups[i].targets) SpreadGroup(target_, id, i);
      for (const NodeId id : match_.groups[i].goldens) SpreadGroup(golden_, id, i);
    }
    MatchCollections();
    CheckNamed();
    Explain(target_);
    Explain(golden_);
    MarkOtherShapes();
  }

 private:
  /// From all pairs that are new to what is inside them and to what belongs to them. False: there
  /// were none.
  bool Follow() {
    const size_t before = followed_;
    for (; followed_ < state_.linked.size() && !state_.cancelled(); ++followed_) {
      const NodeId target = state_.linked[followed_];
      MatchApis(target, pairing_.golden_of(target), &state_);
      FollowNames(target);
    }
    return followed_ > before;
  }

  void LinkNamed(const std::string& target_name, const std::string& golden_name, float confidence) {
    if (target_name.empty() || golden_name.empty()) return;
    const NodeId target = target_.graph.Find(target_name);
    const NodeId golden = golden_.graph.Find(golden_name);
    if (target == kNoNode || golden == kNoNode) return;
    if (pairing_.golden_of(target) != kNoNode || !pairing_.is_free(golden)) return;
    state_.Link(target, golden, confidence);
  }

  /// What belongs to a forward node by its name: its backward, the gradients of its parameters.
  void FollowNames(NodeId target) {
    const std::string_view target_id = target_.graph.nodes[target].name;
    const std::string_view golden_id = golden_.graph.nodes[pairing_.golden_of(target)].name;
    const NodeName target_name = ParseNodeName(target_id);
    const NodeName golden_name = ParseNodeName(golden_id);
    const float confidence = match_.confidence[target];
    LinkNamed(BackwardOf(target_id, target_name), BackwardOf(golden_id, golden_name), confidence);
    if (target_name.kind != NodeKind::kModule) return;
    for (const std::string_view call : {"same", "", ".0"}) {
      LinkNamed(GradientsOf(target_id, target_name, call),
                GradientsOf(golden_id, golden_name, call), confidence);
    }
  }

  /// Gradients are counted by the calls of the module, or come once: without a number, or as 0.
  static std::string GradientsOf(std::string_view id, const NodeName& name, std::string_view call) {
    std::string gradients(id.substr(0, name.direction_begin));
    gradients += "parameters_grad";
    gradients += call == "same" ? id.substr(name.direction_begin + name.direction_size) : call;
    return gradients;
  }

  /// The backward of a part of a fused projection is one, too, and so are the gradients.
  static void SpreadGroup(MatchSide& side, NodeId id, uint32_t group) {
    const std::string_view name = side.graph.nodes[id].name;
    const NodeName parts = ParseNodeName(name);
    for (const std::string& other :
         {BackwardOf(name, parts), GradientsOf(name, parts, "same"), GradientsOf(name, parts, ""),
          GradientsOf(name, parts, ".0")}) {
      const NodeId node = other.empty() ? kNoNode : side.graph.Find(other);
      if (node == kNoNode || side.partner[node] != kNoNode) continue;
      side.group[node] = group;
      side.reason[node] = MatchReason::kFusedProjection;
    }
  }

  /// A run of APIs between modules is what its members say.
  void MatchCollections() {
    for (NodeId id = 1; id < target_.graph.nodes.size(); ++id) {
      if (target_.graph.nodes[id].kind != NodeKind::kApiCollection) continue;
      const NodeId golden = pairing_.PartnersParent(id);
      float confidence = 1;
      for (const NodeId child : target_.graph.children(id)) {
        if (pairing_.golden_of(child) == kNoNode) continue;
        confidence = std::min(confidence, match_.confidence[child]);
      }
      const bool fits = golden != kNoNode && pairing_.is_free(golden) &&
                        golden_.graph.nodes[golden].kind == NodeKind::kApiCollection;
      if (fits) state_.Link(id, golden, confidence);
    }
  }

  /// Nodes of the same name in the same pair, although their shapes differ: as in loose mode.
  void MatchNamed(std::optional<Direction> direction) {
    for (const NodeId id : ParentsFirst(target_.graph)) {
      const Node& node = target_.graph.nodes[id];
      if (pairing_.golden_of(id) != kNoNode || (direction && node.direction != *direction))
        continue;
      if (target_.reason[id] == MatchReason::kFusedProjection) continue;
      const NodeId partner = golden_.graph.Find(node.name);
      if (partner == kNoNode || !pairing_.is_free(partner)) continue;
      if (golden_.reason[partner] == MatchReason::kFusedProjection) continue;
      if (!NameDecides(node)) continue;
      if (pairing_.golden_of(Around(target_, id)) != Around(golden_, partner)) continue;
      state_.Link(id, partner, kLeastLikeness);
      state_.named.push_back(id);
    }
  }

  /// Forward APIs are told by their place, and their backward goes with them: only the name is left
  /// where no forward was recorded.
  bool NameDecides(const Node& node) const {
    if (node.kind != NodeKind::kApi) return node.kind == NodeKind::kModule;
    if (node.direction != Direction::kBackward) return node.direction != Direction::kForward;
    const std::string forward = ForwardOf(node.name, ParseNodeName(node.name));
    return target_.graph.Find(forward) == kNoNode && golden_.graph.Find(forward) == kNoNode;
  }

  /// What holds a node; a run of APIs between modules follows from these.
  static NodeId Around(const MatchSide& side, NodeId id) {
    id = side.graph.nodes[id].parent;
    while (side.graph.nodes[id].kind == NodeKind::kApiCollection) id = side.graph.nodes[id].parent;
    return id;
  }

  void CheckNamed() {
    const auto note = [&](NodeId id, MatchReason reason) {
      target_.reason[id] = reason;
      golden_.reason[pairing_.golden_of(id)] = reason;
      match_.mismatched[id] = reason != MatchReason::kOtherDType;
    };
    pairing_.Check(state_.named, RecordRule::kSameUpToDType, options_, note);
  }

  static void Explain(MatchSide& side) {
    for (const NodeId id : ParentsFirst(side.graph)) {
      if (id == kRootNode || side.partner[id] != kNoNode) continue;
      MatchReason& reason = side.reason[id];
      if (reason != MatchReason::kNoCounterpart) continue;
      const Node& node = side.graph.nodes[id];
      if (node.is_backward) {  // as its forward
        const NodeId forward = side.graph.Find(ForwardOf(node.name, ParseNodeName(node.name)));
        if (forward != kNoNode && side.partner[forward] == kNoNode) reason = side.reason[forward];
      }
      if (reason == MatchReason::kNoCounterpart && node.parent != kRootNode &&
          side.partner[node.parent] == kNoNode &&
          side.reason[node.parent] != MatchReason::kWrapper) {
        reason = MatchReason::kParentUnmatched;
      }
    }
  }

  /// Layouts may differ between stacks: where they do, the numbers alone are compared.
  void MarkOtherShapes() {
    std::vector<NodeId> pairs;
    for (const NodeId id : state_.linked) {
      if (!match_.mismatched[id]) pairs.push_back(id);
    }
    pairing_.Check(pairs, RecordRule::kSameUpToDType, options_, [&](NodeId id, MatchReason reason) {
      match_.by_mapping[id] = reason != MatchReason::kOtherDType;
    });
  }

  AutoMatchState& state_;
  size_t followed_ = 0;  ///< of state_.linked
  const MatchOptions& options_ = state_.options;
  Pairing& pairing_ = state_.pairing;
  Match& match_ = state_.match;
  MatchSide& target_ = state_.target;
  MatchSide& golden_ = state_.golden;
};

}  // namespace

void MatchWhatFollows(AutoMatchState* state) { Follower(state).Run(); }

}  // namespace msprobe::graph
