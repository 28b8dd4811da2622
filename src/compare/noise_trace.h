#pragma once

#include <vector>

#include "compare/data_flow.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Follows errors that are within the tolerances: where they began, and how large the tolerances
/// were on the way. An op may make them visible, and is not their cause then.
class NoiseTrace {
 public:
  /// Both are kept by reference.
  NoiseTrace(const FactTable& facts, const DataFlow& flow)
      : facts_(facts), flow_(flow), noise_(facts.nodes.size()) {}

  /// In completion order, before DataFlow::NoteOutputs(id).
  void Note(graph::NodeId id);

  /// Where the noise in what `id` takes began, if rounding does not explain that beginning: a node
  /// whose inputs are exactly golden's, or one without a partner. Else kNoNode.
  graph::NodeId Unexplained(graph::NodeId id) const;

  /// The largest tolerance of all nodes through which the noise came; 0 without noise.
  double Tolerance(graph::NodeId id) const { return noise_[id].tolerance; }

  /// The error of what `id` made is that of `culprit`, as far as is known.
  void Comes(graph::NodeId id, graph::NodeId culprit) {
    noise_[id].culprit = culprit;
    if (culprit == id) last_culprit_ = id;
  }

  /// The culprit whose error, within the tolerances, `id` or its forward took; the last one where
  /// it is not known how that came there. kNoNode: it took none.
  graph::NodeId Culprit(graph::NodeId id) const { return noise_[id].culprit; }

  /// Of all nodes so far; kNoNode: there is none.
  graph::NodeId LastCulprit() const { return last_culprit_; }

  /// The largest error of all that was taken so far, and made before the node noted last.
  double Largest() const { return largest_; }

 private:
  struct Noise {
    graph::NodeId first = graph::kNoNode;
    graph::NodeId culprit = graph::kNoNode;
    double tolerance = 0;
  };
  graph::NodeId AloneMaker(graph::NodeId id) const;
  bool IsUnexplained(graph::NodeId first) const;

  const FactTable& facts_;
  const DataFlow& flow_;
  std::vector<Noise> noise_;
  graph::NodeId last_culprit_ = graph::kNoNode;
  double largest_ = 0;
  double made_last_ = 0;
};

}  // namespace msprobe::compare
