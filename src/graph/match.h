#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "msprobe/status.h"

namespace msprobe::graph {

enum class MatchMode : uint8_t { kStrict, kLoose };

/// Why a node has no partner, or (loose) why its pair is `mismatched`.
enum class MatchReason : uint8_t {
  kNone,
  kNoSuchName,
  kOtherParent,
  kParentUnmatched,
  kOtherCount,  ///< other number of inputs or outputs
  kOtherType,
  kOtherShape,
  kOtherDType,  ///< loose: only a warning
};
std::string_view MatchReasonText(MatchReason reason);

/// layer mapping: ClassName (of the target) → {child.path: golden.child.path}, longest first.
struct LayerMapping {
  struct Rule {
    std::string target_path;
    std::string golden_path;
  };
  std::unordered_map<std::string, std::vector<Rule>> by_class;  ///< "TopLayer" for the root
};

/// Errors: NotFound, InvalidArgument (yaml is broken or has another structure; names the line).
Result<LayerMapping> LoadLayerMapping(const std::filesystem::path& path);

struct MatchOptions {
  MatchMode mode = MatchMode::kStrict;
  bool fuzzy = false;
  bool use_mapping = false;  ///< -lm, also bare: class names may differ, type and shape are ignored
  LayerMapping mapping;
  size_t threads = 1;
  const base::CancelToken* cancel = nullptr;
};

struct Match {
  std::vector<NodeId> golden_of_target;  ///< by target node; kNoNode: unmatched
  std::vector<NodeId> target_of_golden;
  std::vector<MatchReason> target_reason;
  std::vector<MatchReason> golden_reason;
  std::vector<bool> mismatched;  ///< by target node (loose): paired, but type/shape/count differ
  std::vector<bool> by_mapping;  ///< by target node: paired by the yaml, type and shape ignored
};

/// Roots always match. Reads the records of both sides where the mode compares types and shapes.
/// Errors: Cancelled.
Result<Match> MatchGraphs(const Graph& target, const Graph& golden, const MatchOptions& options,
                          base::Diagnostics* diagnostics);

}  // namespace msprobe::graph
