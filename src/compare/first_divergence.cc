#include "compare/first_divergence.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "compare/culprit_reasons.h"
#include "compare/data_flow.h"
#include "compare/divergence_report.h"
#include "compare/earlier_passes.h"
#include "compare/excuses.h"
#include "compare/hidden_difference.h"
#include "compare/idle_memory.h"
#include "compare/node_facts.h"
#include "compare/noise_trace.h"
#include "compare/unpaired_calls.h"
#include "compare/verdict.h"
#include "graph/node_name.h"

namespace msprobe::compare {

namespace {

using graph::kNoNode;
using graph::NodeId;

class Finder {
 public:
  Finder(const Comparison& comparison, FactTable facts)
      : comparison_(comparison),
        graph_(*comparison.target),
        facts_(std::move(facts)),
        flow_(comparison, facts_),
        noise_(facts_, flow_),
        idle_(comparison, facts_, flow_),
        hidden_(comparison, facts_, flow_, states_),
        unpaired_(comparison, flow_),
        states_(comparison.nodes.size()),
        passes_(comparison, facts_, flow_, states_) {}

  DivergenceReport Run() {
    std::vector<NodeId> order = graph::CompletionOrder(graph_);
    passes_.shared_gradients().MoveToTheLast(&order);
    for (const NodeId id : order) {
      noise_.Note(id);
      unpaired_.Note(id);
      Classify(id);
      hidden_.Note(id);
      passes_.Note(id);
      TellParent(id);
      flow_.NoteOutputs(id);
    }
    return Report(order);
  }

 private:
  bool Alone(NodeId id) const { return flow_.Alone(id); }
  bool Unmatched(NodeId id) const { return flow_.Unmatched(id); }

  void Set(NodeId id, Role role, NodeId cause, std::string_view reason) {
    NodeState& state = states_[id];
    state.role = role;
    state.cause = cause;
    state.reason = reasons_->Intern(reason);
    noise_.Comes(id, role == Role::kCulprit ? id : noise_.Culprit(cause));
    // What is only unknown explains nothing to nodes that merely come later.
    if (cause == id && role != Role::kUndecidable) last_origin_ = id;
  }

  void Classify(NodeId id) {
    const NodeResult& result = comparison_.nodes[id];
    const NodeFacts& facts = facts_.nodes[id];
    const graph::NodeName name = graph::ParseNodeName(graph_.nodes[id].name);
    if (name.kind == graph::NodeKind::kApi && ReturnsUnwrittenMemory(name.api)) {
      return idle_.Allocate(id);
    }
    if (Alone(id)) return PassOn(id);
    if (result.status == NodeStatus::kUnreadable) {
      return Set(id, Role::kUndecidable, id, comparison_.reasons[result.reason]);
    }
    const bool other_argument = HasOtherArgument(id);
    if (other_argument && facts.outputs_equal && told_ == kNoNode) told_ = id;
    if (other_argument && !facts.outputs_equal) {
      return Set(id, Role::kCulprit, id, facts_.DifferingArgument(id));
    }
    if (!facts.differs()) return;
    if (facts.inputs_differ) return ClassifyCarrier(id);
    if (const NodeId earlier = passes_.Diverged(id); earlier != kNoNode) {
      return Set(id, Role::kVictim, earlier, "its forward or its gradients differ already");
    }
    for (const NodeId other : passes_.shared_gradients().With(id)) {
      if (states_[other].cause == kNoNode) continue;
      return Set(id, Role::kVictim, other, "it holds the gradient of a parameter that both share");
    }
    if (const NodeId forward = OtherArguments(id); forward != kNoNode) {
      Set(forward, Role::kCulprit, forward, OtherCallReason(comparison_, forward, false));
      TellParents(forward);
      return Set(id, Role::kVictim, forward, "its forward is called with other arguments");
    }
    ClassifySource(id);
  }

