#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "msprobe/status.h"
#include "stats/ulp_kernels.h"

namespace msprobe::compare {

enum class CompareMode : uint8_t { kStatistics, kRealData, kMd5, kStructure };
std::string_view CompareModeName(CompareMode mode);  // "summary", "all", "md5", "structure"

/// From the two dump.json. Adds a note where one side decides against the other (tensor against
/// statistics → statistics).
CompareMode ChooseMode(const dump::RankDump& target, const dump::RankDump& golden,
                       base::Diagnostics* diagnostics);

enum class NodeStatus : uint8_t { kUnmatched, kPass, kWarning, kError, kUnreadable };
std::string_view NodeStatusName(NodeStatus status);

/// Metrics of one value of a target node against its partner, by mode:
/// statistics: diff Max, Min, Mean, Norm; relative error Max, Min, Mean, Norm
/// real data: Cosine, EucDist, MaxAbsErr, MaxRelativeErr, One/Five Thousandths ratio, of floats the
/// place in Comparison::ulps; 1 unused
/// A metric that cannot be computed is NaN in here and absent in every file.
struct ValueResult {
  std::array<double, 8> metrics;
  uint32_t golden_value = UINT32_MAX;  ///< index into the golden record's values; none: no partner
  bool md5_compared = false;           ///< kMd5 only: both sides have a checksum of the same kind
  bool md5_equal = false;              ///< kMd5 only
  bool unreadable = false;             ///< kRealData only
  /// kRealData only: a tensor file is missing, its metrics are those of statistics. They judge it,
  /// but stand in no file, whose columns are of real data.
  bool by_statistics = false;
  bool nan_on_both_sides = false;
  bool requires_grad_equal = true;
  bool dtype_equal = true;
  NodeStatus status = NodeStatus::kPass;
  uint32_t reason = 0;  ///< into Comparison::reasons; 0 = none
};

struct NodeResult {
  double index = std::numeric_limits<double>::quiet_NaN();        ///< 0 fine … 1 worst; NaN: none
  double worst_below = std::numeric_limits<double>::quiet_NaN();  ///< itself and all below
  uint32_t worst_count = 0;  ///< nodes below (without itself) in the worst band
  NodeStatus status = NodeStatus::kUnmatched;
  NodeStatus beside_values = NodeStatus::kPass;  ///< without what its values and their numbers say
  uint32_t reason = 0;                           ///< into Comparison::reasons; 0 = none
  uint32_t values_begin = 0;  ///< into Comparison::values, one per value of the target's record
  uint32_t values_size = 0;
};

/// A node without a partner whose record is damaged. (One with a partner is kUnreadable.)
struct DamagedNode {
  graph::NodeId node;
  bool golden;      ///< of which side
  uint32_t reason;  ///< into Comparison::reasons
};

struct FactTable;

inline constexpr size_t kUlpPlace = 6;  ///< into ValueResult::metrics

/// What one rank's target and golden have in common. The graphs are kept alive.
struct Comparison {
  CompareMode mode = CompareMode::kStatistics;
  std::shared_ptr<const graph::Graph> target;
  std::shared_ptr<const graph::Graph> golden;
  graph::Match match;
  std::vector<NodeResult> nodes;  ///< by target node
  std::vector<ValueResult> values;
  std::vector<stats::UlpCounts> ulps;  ///< real data: of the values that are floats
  std::vector<std::string> reasons;    ///< [0] is empty
  uint64_t unreadable_tensors = 0;
  std::vector<DamagedNode> damaged;  ///< the target's, then golden's, by node
  /// With CompareOptions::gather_facts: what FindDivergences() needs of the records, and takes.
  std::shared_ptr<FactTable> facts;

  const NodeResult& result(graph::NodeId target_node) const { return nodes[target_node]; }
  /// How many units in the last place the elements are apart; null where nothing was counted.
  const stats::UlpCounts* UlpsOf(const ValueResult& value) const;
};

/// "0:20 1:3 2-3:1": how many elements are how many units in the last place apart.
void AppendUlps(const stats::UlpCounts& counts, std::string* out);

struct CompareOptions {
  size_t threads = 1;
  const base::CancelToken* cancel = nullptr;
  bool gather_facts = false;  ///< FindDivergences() follows, and need not read the records again
  /// Called with (done, total) target nodes, from any thread.
  std::function<void(size_t, size_t)> progress;
};

/// Also decides about the pairs whose records nobody has checked (MatchOptions::leave_records).
Result<Comparison> Compare(std::shared_ptr<const graph::Graph> target,
                           std::shared_ptr<const graph::Graph> golden, graph::Match match,
                           CompareMode mode, const CompareOptions& options,
                           base::Diagnostics* diagnostics);

/// Collections and what lies below each node, children first; Compare() has done it.
void JudgeParents(Comparison* comparison);

}  // namespace msprobe::compare
