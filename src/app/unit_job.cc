#include "app/unit_job.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "app/reference_judge.h"
#include "app/rule_use.h"
#include "app/unit_plan.h"
#include "base/stage_timer.h"
#include "base/thread_pool.h"
#include "compare/first_divergence.h"
#include "compare/rank_chain.h"
#include "compare/tolerance.h"
#include "dump/rank_dump.h"
#include "graph/collective_linker.h"
#include "graph/graph.h"
#include "report/rank_origins.h"

namespace msprobe::app {

namespace {

using Clock = std::chrono::steady_clock;
using GraphPointer = std::shared_ptr<graph::Graph>;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class SerialObserver final : public JobObserver {
 public:
  explicit SerialObserver(JobObserver* inner) : inner_(inner) {}

  void JobStarted(size_t units) override {
    if (inner_ != nullptr) inner_->JobStarted(units);
  }
  void UnitStarted(size_t unit, const std::string& label) override {
    const std::lock_guard lock(mutex_);
    if (inner_ != nullptr) inner_->UnitStarted(unit, label);
  }
  void UnitProgress(size_t unit, double fraction) override {
    const std::lock_guard lock(mutex_);
    if (inner_ != nullptr) inner_->UnitProgress(unit, fraction);
  }
  void UnitCompared(const std::string& label, const compare::Comparison& comparison) override {
    const std::lock_guard lock(mutex_);
    if (inner_ != nullptr) inner_->UnitCompared(label, comparison);
  }
  void UnitFinished(size_t unit, const report::UnitSummary& summary) override {
    const std::lock_guard lock(mutex_);
    if (inner_ != nullptr) inner_->UnitFinished(unit, summary);
  }

 private:
  JobObserver* inner_;
  std::mutex mutex_;
};

/// A planned unit while it is worked on.
struct Work {
  PlannedUnit plan;
  base::Diagnostics diagnostics;
  std::optional<size_t> target_link;  ///< into the linkers of its step
  std::optional<size_t> golden_link;
  uint64_t cut_off = 0;  ///< its dumps that lost records at their end
  report::UnitSummary summary;
  report::UnitDetails details;
  compare::RankTrace trace;
};

void Name(const PlannedUnit& plan, report::UnitSummary* summary) {
  summary->label = plan.label;
  summary->step = plan.target.step;
  summary->rank = plan.rank();
  if (plan.target.is_process) summary->process = plan.target.rank;
}

/// The torch API on MindSpore calls itself mindtorch.
bool IsFramework(std::string_view recorded, std::string_view wanted) {
  return wanted.empty() || recorded == wanted || (wanted == "mindspore" && recorded == "mindtorch");
}

/// Names of the two dumps of a pair, as an error calls them.
struct PairNames {
  std::string_view target = "target";
  std::string_view golden = "golden side";
};

Status CheckTasks(const dump::RankDump& target, const dump::RankDump& golden,
                  const PairNames& names) {
  const bool target_structure = target.task() == dump::Task::kStructure;
  const bool golden_structure = golden.task() == dump::Task::kStructure;
  if (target_structure == golden_structure) return Status::Ok();
  std::string fact = "the ";
  fact.append(names.target).append("'s task is ").append(target.task_text()).append(", the ");
  fact.append(names.golden).append("'s is ").append(golden.task_text());
  return InvalidArgumentError(std::move(fact), "collect both sides with the same task",
                              golden.directory().string());
}

class JobRunner {
 public:
  JobRunner(const UnitJob& job, UnitSink* sink, JobObserver* observer,
            const base::CancelToken* cancel)
      : job_(job),
        sink_(*sink),
        observer_(observer),
        cancel_(cancel),
        threads_(job.threads > 0 ? job.threads : base::AvailableCores()) {}

  Result<UnitResults> Run(base::Diagnostics* diagnostics);

 private:
  struct Graphs {
    std::shared_ptr<graph::Graph> target;
    std::shared_ptr<graph::Graph> golden;  ///< null: there is none
  };

