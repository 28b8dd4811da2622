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

  /// The largest error of all that was taken so far, and made before the node noted last.
  double Largest() const { return largest_; }

 private:
  struct Noise {
    graph::NodeId first = graph::kNoNode;
    double tolerance = 0;
  };
  graph::NodeId AloneMaker(graph::NodeId id) const;
  bool IsUnexplained(graph::NodeId first) const;

  const FactTable& facts_;
  const DataFlow& flow_;
  std::vector<Noise> noise_;
  double largest_ = 0;
  double made_last_ = 0;
};

}  // namespace msprobe::compare
