#pragma once

#include <vector>

#include "compare/comparison.h"
#include "compare/data_flow.h"

namespace msprobe::compare {

/// Calls without a partner, and which of them golden does not make at all.
class UnpairedCalls {
 public:
  /// Both are kept by reference.
  UnpairedCalls(const Comparison& comparison, const DataFlow& flow)
      : comparison_(comparison), flow_(flow), extra_(comparison.nodes.size()) {}

  /// In completion order, before DataFlow::NoteOutputs(id).
  void Note(graph::NodeId id);

  /// Has the same name on both sides, but is called in another way.
  bool IsOtherCall(graph::NodeId id) const;

  /// Of those on the way to what `id` made: the one that golden does not make. Which of several:
  /// who made a NaN or an infinity of finite numbers, else the last. kNoNode where golden makes
  /// such calls too, so that which of them it makes is as unsure as the pairs are.
  graph::NodeId ExtraCall(graph::NodeId id) const { return extra_[id].call; }

 private:
  struct Extra {
    graph::NodeId call = graph::kNoNode;
    bool makes_nan = false;
  };

  const Comparison& comparison_;
  const DataFlow& flow_;
  std::vector<Extra> extra_;
};

}  // namespace msprobe::compare
