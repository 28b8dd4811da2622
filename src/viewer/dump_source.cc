#include "viewer/dump_source.h"

#include <mutex>
#include <utility>

#include "app/reference_judge.h"
#include "compare/first_divergence.h"
#include "compare/tolerance.h"
#include "dump/rank_dump.h"
#include "graph/match.h"
#include "viewer/step_links.h"
#include "visfile/content_index.h"
#include "visfile/node_json.h"

namespace msprobe::viewer {

using visfile::ReadOptions;
using visfile::Side;
using visfile::SideText;

namespace {

using GraphPointer = std::shared_ptr<graph::Graph>;

/// The graphs of a unit, and where their calls to other ranks are found.
struct UnitGraphs {
  std::shared_ptr<graph::Graph> target;
  std::shared_ptr<graph::Graph> golden;  ///< null: build only
  std::shared_ptr<StepLinks> links;
  size_t number = 0;  ///< of the unit within its step
};

/// As RankDump::TensorPath: beside dump.json, else where it was collected.
std::string TensorsOf(const dump::RankDump& dump) {
  const std::filesystem::path beside = dump.directory() / dump::kTensorDirectory;
  std::error_code error;
  if (std::filesystem::is_directory(beside, error)) return beside.string();
  return std::string(dump.dump_data_dir());
}

/// Graphs in memory; what a node recorded is read from the mapped dump when it is asked for.
class DumpUnitSource final : public visfile::UnitSource {
 public:
  DumpUnitSource(UnitGraphs graphs, const visfile::UnitEntry& entry) : graphs_(std::move(graphs)) {
    content_.single = graphs_.target.get();
    Finish(entry);
  }
  DumpUnitSource(UnitGraphs graphs, compare::Comparison comparison,
                 compare::DivergenceReport divergences, const visfile::UnitEntry& entry)
      : graphs_(std::move(graphs)),
        comparison_(std::move(comparison)),
        divergences_(std::move(divergences)) {
    content_.comparison = &comparison_;
    content_.divergences = &divergences_;
    Finish(entry);
  }
  DumpUnitSource(const DumpUnitSource&) = delete;
  DumpUnitSource& operator=(const DumpUnitSource&) = delete;

  const visfile::UnitIndex& index() const override { return index_; }
  visfile::UnitIndex& mutable_index() override { return index_; }
  uint64_t bytes() const override {
    constexpr uint64_t kIndexedNode = 259;  // with the graph's own node and its hash
    return (index_.target.size() + index_.golden.size()) * kIndexedNode +
           comparison_.values.size() * sizeof(compare::ValueResult);
  }
  Result<std::string> NodeJson(Side side, uint32_t id) const override {
    if (id >= index_.side(side).size()) return InvalidArgumentError("there is no such node");
    const SideText& text = side == Side::kTarget ? *target_text_ : *golden_text_;
    const std::lock_guard lock(linking_);
    if (!linked_) {
      linked_ = graphs_.links->Link(graphs_.number, graphs_.target.get(), graphs_.golden.get());
    }
    visfile::NodeScratch scratch;
    std::string json;
    visfile::AppendVisNode(text, id, &scratch, &json);
    return json;
  }

 private:
  void Finish(const visfile::UnitEntry& entry) {
    content_.step = entry.step;
    content_.rank = entry.rank;
    content_.overflow_check = true;
    content_.complete_stack = true;
    const bool compared = content_.comparison != nullptr;
    target_text_.emplace(content_, compared ? SideText::Side::kTarget : SideText::Side::kSingle,
                         visfile::Dialect::kVis);
    if (compared) {
      golden_text_.emplace(content_, SideText::Side::kGolden, visfile::Dialect::kVis);
    }
    index_ = visfile::IndexContent(content_);
    Name(*graphs_.target->dump, &index_.target);
    if (compared) Name(*graphs_.golden->dump, &index_.golden);
  }

  static void Name(const dump::RankDump& dump, visfile::SideIndex* side) {
    side->dump = dump.directory().string();
    side->cut_off = dump.is_cut_off();
    side->tensor_directory = TensorsOf(dump);
  }

