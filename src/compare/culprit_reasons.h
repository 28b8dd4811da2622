#pragma once

#include <string>

#include "compare/comparison.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Why a node whose inputs agree and whose outputs do not is the culprit: what else is known of it.
std::string SourceReason(const Comparison& comparison, const FactTable& facts, graph::NodeId id);

/// Why a node without a partner is the culprit: golden has none of its name, or that one has no
/// partner either. `made`: how what it made differs from what golden used in its place.
std::string UnpairedReason(const Comparison& comparison, graph::NodeId id, const std::string& made);

}  // namespace msprobe::compare
