#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "viewer/recorded_node.h"

namespace msprobe::viewer {

/// What comparing two recorded nodes says.
struct PairVerdict {
  float index;  ///< NaN: nothing could be measured
  compare::NodeStatus status = compare::NodeStatus::kPass;
  std::string reason;
  RecordedNode metrics;  ///< by place, fields that only the comparison adds
};

/// Compares what a file recorded of two nodes that a person has paired, by the same rules as
/// `msprobe graph -lm`: types and shapes may differ. Real data is not in the file: such pairs stay
/// without an index.
PairVerdict CompareRecorded(compare::CompareMode mode, std::string_view target_name,
                            const RecordedNode& target, std::string_view golden_name,
                            const RecordedNode& golden);

}  // namespace msprobe::viewer
