#include "compare/first_divergence.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "compare/node_facts.h"
#include "compare/verdict.h"
#include "graph/node_name.h"

namespace msprobe::compare {

namespace {

using graph::kNoNode;
using graph::NodeId;

/// Outputs that are this much further off than the inputs did not get there by rounding alone.
constexpr double kGrowth = 10;

class Finder {
 public:
  Finder(const Comparison& comparison, size_t threads)
      : comparison_(comparison),
        graph_(*comparison.target),
        facts_(GatherFacts(comparison, threads)),
        states_(comparison.nodes.size()) {
    for (const auto& [fingerprint, node] : facts_.differing_parameters) {
      if (fingerprint != 0) parameter_owners_[fingerprint] = node;
    }
    for (NodeId id = 0; id < states_.size(); ++id) NotePass(id);
  }

  DivergenceReport Run() {
    producers_.reserve(facts_.uses.size());
    views_.reserve(facts_.uses.size());
    const std::vector<NodeId> order = graph::CompletionOrder(graph_);
    for (const NodeId id : order) {
      Classify(id);
      NotePass(id);
      TellParent(id);
      for (const TensorUse& output : Outputs(id)) {
        if (output.fingerprint != 0) producers_[output.fingerprint] = id;
        if (output.view_fingerprint != 0) views_[output.view_fingerprint] = {id, output.norm};
      }
    }
    return Report(order);
  }

 private:
  struct State {
    Role role = Role::kNone;
    NodeId cause = kNoNode;  ///< where its error comes from: itself, or the next node on the way
    NodeId origin_below = kNoNode;  ///< the first node inside that is its own cause
    bool amplifier_below = false;
    bool unwritten_memory = false;
    bool inputs_traced = true;  ///< nodes without partner: it is known who made all it takes
    std::string reason;
  };

  std::span<const TensorUse> Inputs(NodeId id) const {
    const NodeFacts& facts = facts_.nodes[id];
    return {facts_.uses.data() + facts.inputs_begin, facts.inputs_end - facts.inputs_begin};
  }
  std::span<const TensorUse> Outputs(NodeId id) const {
    const NodeFacts& facts = facts_.nodes[id];
    return {facts_.uses.data() + facts.outputs_begin, facts.outputs_end - facts.outputs_begin};
  }
  bool Unmatched(NodeId id) const { return comparison_.match.golden_of_target[id] == kNoNode; }

  void Set(NodeId id, Role role, NodeId cause, std::string reason) {
    State& state = states_[id];
    state.role = role;
    state.cause = cause;
    state.reason = std::move(reason);
    // What is only unknown explains nothing to nodes that merely come later.
    if (cause == id && role != Role::kUndecidable) last_origin_ = id;
  }

  void Classify(NodeId id) {
    const NodeResult& result = comparison_.nodes[id];
    const NodeFacts& facts = facts_.nodes[id];
    const graph::NodeName name = graph::ParseNodeName(graph_.nodes[id].name);
    if (name.kind == graph::NodeKind::kApi && ReturnsUnwrittenMemory(name.api)) {
      states_[id].unwritten_memory = true;
      return;
    }
    if (Unmatched(id)) return PassOn(id);
    if (result.status == NodeStatus::kUnreadable) {
      return Set(id, Role::kUndecidable, id, comparison_.reasons[result.reason]);
    }
    if (!facts.differs()) return;
    if (facts.inputs_differ) return ClassifyCarrier(id);
    if (const NodeId earlier = EarlierPass(id, name); earlier != kNoNode) {
      return Set(id, Role::kVictim, earlier, "its forward or its gradients differ already");
    }
    ClassifySource(id);
  }

  /// A node without a partner has no role of its own, but hands on the error of what it takes.
  void PassOn(NodeId id) {
    for (const TensorUse& input : Inputs(id)) {
      const NodeId producer = Producer(input);
      if (producer == kNoNode) {
        states_[id].inputs_traced = false;
      } else if (states_[producer].cause != kNoNode) {
        states_[id].cause = producer;
        return;
      }
    }
  }

  NodeId Producer(const TensorUse& use) const {
    if (use.fingerprint != 0) {
      const auto made = producers_.find(use.fingerprint);
      if (made != producers_.end()) return made->second;
      const auto owned = parameter_owners_.find(use.fingerprint);
      if (owned != parameter_owners_.end()) return owned->second;
    }
    if (use.view_fingerprint == 0) return kNoNode;
    const auto viewed = views_.find(use.view_fingerprint);
    if (viewed == views_.end()) return kNoNode;
    constexpr double kSameNorm = 1e-5;
    const double apart = std::fabs(viewed->second.norm - use.norm);
    return apart <= kSameNorm * std::fabs(use.norm) ? viewed->second.node : kNoNode;
  }