  /// Golden calls the same API with the same data and another scalar. A number may have been
  /// computed from what went wrong before, or from its noise.
  bool HasOtherArgument(NodeId id) const {
    const NodeFacts& facts = facts_.nodes[id];
    if (!TakesOtherArgument(comparison_, facts, id)) return false;
    if (!facts.argument_is_number) return true;
    return last_origin_ == kNoNode &&
           facts.argument_error > std::min(facts.tolerance, kGrowth * noise_.Largest());
  }

  /// A node without a partner has no role of its own, but hands on the error of what it takes.
  void PassOn(NodeId id) {
    for (const TensorUse& input : flow_.Inputs(id)) {
      const NodeId producer = flow_.Producer(input);
      if (producer == kNoNode || states_[producer].other_call == kNoNode) continue;
      states_[id].other_call = states_[producer].other_call;
    }
    if (states_[id].other_call == kNoNode && unpaired_.IsOtherCall(id)) states_[id].other_call = id;
    for (const TensorUse& input : flow_.Inputs(id)) {
      const NodeId producer = flow_.Producer(input);
      if (producer == kNoNode) {
        states_[id].inputs_traced = false;
      } else if (states_[producer].cause != kNoNode) {
        states_[id].cause = producer;
        return;
      }
    }
  }

  struct Carried {
    NodeId from = kNoNode;       ///< the node through which the error came here; none: not known
    NodeId agreeing = kNoNode;   ///< who made an input that differs, though what it made agrees
    NodeId coarser = kNoNode;    ///< the same, where it agrees within a larger tolerance only
    NodeId idle = kNoNode;       ///< who holds such an input as memory that nobody computed
    bool only_unwritten = true;  ///< all that differs is memory that nobody has written
  };

  /// Where the error of the inputs comes from, by the worst input that tells.
  Carried CarriedFrom(NodeId id) {
    std::vector<TensorUse> inputs(flow_.Inputs(id).begin(), flow_.Inputs(id).end());
    std::stable_sort(inputs.begin(), inputs.end(),
                     [](const TensorUse& a, const TensorUse& b) { return a.error > b.error; });
    Carried carried;
    for (const TensorUse& input : inputs) {
      const NodeId producer = flow_.Producer(input);
      if (idle_.Holds(producer)) {
        const bool unwritten = idle_.IsUnwritten(producer);
        if (!unwritten || carried.idle == kNoNode) carried.idle = producer;
        carried.only_unwritten &= unwritten;
        continue;
      }
      carried.only_unwritten = false;
      if (producer == kNoNode || producer == id) continue;
      if (states_[producer].cause != kNoNode || facts_.nodes[producer].parameters_differ) {
        carried.from = producer;
        break;
      }
      if (Alone(producer)) {
        if (input.error <= facts_.nodes[id].tolerance) continue;
        carried.from = Blamed(producer);
        if (carried.from == kNoNode) {
          carried.agreeing = producer;
          continue;
        }
        BlameUnmatched(carried.from,
                       flow_.Calls(carried.from).only_here && last_origin_ == kNoNode);
        break;
      }
      // It agrees with its partner, and golden's consumer got something else.
      constexpr double kFarMore = 4;
      const bool is_rounding = input.error <= kFarMore * facts_.nodes[producer].error_out;
      if (input.error <= facts_.nodes[id].tolerance) continue;
      (is_rounding ? carried.coarser : carried.agreeing) = producer;
    }
    return carried;
  }

  /// Its backward diverges though all that goes into it agrees, and its forward has no partner only
  /// because golden calls it in another way.
  NodeId OtherArguments(NodeId id) const {
    const NodeId forward = flow_.ForwardOf(id);
    if (forward == kNoNode || !Unmatched(forward)) return kNoNode;
    return unpaired_.IsOtherCall(forward) ? forward : kNoNode;
  }

  /// Which of the nodes without a partner, up to `id`, the error came in with; none if that is as
  /// unsure as the pairs are.
  NodeId Blamed(NodeId id) const {
    const NodeId other = states_[id].other_call;
    if (other != kNoNode && states_[other].cause == kNoNode) return other;
    return unpaired_.ExtraCall(id);
  }

