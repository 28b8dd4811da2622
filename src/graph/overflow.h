#pragma once

#include "dump/record.h"
#include "graph/graph.h"
#include "graph/node_name.h"

namespace msprobe::graph {

/// graph-semantics §3: how suspicious the numbers of one record are, by themselves.
OverflowLevel OverflowOf(const dump::Record& record, const NodeName& name);

/// Sets Node::overflow of all nodes that have a readable record. An unreadable one is left to
/// those who show it.
/// Stops early when cancelled.
void CheckOverflow(Graph* graph, size_t threads, const base::CancelToken* cancel);

}  // namespace msprobe::graph