  /// The node through which the error of the inputs came here, by the worst input that tells; none
  /// if nothing is known. `only_unwritten`: all that differs is memory that nobody had written.
  NodeId CarriedFrom(NodeId id, bool* only_unwritten) {
    std::vector<TensorUse> inputs(Inputs(id).begin(), Inputs(id).end());
    std::stable_sort(inputs.begin(), inputs.end(),
                     [](const TensorUse& a, const TensorUse& b) { return a.error > b.error; });
    *only_unwritten = true;
    for (const TensorUse& input : inputs) {
      const NodeId producer = Producer(input);
      if (producer != kNoNode && states_[producer].unwritten_memory) continue;
      *only_unwritten = false;
      if (producer == kNoNode || producer == id) continue;
      if (states_[producer].cause != kNoNode || facts_.nodes[producer].parameters_differ) {
        return producer;
      }
      if (Unmatched(producer)) {
        BlameUnmatched(producer);
        return producer;
      }
    }
    return kNoNode;
  }

  /// What `id` took is right and a partner of its consumer got something else: only now is it
  /// known that the error came in here.
  void BlameUnmatched(NodeId id) {
    if (states_[id].inputs_traced) {
      Set(id, Role::kCulprit, id,
          "golden has no such node, and what it made differs from what "
          "golden used in its place");
    } else {
      Set(id, Role::kUndecidable, id, "it has no partner, and what it took cannot be traced");
    }
    last_origin_ = id;
    NotePass(id);
    for (NodeId at = id; at != kNoNode; at = graph_.nodes[at].parent) TellParent(at);
  }

  void ClassifyCarrier(NodeId id) {
    const NodeFacts& facts = facts_.nodes[id];
    bool only_unwritten = false;
    NodeId from = CarriedFrom(id, &only_unwritten);
    if (only_unwritten) {
      if (!facts.outputs_differ) return;
      return Set(id, Role::kUndecidable, id, "it reads memory that nobody has written yet");
    }
    if (from == kNoNode) from = last_origin_;  // the best guess: what went wrong just before
    if (from == kNoNode) {
      Set(id, Role::kUndecidable, id,
          "its inputs differ, and no recorded node made them: other data or other weights?");
      last_origin_ = id;
      return;
    }
    const bool amplifies = facts.outputs_differ && facts.error_out > kGrowth * facts.error_in &&
                           !states_[id].amplifier_below;
    std::string reason = "its inputs differ already";
    if (facts.parameters_differ) reason += "; parameters differ: " + facts.differing_parameter;
    if (amplifies) reason += ", and it makes the error more than 10 times larger";
    Set(id, amplifies ? Role::kAmplifier : Role::kVictim, from, std::move(reason));
  }

  bool Diverged(NodeId id) const {
    return id != kNoNode && (states_[id].cause != kNoNode || facts_.nodes[id].differs());
  }

  /// Backward: its forward, if that diverged. parameters_grad: also the module's backward.
  NodeId EarlierPass(NodeId id, const graph::NodeName& name) const {
    const std::string_view text = graph_.nodes[id].name;
    if (name.direction == dump::Direction::kBackward) {
      const NodeId forward = graph_.Find(graph::ForwardOf(text, name));
      return Diverged(forward) ? forward : kNoNode;
    }
    if (name.direction != dump::Direction::kParametersGrad) return kNoNode;
    const auto passes = diverged_passes_.find(text.substr(0, name.direction_begin));
    if (passes == diverged_passes_.end()) return kNoNode;
    return passes->second.forward != kNoNode ? passes->second.forward : passes->second.backward;
  }

  /// Remembers the first diverged calls of a module for its parameters_grad.
  void NotePass(NodeId id) {
    const graph::Node& node = graph_.nodes[id];
    if (node.kind != graph::NodeKind::kModule || !Diverged(id)) return;
    const bool forward = node.direction == dump::Direction::kForward;
    // A gradient of weights may be wrong in the same call whose gradient of inputs is.
    const bool backward =
        node.direction == dump::Direction::kBackward && facts_.nodes[id].inputs_differ;
    if (!forward && !backward) return;
    const size_t module_size = graph::ParseNodeName(node.name).direction_begin;
    Passes& passes = diverged_passes_[node.name.substr(0, module_size)];
    NodeId& first = forward ? passes.forward : passes.backward;
    if (first == kNoNode) first = id;
  }

  /// Inputs agree: the error starts here or inside.
  void ClassifySource(NodeId id) {
    const NodeFacts& facts = facts_.nodes[id];
    if (facts.parameters_differ) {
      return Set(id, Role::kCulprit, id, "parameters differ: " + facts.differing_parameter);
    }
    if (!facts.outputs_differ) return;
    if (states_[id].origin_below != kNoNode) {
      return Set(id, Role::kVictim, states_[id].origin_below, "the error starts inside it");
    }
    if (facts.is_collective) {
      return Set(id, Role::kCollective, id,
                 "its inputs agree on this rank; what comes from the other ranks may not");
    }
    if (facts.inputs_unknown) {
      return Set(id, Role::kUndecidable, id,
                 "its outputs differ, but not all of its inputs could "
                 "be compared");
    }
    if (facts.error_out <= kGrowth * facts.error_in) {
      bool only_unwritten = false;
      const NodeId from = CarriedFrom(id, &only_unwritten);
      if (from != kNoNode) {
        return Set(id, Role::kVictim, from, "its inputs carry an error within the tolerance");
      }
      return Set(id, Role::kUndecidable, id,
                 "the error grew little by little: inputs just within the tolerance, outputs not");
    }
    Set(id, Role::kCulprit, id, SourceReason(id));
  }