  /// What `id` took is right and a partner of its consumer got something else: only now is it
  /// known that the error came in here. `nothing_before`: nor is anything else known that is wrong.
  void BlameUnmatched(NodeId id, bool nothing_before) {
    if (unpaired_.IsOtherCall(id)) {
      Set(id, Role::kCulprit, id, OtherCallReason(comparison_, id, true));
    } else if (states_[id].inputs_traced || nothing_before) {
      Set(id, Role::kCulprit, id,
          UnpairedReason(comparison_, id,
                         "what it made differs from what golden used in its place"));
    } else {
      Set(id, Role::kUndecidable, id, "it has no partner, and what it took cannot be traced");
    }
    last_origin_ = id;
    passes_.Note(id);
    TellParents(id);
  }

  void TellParents(NodeId id) {
    for (NodeId at = id; at != kNoNode; at = graph_.nodes[at].parent) TellParent(at);
  }

  /// Why differing inputs that nobody made, or somebody who agrees, tell nothing of a culprit.
  std::string WhyRewired(NodeId id, const Carried& carried) const {
    const NodeId maker = carried.agreeing;
    const bool coarser = maker == kNoNode && carried.coarser != kNoNode;
    return (coarser ? CoarserMakerReason(comparison_, facts_, id, carried.coarser)
                    : RewiredReason(comparison_, maker, maker != kNoNode && Alone(maker))) +
           ArgumentToo(facts_, id);
  }

  void SetRewired(NodeId id, std::string_view reason) {
    Set(id, Role::kUndecidable, id, reason);
    states_[id].rewired_below = id;
    last_origin_ = id;
  }

  /// Something was computed from what `holder` holds: where that began is the first to differ.
  NodeId Release(NodeId holder) {
    IdleMemory::Chain chain = idle_.Release(holder);
    SetRewired(chain.origin, chain.reason);
    passes_.Note(chain.origin);
    TellParents(chain.origin);
    BlameFor(chain.others, chain.origin);
    return chain.origin;
  }

  void BlameFor(const std::vector<NodeId>& nodes, NodeId origin) {
    for (const NodeId id : nodes) {
      if (states_[id].role != Role::kNone) continue;
      Set(id, Role::kVictim, origin, "its inputs differ already");
    }
  }

  /// Other data came in somewhere: with all likelihood where data that nobody made was moved first.
  NodeId ReleaseAll() {
    NodeId first = kNoNode;
    for (const NodeId origin : idle_.UnknownOrigins()) {
      if (first == kNoNode) {
        first = Release(origin);
        continue;
      }
      BlameFor({origin}, first);
      BlameFor(idle_.Release(origin).others, first);
    }
    return first;
  }

  void ClassifyCarrier(NodeId id) {
    const NodeFacts& facts = facts_.nodes[id];
    const Carried carried = CarriedFrom(id);
    const NodeId agreeing = carried.agreeing, idle = carried.idle;
    NodeId from = carried.from;
    // Memory that is used again may still hold what a node made that agrees.
    const bool unmade = last_origin_ == kNoNode && (agreeing == kNoNode || !Alone(agreeing));
    if (from == kNoNode && (unmade || carried.only_unwritten) &&
        idle_.Waits(id, idle, WhyRewired(id, carried))) {
      return;
    }
    if (carried.only_unwritten) {
      if (!facts.outputs_differ) return;
      return Set(id, Role::kUndecidable, id, "it reads memory that nobody has written yet");
    }
    if (from == kNoNode && idle != kNoNode && !idle_.IsUnwritten(idle)) from = Release(idle);
    if (from == kNoNode && agreeing == kNoNode) {
      from = last_origin_ != kNoNode ? last_origin_ : ReleaseAll();  // a guess
    }
    if (from == kNoNode) return SetRewired(id, WhyRewired(id, carried));
    const bool amplifies = facts.outputs_differ && facts.error_out > kGrowth * facts.error_in &&
                           !states_[id].amplifier_below;
    std::string reason = "its inputs differ already";
    if (facts.parameters_differ) reason += "; parameters differ: " + facts_.DifferingParameter(id);
    if (amplifies) reason += ", and it makes the error more than 10 times larger";
    Set(id, amplifies ? Role::kAmplifier : Role::kVictim, from, reason);
  }