  /// What a pair of graphs is compared for.
  struct PairUse {
    size_t threads = 1;
    bool find_causes = false;
    bool tell_progress = false;
    bool map_names = true;  ///< by the rules of the layer mapping
    PairNames names = {};
  };

  bool cancelled() const { return cancel_ != nullptr && cancel_->cancelled(); }

  Status Prepare(base::Diagnostics* diagnostics);
  void RunBatch(size_t begin, size_t end);
  void NoteDivergedStep(size_t begin, size_t end);
  void ChainRanks(size_t begin, size_t end);
  void RunUnit(size_t index, size_t inner_threads);
  Status CollectLinks(size_t index, size_t inner_threads);
  Status CompareUnit(size_t index, size_t inner_threads);
  Status ComparePair(size_t index, const Graphs& graphs, size_t inner_threads);
  Result<Graphs> BuildBoth(Work* work, size_t inner_threads);
  Result<compare::Comparison> Pair(size_t index, const GraphPointer& target,
                                   const GraphPointer& golden, const PairUse& use);
  Result<compare::DivergenceReport> JudgeWithReference(size_t index, const Graphs& graphs,
                                                       const graph::Match& match,
                                                       size_t inner_threads);
  void TellUnusedRules(base::Diagnostics* diagnostics) const;
  UnitTurn Turn(size_t index, size_t inner_threads);
  Result<std::shared_ptr<graph::Graph>> Build(const dump::DumpUnit& unit, size_t inner_threads,
                                              base::Diagnostics* diagnostics);
  Status Guarded(Status (JobRunner::*step)(size_t, size_t), size_t index, size_t inner_threads);

