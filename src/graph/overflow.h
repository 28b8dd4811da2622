#pragma once

#include "dump/record.h"
#include "graph/graph.h"
#include "graph/node_name.h"

namespace msprobe::graph {

/// How suspicious the numbers of one record are, by themselves.
OverflowLevel OverflowOf(const dump::Record& record, const NodeName& name);

/// What the numbers of one side of a node say; a later one is worse.
enum class Finiteness : uint8_t {
  kFinite,
  kMasked,  ///< -Inf is the smallest and nothing else is wrong: so masks look
  kInfinite,
  kNaN,
};

/// The worst value of each side of a record. Memory that nobody has written yet does not count.
struct FinitenessReport {
  Finiteness input = Finiteness::kFinite;
  Finiteness weights = Finiteness::kFinite;
  Finiteness output = Finiteness::kFinite;
  std::string_view input_key, weights_key, output_key;  ///< "input.0"; point into the record
  /// A scalar argument that the call puts somewhere without giving out a tensor: x[i] = nan. It
  /// stands for the output.
  bool output_is_argument = false;
  bool fills_in_infinity = false;  ///< it was asked to write -Inf: masked_fill(…, -inf), full …
};
FinitenessReport FinitenessOf(const dump::Record& record, const NodeName& name);

/// Sets Node::overflow of all nodes that have a readable record. An unreadable one is left to
/// those who show it. Stops early when cancelled.
void CheckOverflow(Graph* graph, size_t threads, const base::CancelToken* cancel);

}  // namespace msprobe::graph
