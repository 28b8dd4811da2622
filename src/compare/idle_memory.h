#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/comparison.h"
#include "compare/data_flow.h"
#include "compare/first_divergence.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Data that differs without being anybody's result: memory that nobody has written yet (of
/// torch.empty), or that no recorded node made. Calls that only move it, or overwrite it, are no
/// divergence; who computes something else from it makes it one.
class IdleMemory {
 public:
  /// All are kept by reference.
  IdleMemory(const Comparison& comparison, const FactTable& facts, const DataFlow& flow);

  bool Holds(graph::NodeId id) const {
    return id != graph::kNoNode && origins_[id] != graph::kNoNode && !takes_only_[id];
  }
  /// Of one that holds some: it came out of a call which gives out unwritten memory.
  bool IsUnwritten(graph::NodeId id) const { return chains_.at(origins_[id]).reason.empty(); }

  /// `id` gives out memory that nobody has written.
  void Allocate(graph::NodeId id) { Begin(id, {}); }

  /// True if `id` may wait until somebody computes something from what differs in it. `from`: a
  /// holder from whom it has that; kNoNode: nobody knows. `reason`: what to say of it should it
  /// begin here.
  bool Waits(graph::NodeId id, graph::NodeId from, std::string_view reason);

  /// Whose data comes out of a node although its inputs seem to agree: of a module all that
  /// differs, of a call that only moves data any of its inputs. `*unclear`: such a call takes NaN,
  /// of which statistics say nothing.
  graph::NodeId Hidden(graph::NodeId id, bool* unclear) const;

  /// What was found idle and is not: the first of it, what to say, and who has it from there.
  struct Chain {
    graph::NodeId origin = graph::kNoNode;
    std::string reason;  ///< empty: unwritten memory
    std::vector<graph::NodeId> others;
  };
  Chain Release(graph::NodeId holder);

  /// All that compared anything holds or takes idle memory.
  bool IsAll() const;
  /// Where what is idle began without being unwritten memory, by node.
  std::vector<graph::NodeId> UnknownOrigins() const;
  /// What stayed idle, by node.
  std::vector<Excused> Left() const;

 private:
  void Begin(graph::NodeId id, std::string_view reason);
  bool OnlyMoves(graph::NodeId id) const;
  bool Overwrites(graph::NodeId id) const;
  graph::NodeId MakerOfOutputs(graph::NodeId module) const;

  const Comparison& comparison_;
  const FactTable& facts_;
  const DataFlow& flow_;
  std::vector<graph::NodeId> origins_;  ///< by node: where what it holds or takes began
  std::vector<bool> takes_only_;
  std::unordered_map<graph::NodeId, Chain> chains_;
};

}  // namespace msprobe::compare