  const UnitJob& job_;
  UnitSink& sink_;
  SerialObserver observer_;
  const base::CancelToken* cancel_;
  size_t threads_;
  graph::MatchOptions match_options_;
  compare::ToleranceProfile tolerance_;
  std::vector<Work> works_;
  std::optional<int64_t> diverged_step_;  ///< the first in which values differ
  RuleUse rule_use_;
  std::mutex links_mutex_;
  graph::CollectiveLinker target_links_;  ///< of the step that is worked on
  graph::CollectiveLinker golden_links_;
};

Status JobRunner::Prepare(base::Diagnostics* diagnostics) {
  MSPROBE_ASSIGN_OR_RETURN(match_options_, MatchOptionsOf(job_));
  if (!job_.tolerance.empty()) {
    MSPROBE_ASSIGN_OR_RETURN(tolerance_, compare::LoadToleranceProfile(job_.tolerance));
  }
  MSPROBE_ASSIGN_OR_RETURN(std::vector<PlannedUnit> plan, PlanUnits(job_, diagnostics));
  MSPROBE_RETURN_IF_ERROR(sink_.Start(plan, threads_, diagnostics));
  works_ = std::vector<Work>(plan.size());
  for (size_t i = 0; i < plan.size(); ++i) works_[i].plan = std::move(plan[i]);
  return Status::Ok();
}

Result<UnitResults> JobRunner::Run(base::Diagnostics* diagnostics) {
  const Clock::time_point start = Clock::now();
  MSPROBE_RETURN_IF_ERROR(Prepare(diagnostics));
  observer_.JobStarted(works_.size());
  for (size_t begin = 0; begin < works_.size() && !cancelled();) {
    size_t end = begin + 1;
    while (end < works_.size() && works_[end].plan.target.step == works_[begin].plan.target.step) {
      ++end;
    }
    RunBatch(begin, end);
    NoteDivergedStep(begin, end);
    begin = end;
  }
  if (cancelled()) return CancelledError();
  TellUnusedRules(diagnostics);

  UnitResults results;
  for (Work& work : works_) {
    diagnostics->Merge(std::move(work.diagnostics));
    results.units.push_back(std::move(work.summary));
    if (job_.want_details) results.details.push_back(std::move(work.details));
  }
  results.seconds = SecondsSince(start);
  return results;
}

/// All ranks of one step, at most `threads_` of them in memory at once. A collective names its
/// peers on all other ranks, so with several ranks the graphs are built twice: the first time only
/// the collective calls are kept.
void JobRunner::RunBatch(size_t begin, size_t end) {
  const size_t count = end - begin;
  const size_t inner_threads = std::max<size_t>(1, threads_ / count);
  target_links_ = {};
  golden_links_ = {};
  const auto for_all = [&](auto&& body) {
    base::ParallelFor(count, 1, threads_, [&](size_t from, size_t to) {
      for (size_t i = begin + from; i < begin + to && !cancelled(); ++i) body(i);
    });
  };
  if (count > 1) {
    for_all([&](size_t i) {
      // What fails here fails again, and is reported, when the rank's turn comes.
      (void)Guarded(&JobRunner::CollectLinks, i, inner_threads);
    });
    target_links_.Finish(&works_[begin].diagnostics);
    golden_links_.Finish(&works_[begin].diagnostics);
  }
  for_all([&](size_t i) { RunUnit(i, inner_threads); });
  if (count > 1 && !job_.golden.empty() && !cancelled()) ChainRanks(begin, end);
}

/// Every later step is told of the first one that differs.
void JobRunner::NoteDivergedStep(size_t begin, size_t end) {
  for (size_t i = begin; i < end && !diverged_step_; ++i) {
    if (works_[i].summary.divergence_count > 0) diverged_step_ = works_[i].plan.target.step;
  }
}

/// What an error on one rank has to do with those on the others.
void JobRunner::ChainRanks(size_t begin, size_t end) {
  std::vector<size_t> linked;  // works, by their number at the linker
  for (size_t i = begin; i < end; ++i) {
    if (!works_[i].target_link) continue;
    linked.resize(std::max(linked.size(), *works_[i].target_link + 1));
    linked[*works_[i].target_link] = i;
  }
  std::vector<compare::RankTrace> traces;
  std::vector<int64_t> rank_numbers;
  for (const size_t i : linked) {
    traces.push_back(std::move(works_[i].trace));
    rank_numbers.push_back(works_[i].plan.target.rank.value_or(0));
  }
  const auto origins = compare::ChainRanks(traces, rank_numbers, target_links_.LinkedCalls());
  for (size_t link = 0; link < linked.size(); ++link) {
    Work& work = works_[linked[link]];
    report::TellOrigins(origins[link], rank_numbers, &work.summary, &work.details);
  }
}

Status JobRunner::CollectLinks(size_t index, size_t inner_threads) {
  Work& work = works_[index];
  base::Diagnostics unused;
  const auto collect = [&](const dump::DumpUnit& unit, graph::CollectiveLinker* linker,
                           std::optional<size_t>* link) -> Status {
    MSPROBE_ASSIGN_OR_RETURN(const auto graph, Build(unit, inner_threads, &unused));
    const std::lock_guard lock(links_mutex_);
    *link = linker->Add(*graph, unit.rank.value_or(0));
    return Status::Ok();
  };
  MSPROBE_RETURN_IF_ERROR(collect(work.plan.target, &target_links_, &work.target_link));
  if (!work.plan.golden) return Status::Ok();
  return collect(*work.plan.golden, &golden_links_, &work.golden_link);
}

Status JobRunner::Guarded(Status (JobRunner::*step)(size_t, size_t), size_t index,
                          size_t inner_threads) {
  try {
    return (this->*step)(index, inner_threads);
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError("use fewer threads (-j 1) or fewer ranks",
                            works_[index].plan.target.directory.string());
  }
}

void JobRunner::RunUnit(size_t index, size_t inner_threads) {
  Work& work = works_[index];
  const Clock::time_point start = Clock::now();
  Name(work.plan, &work.summary);
  work.summary.diverged_step = diverged_step_;
  observer_.UnitStarted(index, work.plan.label);
  Status status = Guarded(&JobRunner::CompareUnit, index, inner_threads);
  if (!status.ok()) {  // counts of what nobody was told of
    work.summary = {};
    Name(work.plan, &work.summary);
    work.summary.status = std::move(status);
  }
  work.summary.unreadable_records =
      work.diagnostics.count(base::DiagnosticKind::kUnreadableRecord) + work.cut_off;
  work.summary.seconds = SecondsSince(start);
  if (!cancelled()) observer_.UnitFinished(index, work.summary);
}

Result<std::shared_ptr<graph::Graph>> JobRunner::Build(const dump::DumpUnit& unit,
                                                       size_t inner_threads,
                                                       base::Diagnostics* diagnostics) {
  MSPROBE_ASSIGN_OR_RETURN(
      const std::shared_ptr<dump::RankDump> dump,
      dump::RankDump::Open(unit.directory, {.flat_if_none = job_.flat_if_none}, diagnostics));
  if (!IsFramework(dump->framework(), job_.framework)) {
    diagnostics->Add(base::DiagnosticKind::kNote,
                     InvalidArgumentError("-f says " + job_.framework + ", the dump says " +
                                              std::string(dump->framework()),
                                          "the dump decides", unit.directory.string()));
  }
  graph::BuildOptions options;
  options.check_overflow = job_.overflow_check;
  options.threads = inner_threads;
  options.cancel = cancel_;
  MSPROBE_ASSIGN_OR_RETURN(std::unique_ptr<graph::Graph> graph,
                           graph::BuildGraph(dump, options, diagnostics));
  dump->ForgetConstruct();
  return std::shared_ptr<graph::Graph>(std::move(graph));
}

/// Both sides at the same time where there are threads for it.
Result<JobRunner::Graphs> JobRunner::BuildBoth(Work* work, size_t inner_threads) {
  const base::StageTimer stage("build");
  const size_t count = work->plan.golden ? 2 : 1;
  std::optional<Result<std::shared_ptr<graph::Graph>>> built[2];
  base::Diagnostics diagnostics[2];
  base::ParallelFor(count, 1, inner_threads, [&](size_t begin, size_t end) {
    for (size_t side = begin; side < end; ++side) {
      built[side] = Build(side == 0 ? work->plan.target : *work->plan.golden,
                          std::max<size_t>(1, inner_threads / count), &diagnostics[side]);
    }
  });
  Graphs graphs;
  for (size_t side = 0; side < count; ++side) {
    work->diagnostics.Merge(std::move(diagnostics[side]));
    MSPROBE_ASSIGN_OR_RETURN((side == 0 ? graphs.target : graphs.golden), *std::move(built[side]));
  }
  return graphs;
}

Status JobRunner::CompareUnit(size_t index, size_t inner_threads) {
  Work& work = works_[index];
  MSPROBE_ASSIGN_OR_RETURN(const Graphs graphs, BuildBoth(&work, inner_threads));
  for (const GraphPointer& graph : {graphs.target, graphs.golden}) {
    work.cut_off += graph != nullptr && graph->dump->is_cut_off();
  }
  if (work.target_link) target_links_.Link(*work.target_link, graphs.target.get());
  observer_.UnitProgress(index, 0.3);
  if (cancelled()) return CancelledError();

  if (graphs.golden != nullptr) return ComparePair(index, graphs, inner_threads);
  report::SummarizeGraph(*graphs.target, &work.summary);
  const base::StageTimer stage("write");
  return sink_.TakeGraph(Turn(index, inner_threads), *graphs.target);
}

Result<compare::Comparison> JobRunner::Pair(size_t index, const GraphPointer& target,
                                            const GraphPointer& golden, const PairUse& use) {
  Work& work = works_[index];
  MSPROBE_RETURN_IF_ERROR(CheckTasks(*target->dump, *golden->dump, use.names));
  const compare::CompareMode mode =
      compare::ChooseMode(*target->dump, *golden->dump, &work.diagnostics);
  std::optional<base::StageTimer> stage(std::in_place, "match");
  graph::MatchOptions match_options = match_options_;
  if (!use.map_names) match_options.mapping = {};
  match_options.threads = use.threads;
  match_options.cancel = cancel_;
  match_options.leave_records = true;
  MSPROBE_ASSIGN_OR_RETURN(graph::Match match, graph::MatchGraphs(*target, *golden, match_options));
  rule_use_.NoteApplied(match.applied_rules);
  stage.emplace("compare");
  compare::CompareOptions options;
  options.threads = use.threads;
  options.cancel = cancel_;
  options.gather_facts = use.find_causes;
  options.progress = [this, index, tell = use.tell_progress](size_t done, size_t total) {
    if (!tell) return;
    observer_.UnitProgress(index, 0.3 + 0.6 * static_cast<double>(done) /
                                            static_cast<double>(std::max<size_t>(1, total)));
  };
  return compare::Compare(target, golden, std::move(match), mode, options, &work.diagnostics);
}

/// Where a unit failed its rules may be meant for it.
void JobRunner::TellUnusedRules(base::Diagnostics* diagnostics) const {
  const auto failed = [](const Work& work) { return !work.summary.status.ok(); };
  if (job_.golden.empty() || std::ranges::any_of(works_, failed)) return;
  rule_use_.TellUnused(match_options_.mapping, job_.layer_mapping, diagnostics);
  rule_use_.TellUnused(tolerance_, job_.tolerance, diagnostics);
}

Status JobRunner::ComparePair(size_t index, const Graphs& graphs, size_t inner_threads) {
  Work& work = works_[index];
  const auto& [target, golden] = graphs;
  if (work.golden_link) golden_links_.Link(*work.golden_link, golden.get());
  MSPROBE_ASSIGN_OR_RETURN(
      compare::Comparison comparison,
      Pair(index, target, golden,
           {.threads = inner_threads, .find_causes = !work.plan.reference, .tell_progress = true}));
  rule_use_.NoteNodes(tolerance_, comparison);
  std::optional<base::StageTimer> stage(std::in_place, "find causes");
  compare::DivergenceReport divergences;
  if (work.plan.reference) {
    MSPROBE_ASSIGN_OR_RETURN(divergences,
                             JudgeWithReference(index, graphs, comparison.match, inner_threads));
    compare::ApplyReport(divergences, &comparison);
  } else {
    divergences = compare::FindDivergences(&comparison, inner_threads, &tolerance_);
  }
  if (work.target_link) work.trace = compare::TraceRank(comparison, divergences);
  report::SummarizeComparison(comparison, divergences, &work.summary);
  if (job_.want_details) {
    work.details = report::CollectDetails(comparison, divergences, work.summary);
  }
  if (cancelled()) return CancelledError();
  stage.emplace("write");
  MSPROBE_RETURN_IF_ERROR(
      sink_.TakeComparison(Turn(index, inner_threads), comparison, divergences));
  observer_.UnitCompared(work.plan.label, comparison);
  return Status::Ok();
}

Result<compare::DivergenceReport> JobRunner::JudgeWithReference(size_t index, const Graphs& graphs,
                                                                const graph::Match& match,
                                                                size_t inner_threads) {
  ThreeRuns runs{graphs.target, graphs.golden, nullptr};
  MSPROBE_ASSIGN_OR_RETURN(runs.reference, Build(*works_[index].plan.reference, inner_threads,
                                                 &works_[index].diagnostics));
  works_[index].cut_off += runs.reference->dump->is_cut_off();
  return JudgeByReference(
      runs, match, tolerance_, inner_threads,
      [&](const GraphPointer& target, const GraphPointer& golden, bool map_names) {
        // The other pair only says how far golden is off.
        const bool judged = target == graphs.target;
        return Pair(index, target, golden,
                    {.threads = inner_threads,
                     .find_causes = judged,
                     .map_names = map_names,
                     .names = {judged ? "target" : "golden side", "reference"}});
      });
}

UnitTurn JobRunner::Turn(size_t index, size_t inner_threads) {
  Work& work = works_[index];
  return {index, work.plan, inner_threads, cancel_, &work.diagnostics, &work.summary};
}

}  // namespace

Result<UnitResults> RunUnits(const UnitJob& job, UnitSink* sink, JobObserver* observer,
                             const base::CancelToken* cancel, base::Diagnostics* diagnostics) {
  return JobRunner(job, sink, observer, cancel).Run(diagnostics);
}

}  // namespace msprobe::app