  double InputError(NodeId id) const { return compare::InputError(graph_, facts_, id); }
  bool MayBlame(NodeId id) const { return id != kNoNode && states_[id].role == Role::kNone; }

  /// Gives the node another role than culprit where what it takes carries enough of an error.
  bool ExplainedByRounding(NodeId id) {
    const NodeFacts& facts = facts_.nodes[id];
    const double error_in = InputError(id);
    if (const NodeId maker = hidden_.MakerOfInputs(id); maker != kNoNode) {
      const bool diverged = states_[maker].cause != kNoNode;
      Set(id, diverged ? Role::kVictim : Role::kUndecidable, diverged ? maker : id,
          "the statistics of its inputs agree, but " + std::string(graph_.nodes[maker].name) +
              " differs, or took a decision that rounding may change");
    } else if (error_in > 0 && DecidesByItsInputs(graph_, id)) {
      Set(id, Role::kUndecidable, id,
          "it decides by its inputs, and rounding in them is enough for another decision");
    } else if (facts.error_out <= kGrowth * error_in) {
      const NodeId from = CarriedFrom(id).from;
      const bool known = from != kNoNode;
      Set(id, known ? Role::kVictim : Role::kUndecidable, known ? from : id,
          known ? "its inputs carry an error within the tolerance"
                : "the error grew little by little: inputs just within the tolerance, outputs not");
    } else if (error_in > 0 && facts.error_out <= noise_.Tolerance(id)) {
      Set(id, Role::kUndecidable, id,
          "its inputs carry an error within the tolerance of the nodes before it, whose dtype is "
          "shorter, and so do its outputs");
    } else {
      return false;
    }
    return true;
  }

  /// A gradient is not wrong by itself where an error of a culprit came into its forward, too small
  /// to see there, but large enough for what it makes.
  bool TakesFromACulprit(NodeId id) const {
    const NodeId forward = flow_.ForwardOf(id);
    if (forward == kNoNode || noise_.Culprit(id) == kNoNode) return false;
    const double taken = std::max(InputError(id), facts_.nodes[forward].error_out);
    return facts_.nodes[id].error_out <= kGrowth * kGrowth * taken;
  }

  void BlameParameters(NodeId id) {
    std::string reason = "parameters differ: " + facts_.DifferingParameter(id);
    const NodeId before = passes_.WithGoldensParameters(id);
    if (before != kNoNode && noise_.LastCulprit() != kNoNode) {
      states_[id].moved_parameters = true;
      reason += "; those of " + std::string(graph_.nodes[before].name) +
                " agree: most likely a consequence of an earlier culprit";
    }
    Set(id, Role::kCulprit, id, reason);
  }

  void ClassifySource(NodeId id) {
    const NodeFacts& facts = facts_.nodes[id];
    if (facts.parameters_differ) return BlameParameters(id);
    if (!facts.outputs_differ) return;
    BlameMakers(id);
    if (states_[id].origin_below != kNoNode) {
      return Set(id, Role::kVictim, states_[id].origin_below, "the error starts inside it");
    }
    bool unclear = false;
    const NodeId holder = idle_.Hidden(id, &unclear);
    if ((holder != kNoNode || unclear) &&
        idle_.Waits(id, holder, "it takes NaN, of which the statistics say nothing")) {
      return;
    }
    if (holder != kNoNode && !idle_.IsUnwritten(holder)) Release(holder);
    if (facts.is_collective) {
      return Set(id, Role::kCollective, id,
                 "its inputs agree on this rank; what comes from the other ranks may not");
    }
    if (facts.inputs_unknown) {
      return Set(id, Role::kUndecidable, id,
                 "its outputs differ, but not all of its inputs could "
                 "be compared");
    }
    if (!facts.has_inputs && facts.argument_is_number && facts.argument_error > 0 &&
        last_origin_ != kNoNode) {
      return Set(id, Role::kUndecidable, id,
                 facts_.DifferingArgument(id) + "; that may follow from what differs before");
    }
    if (TakesFromACulprit(id)) {
      return Set(id, Role::kVictim, noise_.Culprit(id),
                 "what its forward took carries an error within the tolerance");
    }
    const NodeId first = noise_.Unexplained(id);
    // A call that only target makes may round as it likes, unless nothing else explains the rest.
    if (MayBlame(first) && (!Alone(first) || !ExplainedByRounding(id))) {
      Set(first, Role::kCulprit, first,
          LittleAtFirstReason(comparison_, facts_, first, Alone(first)));
      TellParents(first);
      return Set(id, Role::kAmplifier, first, "it makes an error in its inputs visible");
    }
    if (states_[id].role != Role::kNone || ExplainedByRounding(id)) return;
    Set(id, Role::kCulprit, id, SourceReason(comparison_, facts_, id));
    const NodeId rewired = states_[id].rewired_below;
    if (rewired == kNoNode) return;
    states_[rewired].role = Role::kVictim;
    states_[rewired].cause = id;
  }