  UnitGraphs graphs_;
  compare::Comparison comparison_;
  compare::DivergenceReport divergences_;
  visfile::VisContent content_;
  std::optional<SideText> target_text_;
  std::optional<SideText> golden_text_;
  visfile::UnitIndex index_;
  mutable std::mutex linking_;
  mutable bool linked_ = false;
};

class DumpSource final : public visfile::VisSource {
 public:
  DumpSource(std::vector<app::PlannedUnit> plan, compare::CompareMode mode,
             graph::MatchOptions match_options, compare::ToleranceProfile tolerance)
      : plan_(std::move(plan)),
        mode_(mode),
        match_options_(std::move(match_options)),
        tolerance_(std::move(tolerance)) {
    for (size_t begin = 0; begin < plan_.size();) {
      size_t end = begin;
      while (end < plan_.size() && plan_[end].target.step == plan_[begin].target.step) ++end;
      const auto links = std::make_shared<StepLinks>(end - begin);
      for (size_t i = begin; i < end; ++i) {
        units_.push_back({plan_[i].target.step, plan_[i].rank()});
        links_.emplace_back(links, i - begin);
      }
      begin = end;
    }
  }

  bool is_comparison() const override { return plan_.front().golden.has_value(); }
  compare::CompareMode mode() const override { return mode_; }
  bool overflow_checked() const override { return true; }
  const std::vector<visfile::UnitEntry>& units() const override { return units_; }
  Result<std::shared_ptr<visfile::UnitSource>> LoadUnit(size_t unit,
                                                        const ReadOptions& options) const override;

 private:
  Result<compare::Comparison> Compare(const GraphPointer& target, const GraphPointer& golden,
                                      compare::CompareMode mode, bool map_names,
                                      const ReadOptions& options,
                                      base::Diagnostics* diagnostics) const;
  Result<compare::DivergenceReport> Judge(const app::PlannedUnit& plan, const UnitGraphs& graphs,
                                          const ReadOptions& options,
                                          compare::Comparison* comparison,
                                          base::Diagnostics* diagnostics) const;
  Result<std::shared_ptr<visfile::UnitSource>> Load(size_t unit, UnitGraphs graphs,
                                                    const ReadOptions& options) const;

