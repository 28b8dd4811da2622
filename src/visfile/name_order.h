#pragma once

#include <vector>

#include "graph/graph.h"

namespace msprobe::visfile {

/// `ids` in the order of their names' bytes, as SQLite sorts text. Names of nodes begin with much
/// the same, so eight bytes are compared at once, and none of them again where they are equal.
std::vector<graph::NodeId> SortedByName(const graph::Graph& graph, std::vector<graph::NodeId> ids);

}  // namespace msprobe::visfile
