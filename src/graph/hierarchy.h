#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "dump/rank_dump.h"
#include "graph/graph.h"

namespace msprobe::graph {

/// Fills graph->nodes with root, construct.json and what only dump.json knows, and gives each a
/// parent so that all of them hang below the root. Collections come later.
void BuildHierarchy(Graph* graph, size_t threads, base::Diagnostics* diagnostics);

/// Appends a node called `name`, or `name` with the first free number behind it.
NodeId AddGroup(Graph* graph, std::string_view name, NodeKind kind, NodeId parent);

}  // namespace msprobe::graph
