#include "compare/noise_trace.h"

#include <algorithm>
#include <cmath>

namespace msprobe::compare {

using graph::kNoNode;
using graph::NodeId;

void NoiseTrace::Note(NodeId id) {
  const NodeFacts& facts = facts_.nodes[id];
  largest_ = std::max({largest_, made_last_, facts.error_in, facts.parameter_error});
  made_last_ = facts.error_out;
  const bool alone = flow_.Alone(id);
  if (!alone && facts.error_out == 0 && facts.error_in == 0) return;
  Noise& noise = noise_[id];
  double worst = 0;
  for (const TensorUse& input : flow_.Inputs(id)) {
    const NodeId maker = input.error > 0 || alone ? flow_.Producer(input) : kNoNode;
    if (maker == kNoNode) continue;
    noise.tolerance = std::max(noise.tolerance, noise_[maker].tolerance);
    if (noise.culprit == kNoNode) noise.culprit = noise_[maker].culprit;
    if (noise_[maker].first == kNoNode || (noise.first != kNoNode && input.error < worst)) continue;
    worst = input.error;
    noise.first = noise_[maker].first;
  }
  const NodeId forward = flow_.ForwardOf(id);
  if (forward != kNoNode) {
    noise.tolerance = std::max(noise.tolerance, noise_[forward].tolerance);
    if (noise.first == kNoNode) noise.first = noise_[forward].first;
    if (noise.culprit == kNoNode) noise.culprit = noise_[forward].culprit;
  }
  if (noise.first == kNoNode && facts.error_in > 0) noise.first = AloneMaker(id);
  const bool unknown = noise.first == kNoNode && noise.culprit == kNoNode;
  if (unknown && facts.error_in > 0) noise.culprit = last_culprit_;
  if (!alone) noise.tolerance = std::max(noise.tolerance, facts.tolerance);
  // A gradient is computed from what its forward took as well.
  const auto takes_error = [this](NodeId call) {
    return facts_.nodes[call].error_in > 0 || facts_.nodes[call].parameter_error > 0;
  };
  const bool exact =
      facts.has_inputs && !takes_error(id) && (forward == kNoNode || !takes_error(forward));
  if (noise.first == kNoNode && exact && !alone && !facts.differs()) noise.first = id;
}

/// Who, without a partner, made an input that is not exactly golden's.
NodeId NoiseTrace::AloneMaker(NodeId id) const {
  for (const TensorUse& input : flow_.Inputs(id)) {
    const NodeId maker = input.error > 0 ? flow_.Producer(input) : kNoNode;
    if (maker != kNoNode && maker != id && flow_.Alone(maker)) return maker;
  }
  return kNoNode;
}

bool NoiseTrace::IsUnexplained(NodeId first) const {
  constexpr double kRoundings = 8;
  constexpr double kFewTerms = 64;  // exp, tanh, erf are off by some roundings, as a sum of so many
  if (first == kNoNode) return false;
  if (flow_.Alone(first)) return true;
  const NodeFacts& facts = facts_.nodes[first];
  const double rounding =
      kRoundings * UnitRoundoff(facts.dtype) * std::sqrt(std::max(kFewTerms, facts.reduction));
  return facts.error_out > rounding;
}

NodeId NoiseTrace::Unexplained(NodeId id) const {
  for (const TensorUse& input : flow_.Inputs(id)) {
    const NodeId maker = input.error > 0 ? flow_.Producer(input) : kNoNode;
    if (maker == kNoNode || maker == id) continue;
    const NodeId first = flow_.Alone(maker) ? maker : noise_[maker].first;
    if (IsUnexplained(first)) return first;
  }
  const NodeId forward = flow_.ForwardOf(id);
  if (forward == kNoNode) return kNoNode;
  return IsUnexplained(noise_[forward].first) ? noise_[forward].first : kNoNode;
}

}  // namespace msprobe::compare
