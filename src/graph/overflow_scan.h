#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/overflow.h"

namespace msprobe::graph {

/// A node whose values are not finite.
struct OverflowEvent {
  NodeId node = kNoNode;
  uint32_t position = 0;                   ///< in the order in which nodes are left
  Finiteness input = Finiteness::kFinite;  ///< parameters included
  Finiteness output = Finiteness::kFinite;
  bool in_weights = false;     ///< of the inputs only parameters are not finite
  bool from_argument = false;  ///< a number that the call was given and put somewhere
  bool is_backward = false;
  bool is_collective = false;
  bool is_later_source = false;  ///< made out of finite values, though the rank has others already
  std::string name;
  std::string key;     ///< the value that shows it: "output.0"
  std::string after;   ///< the record before it in that order; may be empty
  std::string source;  ///< the frame of the stack that made the call; may be empty

  bool taken_in() const { return input > Finiteness::kMasked; }
  /// Finite values (or a mask) went in, others came out.
  bool is_source() const { return !taken_in() && output != Finiteness::kFinite; }
};

/// What one rank has to say about NaN and Inf. The graph is not needed any more.
struct OverflowScan {
  struct Communication {
    NodeId node = kNoNode;
    uint32_t position = 0;
    bool sends_overflow = false;  ///< its input is not finite
  };
  uint64_t nodes = 0;
  uint64_t unreadable = 0;
  uint64_t masked = 0;  ///< no events, though they hold -Inf: masks
  uint64_t event_count = 0;
  uint64_t source_count = 0;
  std::vector<OverflowEvent> events;         ///< the first ones, in order
  std::vector<OverflowEvent> later_sources;  ///< the first ones besides events[0]
  std::vector<Communication> communication;  ///< by node
};

/// The dump as a flat list below the root, for dumps without a construct.json (level L1).
std::unique_ptr<Graph> BuildFlatGraph(std::shared_ptr<const dump::RankDump> dump);

/// Reads every record once. Masks (-Inf written on purpose, until something makes more of it) and
/// memory that nobody has written are no events; a module is one only if nothing inside it is.
OverflowScan ScanOverflow(const Graph& graph, const base::CancelToken* cancel);

}  // namespace msprobe::graph
