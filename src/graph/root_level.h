#pragma once

#include <vector>

#include "graph/graph.h"

namespace msprobe::graph {

/// Numbers the micro steps along the root's children and wraps runs of two or more APIs among them
/// in Apis_Between_Modules.<k>; a run ends where a micro step does. Returns the root's children.
std::vector<NodeId> ArrangeRootLevel(Graph* graph);

/// Gives every node without a micro step of its own that of its parent. Children must be filled.
void SpreadMicroSteps(Graph* graph);

}  // namespace msprobe::graph
