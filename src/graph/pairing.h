#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/match.h"
#include "graph/record_check.h"

namespace msprobe::graph {

/// A Match in the making: links are always symmetric.
class Pairing {
 public:
  Pairing(const Graph& target, const Graph& golden);

  const Graph& target() const { return target_; }
  const Graph& golden() const { return golden_; }
  Match& match() { return match_; }

  NodeId golden_of(NodeId target) const { return match_.golden_of_target[target]; }
  bool is_free(NodeId golden) const { return match_.target_of_golden[golden] == kNoNode; }
  /// The golden parent that the partners of all children of `target` share, else kNoNode.
  NodeId PartnersParent(NodeId target) const;
  void Link(NodeId target, NodeId golden);
  /// Notes why two nodes that might have been a pair are none.
  void Reject(NodeId target, NodeId golden, MatchReason reason);

  /// Compares the records of all linked `targets`, in parallel, and calls decide(target, reason)
  /// for those that break `rule`. Records that cannot be read break none: whoever shows their
  /// values tells.
  template <class Decide>
  void Check(std::span<const NodeId> targets, RecordRule rule, const MatchOptions& options,
             const Decide& decide) {
    const std::vector<MatchReason> reasons = Reasons(targets, rule, options);
    for (size_t i = 0; i < targets.size(); ++i) {
      if (reasons[i] != MatchReason::kNone) decide(targets[i], reasons[i]);
    }
  }

 private:
  std::vector<MatchReason> Reasons(std::span<const NodeId> targets, RecordRule rule,
                                   const MatchOptions& options) const;

  const Graph& target_;
  const Graph& golden_;
  Match match_;
};

/// fuzzy, layer mapping, or both.
void MatchByScope(const MatchOptions& options, Pairing* pairing);

/// Without names: by kind, class, shapes and order. A pair that might be another is none.
void MatchAutomatically(const MatchOptions& options, Pairing* pairing);

}  // namespace msprobe::graph
