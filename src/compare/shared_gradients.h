#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compare/comparison.h"
#include "compare/data_flow.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Modules that share a parameter (an embedding and the head with its weights) have a
/// parameters_grad each, and all of them hold the one gradient to which each module's backward
/// adds.
class SharedGradients {
 public:
  SharedGradients(const Comparison& comparison, const FactTable& facts, const DataFlow& flow);

  /// The parameters_grad of other modules that hold what differs in `id`; none if more differs.
  std::span<const graph::NodeId> With(graph::NodeId id) const;

  /// Such a gradient is complete behind the last backward of them all: puts the nodes there, the
  /// one whose place that is first.
  void MoveToTheLast(std::vector<graph::NodeId>* order) const;

 private:
  std::unordered_map<graph::NodeId, std::vector<graph::NodeId>> with_;
};

}  // namespace msprobe::compare