  std::string SourceReason(NodeId id) const {
    const bool gradient = graph_.nodes[id].name.find(".parameters_grad") != std::string_view::npos;
    if (gradient) return "the forward and the gradients agree, the gradients of parameters do not";
    if (!facts_.nodes[id].has_inputs) {
      return "its outputs differ though it takes no tensors: random numbers or other constants";
    }
    size_t unmatched = 0;
    for (const NodeId child : graph_.children(id)) unmatched += Unmatched(child) ? 1 : 0;
    std::string reason = "its inputs agree, its outputs do not";
    if (unmatched > 0) reason += "; " + std::to_string(unmatched) + " nodes inside have no partner";
    return reason;
  }

  void TellParent(NodeId id) {
    const NodeId parent_id = graph_.nodes[id].parent;
    if (parent_id == kNoNode) return;
    const State& state = states_[id];
    State& parent = states_[parent_id];
    if (parent.origin_below == kNoNode) {
      parent.origin_below = state.cause == id ? id : state.origin_below;
    }
    parent.amplifier_below |= state.amplifier_below || state.role == Role::kAmplifier;
  }

  /// Follows the causes to the node that is its own. Ids on the way get the answer too; a circle
  /// (equal data at both ends of it) has none.
  NodeId Origin(NodeId id) {
    std::vector<NodeId> way;
    NodeId at = id;
    while (at != kNoNode && states_[at].cause != at && way.size() < states_.size()) {
      way.push_back(at);
      at = std::exchange(states_[at].cause, kNoNode);
    }
    for (const NodeId passed : way) states_[passed].cause = at;
    return at;
  }

  DivergenceReport Report(const std::vector<NodeId>& order) {
    DivergenceReport report;
    for (const NodeId id : order) {
      const Role role = states_[id].role;
      if (role == Role::kNone) continue;
      const NodeId origin = Origin(id);
      if (role == Role::kCulprit) report.culprits.push_back(id);
      report.divergences.push_back(
          {id, role, origin == id ? kNoNode : origin, std::min(1.0, facts_.nodes[id].error_in),
           std::min(1.0, facts_.nodes[id].error_out), std::move(states_[id].reason)});
    }
    return report;
  }

  const Comparison& comparison_;
  const graph::Graph& graph_;
  const FactTable facts_;
  std::vector<State> states_;
  struct View {
    NodeId node;
    double norm;
  };
  std::unordered_map<uint64_t, NodeId> producers_;
  std::unordered_map<uint64_t, View> views_;
  std::unordered_map<uint64_t, NodeId> parameter_owners_;
  struct Passes {
    NodeId forward = kNoNode;
    NodeId backward = kNoNode;
  };
  std::unordered_map<std::string_view, Passes> diverged_passes_;  ///< by "Module.path.Class."
  NodeId last_origin_ = kNoNode;
};

void RaiseCulprits(const DivergenceReport& report, Comparison* comparison) {
  const auto raisable = [](const NodeResult& result) {
    return result.status == NodeStatus::kPass || result.status == NodeStatus::kWarning;
  };
  for (const Divergence& divergence : report.divergences) {
    NodeResult& result = comparison->nodes[divergence.node];
    if (divergence.role != Role::kCulprit || !raisable(result)) continue;
    // What a pass says ("NaN on both sides") does not explain an error.
    const bool explained = result.status == NodeStatus::kWarning && result.reason != 0;
    result.status = NodeStatus::kError;
    if (!explained) {
      result.reason = static_cast<uint32_t>(comparison->reasons.size());
      comparison->reasons.push_back(divergence.reason);
    }
    const NodeId parent = comparison->target->nodes[divergence.node].parent;
    if (parent == kNoNode ||
        comparison->target->nodes[parent].kind != graph::NodeKind::kApiCollection) {
      continue;
    }
    // A collection is as bad as its worst child.
    NodeResult& collection = comparison->nodes[parent];
    if (!raisable(collection)) continue;
    collection.status = NodeStatus::kError;
    collection.reason = result.reason;
  }
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kNone: return "none";
    case Role::kCulprit: return "culprit";
    case Role::kVictim: return "victim";
    case Role::kAmplifier: return "amplifier";
    case Role::kCollective: return "collective";
    case Role::kUndecidable: return "undecidable";
  }
  return "";
}

DivergenceReport FindDivergences(Comparison* comparison, size_t threads) {
  if (comparison->mode == CompareMode::kStructure) return {};
  DivergenceReport report = Finder(*comparison, threads).Run();
  RaiseCulprits(report, comparison);
  return report;
}

}  // namespace msprobe::compare
