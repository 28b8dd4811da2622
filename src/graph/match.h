#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "msprobe/status.h"

namespace msprobe::graph {

enum class MatchMode : uint8_t { kStrict, kLoose, kAuto };

/// Why a node has no partner, or (loose) why its pair is `mismatched`.
enum class MatchReason : uint8_t {
  kNone,
  kNoSuchName,
  kOtherParent,
  kParentUnmatched,
  kOtherCount,  ///< other number of inputs or outputs
  kOtherType,
  kOtherShape,
  kOtherDType,      ///< loose: only a warning
  kNoCounterpart,   ///< auto: nothing of its kind and shapes at its place
  kAmbiguous,       ///< auto: several alike at its place, a choice would be a guess
  kWrapper,         ///< auto: it only passes calls on to a module that is matched
  kFusedProjection  ///< auto: its output is a part of, or made of, outputs on the other side
};
inline constexpr size_t kMatchReasons = static_cast<size_t>(MatchReason::kFusedProjection) + 1;
std::string_view MatchReasonText(MatchReason reason);

/// layer mapping: ClassName (of the target) → {child.path: golden.child.path}, longest first.
struct LayerMapping {
  struct Rule {
    std::string target_path;
    std::string golden_path;
    size_t number = 0;  ///< among all rules
  };
  std::unordered_map<std::string, std::vector<Rule>> by_class;  ///< "TopLayer" for the root
};

/// Errors: NotFound, InvalidArgument (yaml is broken or has another structure; names the line).
Result<LayerMapping> LoadLayerMapping(const std::filesystem::path& path);

/// What the records of a pair must have in common.
enum class RecordRule : uint8_t {
  kSame,            ///< number, type and shape
  kSameUpToDType,   ///< and dtype, which comes last
  kShapesInCommon,  ///< shapes only, of the values that both have
};

struct MatchOptions {
  MatchMode mode = MatchMode::kStrict;
  bool fuzzy = false;
  bool use_mapping = false;  ///< -lm, also bare: class names may differ, type and shape are ignored
  LayerMapping mapping;
  /// The caller goes on to compare::Compare(), which reads the records anyway: where they only
  /// decide about their own pair, they are left unread, see Match::unchecked.
  bool leave_records = false;
  size_t threads = 1;
  const base::CancelToken* cancel = nullptr;
};

/// Several projections of one input on one side, their concatenation on the other.
struct FusedGroup {
  std::vector<NodeId> targets;
  std::vector<NodeId> goldens;
  float confidence = 0;
};

inline constexpr uint32_t kNoGroup = UINT32_MAX;

struct Match {
  std::vector<NodeId> golden_of_target;  ///< by target node; kNoNode: unmatched
  std::vector<NodeId> target_of_golden;
  std::vector<MatchReason> target_reason;
  std::vector<MatchReason> golden_reason;
  std::vector<bool> mismatched;  ///< by target node (loose): paired, but type/shape/count differ
  std::vector<bool> by_mapping;  ///< by target node: type and shape are not held against the pair
  std::vector<bool> applied_rules;  ///< of the layer mapping, by number; those behind: not applied
  std::vector<float> confidence;    ///< by target node, of pairs, 0 … 1; only filled by kAuto
  std::vector<FusedGroup> groups;   ///< kAuto; their nodes have no partner
  std::vector<uint32_t> target_group;  ///< kAuto: by node, into groups; kNoGroup: in none
  std::vector<uint32_t> golden_group;
  /// By which rule the records of all pairs but the roots have still to be checked, and BreakPair()
  /// called for those that break it; none: that is done.
  std::optional<RecordRule> unchecked;
};

/// The records of a pair break `match->unchecked` (kSame: it is none; kSameUpToDType: it stays one,
/// but says so).
void BreakPair(NodeId target, MatchReason reason, Match* match);

/// Why `node` of `graph` has no partner: the text of `reason`, or that a dump.json which is cut off
/// lost a record.
std::string UnmatchedText(MatchReason reason, const Graph& graph, const Graph& other, NodeId node);

/// What kAuto has to say of a target node: "matched automatically, confidence 0.85", "part of a
/// fused projection: q_proj, k_proj, v_proj = linear_qkv"; else UnmatchedText().
std::string MatchNote(const Match& match, const Graph& target, const Graph& golden, NodeId node,
                      bool is_target);

/// Roots always match. Reads the records of both sides where the mode compares types and shapes.
/// Errors: Cancelled.
Result<Match> MatchGraphs(const Graph& target, const Graph& golden, const MatchOptions& options);

}  // namespace msprobe::graph
