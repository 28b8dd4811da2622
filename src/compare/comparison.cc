#include "compare/comparison.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "base/thread_pool.h"
#include "compare/fused_compare.h"
#include "compare/node_compare.h"
#include "compare/node_facts.h"
#include "compare/reason_table.h"
#include "compare/verdict.h"

namespace msprobe::compare {

namespace {

constexpr size_t kNodesPerPart = 512;
constexpr size_t kTensorNodesPerPart = 4;  // nodes with tensor files: even work for few nodes

void Note(std::string fact, base::Diagnostics* diagnostics) {
  diagnostics->Add(base::DiagnosticKind::kNote,
                   Status(StatusCode::kInvalidArgument, std::move(fact)));
}

/// Puts the parts into the comparison in their order.
class Assembler {
 public:
  Assembler(Comparison* comparison, base::Diagnostics* diagnostics)
      : comparison_(*comparison), diagnostics_(*diagnostics) {}

  void Append(NodeResults&& part) {
    nodes_done_ += part.ids.size();
    MakeRoom(part.values.size(), &comparison_.values);
    std::vector<uint32_t> reason_ids;
    for (const std::string& reason : part.reasons.reasons()) {
      reason_ids.push_back(reasons_.Intern(reason));
    }
    const auto values_begin = static_cast<uint32_t>(comparison_.values.size());
    for (size_t i = 0; i < part.ids.size(); ++i) {
      NodeResult& node = comparison_.nodes[part.ids[i]];
      node = part.nodes[i];
      node.values_begin += values_begin;
      node.reason = reason_ids[node.reason];
    }
    const auto first_ulps = static_cast<double>(comparison_.ulps.size());
    const bool real_data = comparison_.mode == CompareMode::kRealData;
    for (ValueResult& value : part.values) {
      value.reason = reason_ids[value.reason];
      by_statistics_ += value.by_statistics;
      if (!real_data || value.by_statistics) continue;
      value.metrics[kUlpPlace] += first_ulps;  // NaN, none, stays NaN
    }
    comparison_.ulps.insert(comparison_.ulps.end(), part.ulps.begin(), part.ulps.end());
    comparison_.values.insert(comparison_.values.end(), part.values.begin(), part.values.end());
    for (base::Diagnostic& damage : part.damaged) {
      if (damage.kind == base::DiagnosticKind::kUnreadableTensor) {
        ++comparison_.unreadable_tensors;
      }
      diagnostics_.Add(damage.kind, std::move(damage.status));
    }
    for (DamagedNode& node : part.damaged_nodes) {
      node.reason = reason_ids[node.reason];
      comparison_.damaged.push_back(node);
    }
    huge_.insert(huge_.end(), part.huge.begin(), part.huge.end());
    for (const auto& [id, reason] : part.broken) graph::BreakPair(id, reason, &comparison_.match);
    if (comparison_.facts != nullptr) {
      MakeRoom(part.facts.uses.size(), &comparison_.facts->uses);
      AppendFacts(std::move(part.facts), comparison_.facts.get());
    }
    part = {};
  }

  const std::vector<graph::NodeId>& huge() const { return huge_; }
  void Finish() {
    comparison_.reasons = reasons_.reasons();
    if (by_statistics_ == 0) return;
    Note("some values have no tensor file on both sides: their statistics are compared (" +
             std::to_string(by_statistics_) + ")",
         &diagnostics_);
  }

 private:
  /// For what the nodes to come will need if they are like those before: doubling would at its end
  /// take up to three times the memory.
  template <class T>
  void MakeRoom(size_t more, std::vector<T>* values) {
    const size_t needed = values->size() + more;
    if (needed <= values->capacity()) return;
    constexpr double kMargin = 1.02;
    const double nodes_each = static_cast<double>(comparison_.nodes.size()) /
                              static_cast<double>(std::max<size_t>(1, nodes_done_));
    values->reserve(needed + more +
                    static_cast<size_t>(kMargin * (nodes_each - 1) * static_cast<double>(needed)));
  }

  Comparison& comparison_;
  base::Diagnostics& diagnostics_;
  ReasonTable reasons_;
  std::vector<graph::NodeId> huge_;
  size_t nodes_done_ = 0;
  uint64_t by_statistics_ = 0;
};

bool Cancelled(const CompareOptions& options) {
  return options.cancel != nullptr && options.cancel->cancelled();
}

class Comparer {
 public:
  Comparer(Comparison* comparison, const CompareOptions& options, base::Diagnostics* diagnostics)
      : comparison_(*comparison),
        options_(options),
        sides_{*comparison->target, *comparison->golden, comparison->match},
        assembler_(comparison, diagnostics) {}

