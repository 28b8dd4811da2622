#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compare/comparison.h"
#include "compare/doubtful_pairs.h"
#include "compare/fingerprint_map.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Which node of the target made the data that another one takes: told by equal fingerprints.
class DataFlow {
 public:
  /// Both are kept by reference.
  DataFlow(const Comparison& comparison, const FactTable& facts);

  std::span<const TensorUse> Inputs(graph::NodeId id) const;
  std::span<const TensorUse> Outputs(graph::NodeId id) const;

  /// Remembers what `id` made; nodes come in completion order. A module gives on what a node inside
  /// it made.
  void NoteOutputs(graph::NodeId id);

  /// Who made that data last, of all noted nodes; kNoNode if nobody did.
  graph::NodeId Producer(const TensorUse& use) const;

  bool Unmatched(graph::NodeId id) const {
    return comparison_.match.golden_of_target[id] == graph::kNoNode;
  }
  /// Without a partner, or with one that is a guess and took other data.
  bool Alone(graph::NodeId id) const {
    return Unmatched(id) || (calls_[id].doubtful && facts_.nodes[id].inputs_differ);
  }

  /// How often target and golden make such a call in that place.
  const CallCounts& Calls(graph::NodeId id) const { return calls_[id]; }

  /// The forward of a call, for its backward and the gradients of its parameters; else kNoNode.
  graph::NodeId ForwardOf(graph::NodeId id) const { return facts_.nodes[id].forward; }

 private:
  bool IsInside(graph::NodeId id, graph::NodeId outer) const;

  const Comparison& comparison_;
  const FactTable& facts_;
  std::vector<CallCounts> calls_;
  struct View {
    graph::NodeId node;
    uint32_t use;  ///< into FactTable::uses
  };
  FingerprintMap<graph::NodeId> producers_;
  FingerprintMap<View> views_;
  std::unordered_map<uint64_t, graph::NodeId> parameter_owners_;
};

}  // namespace msprobe::compare