  std::vector<app::PlannedUnit> plan_;
  compare::CompareMode mode_;
  graph::MatchOptions match_options_;
  compare::ToleranceProfile tolerance_;
  std::vector<visfile::UnitEntry> units_;
  /// By unit: the links of its step, and its number there.
  std::vector<std::pair<std::shared_ptr<StepLinks>, size_t>> links_;
};

/// Parts of a unit's work, for its progress.
constexpr uint64_t kWorkOfBuild = 15;
constexpr uint64_t kWork = 100;
/// Target and golden, then each of them and the reference.
constexpr uint64_t kStagesByReference = 3;

void Report(const ReadOptions& options, uint64_t done) {
  if (options.progress) options.progress(done, kWork);
}

/// For one of several comparisons that one after the other make a unit.
ReadOptions Stage(const ReadOptions& options, uint64_t number, uint64_t count) {
  ReadOptions stage = options;
  if (options.progress) {
    stage.progress = [&options, number, count](uint64_t done, uint64_t total) {
      options.progress(number * total + done, count * total);
    };
  }
  return stage;
}

bool Cancelled(const ReadOptions& options) {
  return options.cancel != nullptr && options.cancel->cancelled();
}

Result<std::shared_ptr<graph::Graph>> Build(const dump::DumpUnit& unit, const ReadOptions& options,
                                            base::Diagnostics* diagnostics) {
  if (Cancelled(options)) return CancelledError();
  MSPROBE_ASSIGN_OR_RETURN(std::shared_ptr<const dump::RankDump> dump,
                           dump::RankDump::Open(unit.directory, {}, diagnostics));
  graph::BuildOptions build;
  build.check_overflow = true;
  build.threads = options.threads;
  build.cancel = options.cancel;
  MSPROBE_ASSIGN_OR_RETURN(std::unique_ptr<graph::Graph> graph,
                           graph::BuildGraph(std::move(dump), build, diagnostics));
  return std::shared_ptr<graph::Graph>(std::move(graph));
}

Result<compare::Comparison> DumpSource::Compare(const GraphPointer& target,
                                                const GraphPointer& golden,
                                                compare::CompareMode mode, bool map_names,
                                                const ReadOptions& options,
                                                base::Diagnostics* diagnostics) const {
  if (Cancelled(options)) return CancelledError();
  Report(options, 2 * kWorkOfBuild);
  graph::MatchOptions match_options = match_options_;
  if (!map_names) match_options.mapping = {};
  match_options.threads = options.threads;
  match_options.leave_records = true;
  match_options.cancel = options.cancel;
  MSPROBE_ASSIGN_OR_RETURN(graph::Match match, graph::MatchGraphs(*target, *golden, match_options));
  compare::CompareOptions compare_options;
  compare_options.threads = options.threads;
  compare_options.gather_facts = true;
  compare_options.cancel = options.cancel;
  compare_options.progress = [&options](size_t done, size_t total) {
    Report(options,
           2 * kWorkOfBuild + (kWork - 2 * kWorkOfBuild) * done / std::max<size_t>(1, total));
  };
  return compare::Compare(target, golden, std::move(match), mode, compare_options, diagnostics);
}

/// Who diverges, by the tolerance or by the reference if there is one.
Result<compare::DivergenceReport> DumpSource::Judge(const app::PlannedUnit& plan,
                                                    const UnitGraphs& graphs,
                                                    const ReadOptions& options,
                                                    compare::Comparison* comparison,
                                                    base::Diagnostics* diagnostics) const {
  if (!plan.reference) return compare::FindDivergences(comparison, options.threads, &tolerance_);
  app::ThreeRuns runs{graphs.target, graphs.golden, nullptr};
  MSPROBE_ASSIGN_OR_RETURN(runs.reference, Build(*plan.reference, options, diagnostics));
  MSPROBE_ASSIGN_OR_RETURN(
      compare::DivergenceReport report,
      app::JudgeByReference(
          runs, comparison->match, tolerance_, options.threads,
          [&, stage = uint64_t{1}](const GraphPointer& target, const GraphPointer& golden,
                                   bool map_names) mutable {
            const compare::CompareMode mode =
                compare::ChooseMode(*target->dump, *golden->dump, diagnostics);
            return Compare(target, golden, mode, map_names,
                           Stage(options, stage++, kStagesByReference), diagnostics);
          }));
  compare::ApplyReport(report, comparison);
  comparison->facts = nullptr;  // it stays in memory, and nobody asks for them any more
  return report;
}

Result<std::shared_ptr<visfile::UnitSource>> DumpSource::Load(size_t unit, UnitGraphs graphs,
                                                              const ReadOptions& options) const {
  const app::PlannedUnit& plan = plan_[unit];
  const ReadOptions first = Stage(options, 0, plan.reference ? kStagesByReference : 1);
  base::Diagnostics diagnostics;
  MSPROBE_ASSIGN_OR_RETURN(graphs.target, Build(plan.target, options, &diagnostics));
  Report(first, kWorkOfBuild);
  if (plan.golden) {
    MSPROBE_ASSIGN_OR_RETURN(graphs.golden, Build(*plan.golden, options, &diagnostics));
  }
  graphs.links->Add(graphs.number, units_[unit].rank.value_or(0), graphs.target.get(),
                    graphs.golden.get());
  if (!plan.golden) {
    return std::shared_ptr<visfile::UnitSource>(
        std::make_shared<DumpUnitSource>(std::move(graphs), units_[unit]));
  }
  MSPROBE_ASSIGN_OR_RETURN(compare::Comparison comparison,
                           Compare(graphs.target, graphs.golden, mode_, true, first, &diagnostics));
  MSPROBE_ASSIGN_OR_RETURN(compare::DivergenceReport divergences,
                           Judge(plan, graphs, options, &comparison, &diagnostics));
  return std::shared_ptr<visfile::UnitSource>(std::make_shared<DumpUnitSource>(
      std::move(graphs), std::move(comparison), std::move(divergences), units_[unit]));
}

Result<std::shared_ptr<visfile::UnitSource>> DumpSource::LoadUnit(
    size_t unit, const ReadOptions& options) const {
  const auto& [links, number] = links_[unit];
  UnitGraphs graphs;
  graphs.links = links;
  graphs.number = number;
  auto source = Load(unit, std::move(graphs), options);
  // A rank that cannot be read must not keep the others waiting for their peers.
  if (!source.ok()) links->Skip(number);
  return source;
}

Result<compare::CompareMode> ModeOf(const app::PlannedUnit& unit, base::Diagnostics* diagnostics) {
  if (!unit.golden) return compare::CompareMode::kStatistics;
  MSPROBE_ASSIGN_OR_RETURN(const auto target,
                           dump::RankDump::Open(unit.target.directory, {}, diagnostics));
  MSPROBE_ASSIGN_OR_RETURN(const auto golden,
                           dump::RankDump::Open(unit.golden->directory, {}, diagnostics));
  if ((target->task() == dump::Task::kStructure) != (golden->task() == dump::Task::kStructure)) {
    return InvalidArgumentError("one side holds a structure only, the other one values",
                                "collect both sides with the same task",
                                golden->directory().string());
  }
  return compare::ChooseMode(*target, *golden, diagnostics);
}

/// The mode of the first unit that can be read: a damaged one must not hide the others.
Result<compare::CompareMode> ModeOfAny(const std::vector<app::PlannedUnit>& plan,
                                       base::Diagnostics* diagnostics) {
  Status failure;
  for (const app::PlannedUnit& unit : plan) {
    const Result<compare::CompareMode> mode = ModeOf(unit, diagnostics);
    if (mode.ok()) return mode;
    if (failure.ok()) failure = mode.status();
  }
  return failure;
}

/// Nothing outside of the viewed directory is read: `unit` lies below `root`.
Status RefuseLinks(const std::filesystem::path& root, const std::filesystem::path& unit) {
  std::vector<std::filesystem::path> paths = {unit / "dump.json", unit / "construct.json",
                                              unit / "stack.json"};
  for (auto above = unit; above != root && above.has_relative_path(); above = above.parent_path()) {
    paths.push_back(above);
  }
  for (const std::filesystem::path& path : paths) {
    std::error_code error;
    if (std::filesystem::is_symlink(path, error)) {
      return InvalidArgumentError("the viewer follows no symbolic links",
                                  "view what it leads to, or write a .vis with msprobe graph",
                                  path.string());
    }
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<visfile::VisSource>> OpenDump(const app::UnitJob& job,
                                                     const ReadOptions& options) {
  if (Cancelled(options)) return CancelledError();
  base::Diagnostics diagnostics;
  MSPROBE_ASSIGN_OR_RETURN(graph::MatchOptions match_options, app::MatchOptionsOf(job));
  compare::ToleranceProfile tolerance;
  if (!job.tolerance.empty()) {
    MSPROBE_ASSIGN_OR_RETURN(tolerance, compare::LoadToleranceProfile(job.tolerance));
  }
  MSPROBE_ASSIGN_OR_RETURN(std::vector<app::PlannedUnit> plan, app::PlanUnits(job, &diagnostics));
  if (plan.empty()) {
    return NotFoundError("there is no dump", "give a directory with dump.json or step folders",
                         job.target.string());
  }
  for (const app::PlannedUnit& unit : plan) {
    MSPROBE_RETURN_IF_ERROR(RefuseLinks(job.target, unit.target.directory));
  }
  MSPROBE_ASSIGN_OR_RETURN(const compare::CompareMode mode, ModeOfAny(plan, &diagnostics));
  return std::unique_ptr<visfile::VisSource>(std::make_unique<DumpSource>(
      std::move(plan), mode, std::move(match_options), std::move(tolerance)));
}

}  // namespace msprobe::viewer