  Status Run() {
    CompareNodes();
    CompareHugeNodes();
    CheckGoldenOnly();
    assembler_.Finish();
    return Cancelled(options_) ? CancelledError() : Status::Ok();
  }

 private:
  void CompareNodes() {
    const size_t count = comparison_.nodes.size();
    const size_t size =
        comparison_.mode == CompareMode::kRealData ? kTensorNodesPerPart : kNodesPerPart;
    std::vector<NodeResults> parts((count + size - 1) / size);
    std::vector<bool> done(parts.size());
    std::mutex mutex;
    size_t next = 0;  // the first that has not been appended
    base::ParallelFor(parts.size(), 1, options_.threads, [&](size_t first, size_t last) {
      for (size_t part = first; part < last && !Cancelled(options_); ++part) {
        NodeComparer comparer(sides_, comparison_.mode, 0, options_.cancel, &parts[part]);
        FactGatherer gatherer(comparison_, &parts[part].facts);
        const size_t end = std::min(count, (part + 1) * size);
        for (auto node = static_cast<graph::NodeId>(part * size); node < end; ++node) {
          comparer.Compare(node);
          if (comparison_.facts != nullptr) comparer.GatherFacts(node, &gatherer);
        }
        Progress(parts[part].ids.size());
        const std::lock_guard lock(mutex);
        done[part] = true;
        for (; next < parts.size() && done[next]; ++next) assembler_.Append(std::move(parts[next]));
      }
    });
  }

  void CompareHugeNodes() {
    const std::vector<graph::NodeId> huge = assembler_.huge();
    for (const graph::NodeId node : huge) {
      if (Cancelled(options_)) return;
      NodeResults part;
      NodeComparer(sides_, comparison_.mode, std::max<size_t>(1, options_.threads), options_.cancel,
                   &part)
          .Compare(node);
      assembler_.Append(std::move(part));
      Progress(1);
    }
  }

  /// Nothing is compared with them, but damage is told wherever it is.
  void CheckGoldenOnly() {
    const std::vector<graph::NodeId>& partners = comparison_.match.target_of_golden;
    std::vector<NodeResults> parts((partners.size() + kNodesPerPart - 1) / kNodesPerPart);
    base::ParallelFor(parts.size(), 1, options_.threads, [&](size_t first, size_t last) {
      for (size_t part = first; part < last && !Cancelled(options_); ++part) {
        NodeComparer comparer(sides_, comparison_.mode, 0, options_.cancel, &parts[part]);
        const size_t end = std::min(partners.size(), (part + 1) * kNodesPerPart);
        for (auto node = static_cast<graph::NodeId>(part * kNodesPerPart); node < end; ++node) {
          if (partners[node] == graph::kNoNode) comparer.CheckGoldenOnly(node);
        }
      }
    });
    for (NodeResults& part : parts) assembler_.Append(std::move(part));
  }

  void Progress(size_t nodes) {
    const size_t done = done_.fetch_add(nodes) + nodes;
    if (options_.progress) options_.progress(done, comparison_.nodes.size());
  }

  Comparison& comparison_;
  const CompareOptions& options_;
  NodeComparer::Sides sides_;
  Assembler assembler_;
  std::atomic<size_t> done_{0};
};

/// A collection of APIs has no record of its own: it is as bad as its worst child.
void JudgeCollection(const graph::Graph& graph, graph::NodeId id, double worst_band,
                     std::vector<NodeResult>* nodes) {
  NodeResult& result = (*nodes)[id];
  if (result.status == NodeStatus::kUnmatched) return;
  for (const graph::NodeId child : graph.children(id)) {
    const NodeResult& below = (*nodes)[child];
    if (std::isnan(result.index) || below.index > result.index) result.index = below.index;
    if (below.status > result.status) {
      result.status = below.status;
      result.reason = below.reason;
    }
  }
  // As of any node: what could not be read must not look like a pass to who knows only the index.
  if (result.status == NodeStatus::kUnreadable && result.index < worst_band) {
    result.index = std::numeric_limits<double>::quiet_NaN();
  }
}

/// The checksums of a dump are all of one kind: the first says which.
bool HasXorChecksums(const dump::RankDump& dump) {
  dump::Record record;
  for (dump::EntryId entry = 0; entry < dump.entry_count(); ++entry) {
    if (!dump.Read(entry, &record).ok()) continue;  // reported by whoever compares it
    for (const dump::Value& value : record.values) {
      if (!value.md5.empty()) return value.md5.starts_with("0x");
    }
  }
  return false;
}

}  // namespace

void JudgeParents(Comparison* comparison) {
  const graph::Graph& graph = *comparison->target;
  const double worst_band = WorstBand(comparison->mode);
  std::vector<NodeResult>& nodes = comparison->nodes;
  for (NodeResult& result : nodes) {
    result.worst_below = std::numeric_limits<double>::quiet_NaN();
    result.worst_count = 0;
  }
  for (const graph::NodeId id : graph::CompletionOrder(graph)) {
    const graph::Node& node = graph.nodes[id];
    if (node.kind == graph::NodeKind::kApiCollection) {
      JudgeCollection(graph, id, worst_band, &nodes);
    }
    NodeResult& result = nodes[id];
    if (std::isnan(result.worst_below) || result.index > result.worst_below) {
      result.worst_below = result.index;
    }
    if (node.parent == graph::kNoNode) continue;
    NodeResult& parent = nodes[node.parent];
    if (std::isnan(parent.worst_below) || result.worst_below > parent.worst_below) {
      parent.worst_below = result.worst_below;
    }
    parent.worst_count += result.worst_count + (result.index >= worst_band ? 1 : 0);
  }
}

void AppendUlps(const stats::UlpCounts& counts, std::string* out) {
  constexpr std::array<std::string_view, 8> kClasses = {"0",    "1",     "2-3",     "4-7",
                                                        "8-15", "16-63", "64-1023", "1024+"};
  bool first = true;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (!first) out->push_back(' ');
    first = false;
    out->append(kClasses[i]).append(1, ':').append(std::to_string(counts[i]));
  }
}

