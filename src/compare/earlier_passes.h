#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/comparison.h"
#include "compare/data_flow.h"
#include "compare/divergence_report.h"
#include "compare/node_facts.h"
#include "compare/shared_gradients.h"

namespace msprobe::compare {

/// The passes of a call or module before the one that is looked at: what differs in them already is
/// not that one's doing.
class EarlierPasses {
 public:
  /// All are kept by reference.
  EarlierPasses(const Comparison& comparison, const FactTable& facts, const DataFlow& flow,
                const std::vector<NodeState>& states);

  /// Once more, after `id` got its role.
  void Note(graph::NodeId id);

  /// Backward: its forward, if that diverged. parameters_grad: also the module's backward, and
  /// those of all modules that share the parameter. Else kNoNode.
  graph::NodeId Diverged(graph::NodeId id) const;

  /// The first call of the module, if that is another one and took golden's parameters; else
  /// kNoNode.
  graph::NodeId WithGoldensParameters(graph::NodeId id) const;

  const SharedGradients& shared_gradients() const { return shared_; }

 private:
  struct Passes {
    graph::NodeId forward = graph::kNoNode;   ///< the first that diverged
    graph::NodeId backward = graph::kNoNode;  ///< the first that diverged
  };
  std::string_view ModuleOf(graph::NodeId id) const;
  bool HasDiverged(graph::NodeId id) const;
  graph::NodeId DivergedPassOf(graph::NodeId gradient) const;

  const graph::Graph& graph_;
  const FactTable& facts_;
  const DataFlow& flow_;
  const std::vector<NodeState>& states_;
  SharedGradients shared_;
  std::unordered_map<std::string_view, Passes> passes_;  ///< by "Module.path.Class."
};

}  // namespace msprobe::compare
