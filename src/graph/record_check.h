#pragma once

#include "dump/record.h"
#include "graph/match.h"

namespace msprobe::graph {

enum class RecordRule : uint8_t {
  kSame,            ///< number, type and shape
  kSameUpToDType,   ///< and dtype, which comes last
  kShapesInCommon,  ///< shapes only, of the values that both have
};

/// The first rule that the two records break: number before type before shape before dtype.
/// Values are compared by position inside inputs, outputs and parameters; kNone: none.
MatchReason CheckRecords(const dump::Record& target, const dump::Record& golden, RecordRule rule);

}  // namespace msprobe::graph
