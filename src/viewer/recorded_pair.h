#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "viewer/recorded_node.h"

namespace msprobe::viewer {

/// What comparing two recorded nodes says.
struct PairVerdict {
  float index;  ///< NaN: nothing could be measured
  compare::NodeStatus status = compare::NodeStatus::kPass;
  std::string reason;
  RecordedNode metrics;  ///< by place, fields that only the comparison adds
  /// What the nodes were before: nothing of that holds while they are a pair.
  compare::Role target_role = compare::Role::kNone;
  compare::Role golden_role = compare::Role::kNone;
};

/// Where the tensor files of a node may be read.
struct TensorPlace {
  std::filesystem::path directory;  ///< empty: nowhere, `obstacle` says why
  std::string obstacle;
};

/// Where the tensors of a unit lie: `directory` as its file says, if it is in one of `roots`.
TensorPlace PlaceOfTensors(const std::string& directory,
                           const std::vector<std::filesystem::path>& roots);

/// One side of a pair.
struct PairSide {
  std::string_view name;
  const RecordedNode& node;
  const TensorPlace& tensors;
};

/// Compares what a file recorded of two nodes that a person has paired, by the same rules as
/// `msprobe graph -lm`: types and shapes may differ. Real data is read from the tensor files; where
/// these cannot be reached the pair stays without an index, and the verdict says why.
PairVerdict CompareRecorded(compare::CompareMode mode, const PairSide& target,
                            const PairSide& golden);

}  // namespace msprobe::viewer
