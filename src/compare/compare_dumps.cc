#include "msprobe/compare.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/diagnostics.h"
#include "base/thread_pool.h"
#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "compare/tolerance.h"
#include "dump/rank_dump.h"
#include "graph/graph.h"
#include "graph/match.h"

namespace msprobe {

namespace {

using graph::NodeId;

Result<std::shared_ptr<const graph::Graph>> BuildSide(const std::string& directory, size_t threads,
                                                      base::Diagnostics* diagnostics) {
  MSPROBE_ASSIGN_OR_RETURN(std::shared_ptr<const dump::RankDump> dump,
                           dump::RankDump::Open(directory, {.flat_if_none = true}, diagnostics));
  graph::BuildOptions options;
  options.threads = threads;
  MSPROBE_ASSIGN_OR_RETURN(std::unique_ptr<graph::Graph> graph,
                           graph::BuildGraph(std::move(dump), options, diagnostics));
  return std::shared_ptr<const graph::Graph>(std::move(graph));
}

graph::MatchMode ModeOf(CompareDumpsOptions::Match match) {
  switch (match) {
    case CompareDumpsOptions::Match::kStrict: return graph::MatchMode::kStrict;
    case CompareDumpsOptions::Match::kLoose: return graph::MatchMode::kLoose;
    case CompareDumpsOptions::Match::kAuto: return graph::MatchMode::kAuto;
  }
  return graph::MatchMode::kStrict;
}

ComparedNode Describe(const compare::Comparison& comparison, NodeId id,
                      const compare::Divergence* divergence) {
  const compare::NodeResult& result = comparison.result(id);
  ComparedNode node;
  node.name = comparison.target->nodes[id].name;
  node.index = result.index;
  node.status = compare::NodeStatusName(result.status);
  node.role = compare::RoleName(divergence != nullptr ? divergence->role : compare::Role::kNone);
  node.reason = comparison.reasons[result.reason];
  if (node.reason.empty() && divergence != nullptr) node.reason = divergence->reason;
  return node;
}

DumpsCompared Summarize(const compare::Comparison& comparison,
                        const compare::DivergenceReport& report) {
  DumpsCompared summary;
  summary.mode = compare::CompareModeName(comparison.mode);
  summary.nodes = comparison.nodes.size() - 1;
  summary.unreadable_tensors = comparison.unreadable_tensors;
  std::vector<const compare::Divergence*> divergences(comparison.nodes.size());
  for (const compare::Divergence& divergence : report.divergences) {
    divergences[divergence.node] = &divergence;
  }
  for (const NodeId id : graph::EntryOrder(*comparison.target)) {
    if (id == graph::kRootNode) continue;
    summary.matched += comparison.match.golden_of_target[id] != graph::kNoNode ? 1 : 0;
    if (comparison.result(id).status == compare::NodeStatus::kPass && divergences[id] == nullptr) {
      continue;
    }
    summary.differing.push_back(Describe(comparison, id, divergences[id]));
  }
  for (const NodeId id : report.culprits) {
    summary.culprits.emplace_back(comparison.target->nodes[id].name);
  }
  return summary;
}

}  // namespace

Result<DumpsCompared> CompareDumps(const std::string& target, const std::string& golden,
                                   const CompareDumpsOptions& options) try {
  const size_t threads = options.threads > 0 ? options.threads : base::AvailableCores();
  base::Diagnostics diagnostics;
  compare::ToleranceProfile tolerance;
  if (!options.tolerance.empty()) {
    MSPROBE_ASSIGN_OR_RETURN(tolerance, compare::LoadToleranceProfile(options.tolerance));
  }
  MSPROBE_ASSIGN_OR_RETURN(auto target_graph, BuildSide(target, threads, &diagnostics));
  MSPROBE_ASSIGN_OR_RETURN(auto golden_graph, BuildSide(golden, threads, &diagnostics));
  const compare::CompareMode mode =
      compare::ChooseMode(*target_graph->dump, *golden_graph->dump, &diagnostics);
  graph::MatchOptions match_options;
  match_options.mode = ModeOf(options.match);
  match_options.threads = threads;
  match_options.leave_records = true;
  MSPROBE_ASSIGN_OR_RETURN(graph::Match match,
                           graph::MatchGraphs(*target_graph, *golden_graph, match_options));
  compare::CompareOptions compare_options;
  compare_options.threads = threads;
  compare_options.gather_facts = true;
  MSPROBE_ASSIGN_OR_RETURN(compare::Comparison comparison,
                           compare::Compare(std::move(target_graph), std::move(golden_graph),
                                            std::move(match), mode, compare_options, &diagnostics));
  const compare::DivergenceReport report =
      compare::FindDivergences(&comparison, threads, &tolerance);
  return Summarize(comparison, report);
} catch (const std::bad_alloc&) {
  return OutOfMemoryError("give fewer threads", target);
}

}  // namespace msprobe
