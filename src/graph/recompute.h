#pragma once

#include "graph/graph.h"

namespace msprobe::graph {

/// Moves forwards that activation checkpointing ran again from the root under the backward that
/// needed them. Parents are set and free of cycles; children are not filled yet.
void MoveRecomputed(Graph* graph);

}  // namespace msprobe::graph