const stats::UlpCounts* Comparison::UlpsOf(const ValueResult& value) const {
  const double place = value.metrics[kUlpPlace];
  if (mode != CompareMode::kRealData || value.by_statistics) return nullptr;
  if (!(place < static_cast<double>(ulps.size()))) return nullptr;
  return &ulps[static_cast<size_t>(place)];
}

std::string_view CompareModeName(CompareMode mode) {
  switch (mode) {
    case CompareMode::kStatistics: return "summary";
    case CompareMode::kRealData: return "all";
    case CompareMode::kMd5: return "md5";
    case CompareMode::kStructure: return "structure";
  }
  return "";
}

std::string_view NodeStatusName(NodeStatus status) {
  switch (status) {
    case NodeStatus::kUnmatched: return "unmatched";
    case NodeStatus::kPass: return "pass";
    case NodeStatus::kWarning: return "warning";
    case NodeStatus::kError: return "error";
    case NodeStatus::kUnreadable: return "unreadable";
  }
  return "";
}

CompareMode ChooseMode(const dump::RankDump& target, const dump::RankDump& golden,
                       base::Diagnostics* diagnostics) {
  using dump::Task;
  if (target.task() == Task::kStructure || golden.task() == Task::kStructure) {
    if (target.task() != golden.task()) {
      Note("one side has task structure: only types and shapes are compared", diagnostics);
    }
    return CompareMode::kStructure;
  }
  const bool files = target.task() == Task::kTensor && golden.task() == Task::kTensor;
  if (target.has_checksums() && golden.has_checksums()) {
    if (HasXorChecksums(target) == HasXorChecksums(golden)) return CompareMode::kMd5;
    Note(std::string("the checksums of the two sides are of different kinds: ") +
             (files ? "tensor files" : "statistics") + " are compared",
         diagnostics);
  }
  if (files) return CompareMode::kRealData;
  if (target.task() != golden.task()) {
    Note("the tasks of the two sides differ: statistics are compared", diagnostics);
  }
  if (target.has_checksums() != golden.has_checksums()) {
    Note("only one side has checksums: statistics are compared", diagnostics);
  }
  return CompareMode::kStatistics;
}

Result<Comparison> Compare(std::shared_ptr<const graph::Graph> target,
                           std::shared_ptr<const graph::Graph> golden, graph::Match match,
                           CompareMode mode, const CompareOptions& options,
                           base::Diagnostics* diagnostics) {
  Comparison comparison;
  comparison.mode = mode;
  comparison.target = std::move(target);
  comparison.golden = std::move(golden);
  comparison.match = std::move(match);
  comparison.nodes.resize(comparison.target->nodes.size());
  // Real data takes far longer than its records, and huge tensors are compared out of turn.
  if (options.gather_facts && (mode == CompareMode::kStatistics || mode == CompareMode::kMd5)) {
    comparison.facts = std::make_shared<FactTable>();
    comparison.facts->nodes.reserve(comparison.nodes.size());
  }
  MSPROBE_RETURN_IF_ERROR(Comparer(&comparison, options, diagnostics).Run());
  comparison.match.unchecked.reset();
  JudgeParents(&comparison);
  CompareFusedGroups(&comparison);
  return comparison;
}

}  // namespace msprobe::compare
