#pragma once

#include "dump/record.h"
#include "graph/match.h"

namespace msprobe::graph {

/// The first rule that the two records break: number before type before shape before dtype.
/// Values are compared by position inside inputs, outputs and parameters; kNone: none.
MatchReason CheckRecords(const dump::Record& target, const dump::Record& golden, RecordRule rule);

}  // namespace msprobe::graph