  /// What a module gives back wrong may have been made inside by nodes without a partner.
  void BlameMakers(NodeId id) {
    if (states_[id].origin_below != kNoNode) return;
    for (const TensorUse& output : flow_.Outputs(id)) {
      if (output.error <= facts_.nodes[id].tolerance) continue;
      const NodeId maker = flow_.Producer(output);
      if (maker == kNoNode || maker == id || !Alone(maker)) continue;
      const NodeId blamed = Blamed(maker);
      if (blamed != kNoNode && states_[blamed].cause == kNoNode) BlameUnmatched(blamed, false);
    }
  }

  void TellParent(NodeId id) {
    const NodeId parent_id = graph_.nodes[id].parent;
    if (parent_id == kNoNode) return;
    const NodeState& state = states_[id];
    NodeState& parent = states_[parent_id];
    if (parent.rewired_below == kNoNode) parent.rewired_below = state.rewired_below;
    if (parent.origin_below == kNoNode) {
      const bool own = state.cause == id && state.rewired_below != id;
      parent.origin_below = own ? id : state.origin_below;
    }
    parent.amplifier_below |= state.amplifier_below || state.role == Role::kAmplifier;
  }

  DivergenceReport Report(const std::vector<NodeId>& order) {
    // Nobody to blame, and an argument differs: it may have changed a state that is not recorded.
    const bool blamed = std::ranges::any_of(
        states_, [](const NodeState& state) { return state.role == Role::kCulprit; });
    if (told_ != kNoNode && !blamed) {
      Set(told_, Role::kUndecidable, told_, EqualOutputsReason(facts_, told_));
    }
    if (idle_.IsAll()) ReleaseAll();
    DivergenceReport report = ReportOf(graph_, order, facts_, reasons_, &states_);
    report.excused = idle_.Left();
    std::erase_if(report.excused, [&](const Excused& excused) {
      return states_[excused.node].role != Role::kNone;
    });
    return report;
  }

  const Comparison& comparison_;
  const graph::Graph& graph_;
  const FactTable facts_;
  DataFlow flow_;
  NoiseTrace noise_;
  IdleMemory idle_;
  HiddenDifference hidden_;
  UnpairedCalls unpaired_;
  std::vector<NodeState> states_;
  EarlierPasses passes_;
  std::shared_ptr<ReasonTable> reasons_ = std::make_shared<ReasonTable>();
  NodeId last_origin_ = kNoNode;
  NodeId told_ = kNoNode;  ///< the first with another argument though what it returns is equal
};

}  // namespace

DivergenceReport FindDivergences(Comparison* comparison, size_t threads,
                                 const ToleranceProfile* profile) {
  if (comparison->mode == CompareMode::kStructure) return {};
  FactTable facts = TakeFacts(comparison, threads, profile);
  if (profile != nullptr) PassWithinRules(*profile, facts, comparison);
  DivergenceReport report = Finder(*comparison, std::move(facts)).Run();
  ApplyReport(report, comparison);
  return report;
}

}  // namespace msprobe::compare
