#include "viewer/dump_source.h"

#include <utility>

#include "app/graph_plan.h"
#include "compare/first_divergence.h"
#include "dump/rank_dump.h"
#include "graph/match.h"
#include "visfile/content_index.h"
#include "visfile/node_json.h"

namespace msprobe::viewer {

using visfile::ReadOptions;
using visfile::Side;
using visfile::SideText;

namespace {

/// Graphs in memory; what a node recorded is read from the mapped dump when it is asked for.
class DumpUnitSource final : public visfile::UnitSource {
 public:
  DumpUnitSource(std::shared_ptr<const graph::Graph> single, std::optional<int64_t> step,
                 std::optional<int64_t> rank)
      : single_(std::move(single)) {
    content_.single = single_.get();
    Finish(step, rank);
  }
  DumpUnitSource(compare::Comparison comparison, std::optional<int64_t> step,
                 std::optional<int64_t> rank, size_t threads)
      : comparison_(std::move(comparison)),
        divergences_(compare::FindDivergences(&comparison_, threads)) {
    content_.comparison = &comparison_;
    content_.divergences = &divergences_;
    Finish(step, rank);
  }
  DumpUnitSource(const DumpUnitSource&) = delete;
  DumpUnitSource& operator=(const DumpUnitSource&) = delete;

  const visfile::UnitIndex& index() const override { return index_; }
  visfile::UnitIndex& mutable_index() override { return index_; }
  uint64_t bytes() const override {
    constexpr uint64_t kIndexedNode = 250;  // with the graph's own node and its hash
    return (index_.target.size() + index_.golden.size()) * kIndexedNode +
           comparison_.values.size() * sizeof(compare::ValueResult);
  }
  Result<std::string> NodeJson(Side side, uint32_t id) const override {
    if (id >= index_.side(side).size()) return InvalidArgumentError("there is no such node");
    const SideText& text = side == Side::kTarget ? *target_text_ : *golden_text_;
    visfile::NodeScratch scratch;
    std::string json;
    visfile::AppendVisNode(text, id, &scratch, &json);
    return json;
  }

 private:
  void Finish(std::optional<int64_t> step, std::optional<int64_t> rank) {
    content_.step = step;
    content_.rank = rank;
    content_.overflow_check = true;
    content_.complete_stack = true;
    const bool compared = content_.comparison != nullptr;
    target_text_.emplace(content_, compared ? SideText::Side::kTarget : SideText::Side::kSingle,
                         visfile::Dialect::kVis);
    if (compared) {
      golden_text_.emplace(content_, SideText::Side::kGolden, visfile::Dialect::kVis);
    }
    index_ = visfile::IndexContent(content_);
  }

  std::shared_ptr<const graph::Graph> single_;
  compare::Comparison comparison_;
  compare::DivergenceReport divergences_;
  visfile::VisContent content_;
  std::optional<SideText> target_text_;
  std::optional<SideText> golden_text_;
  visfile::UnitIndex index_;
};

class DumpSource final : public visfile::VisSource {
 public:
  DumpSource(std::vector<app::PlannedUnit> plan, compare::CompareMode mode)
      : plan_(std::move(plan)), mode_(mode) {
    for (const app::PlannedUnit& unit : plan_) {
      units_.push_back({unit.target.step, unit.target.rank});
    }
  }

  bool is_comparison() const override { return plan_.front().golden.has_value(); }
  compare::CompareMode mode() const override { return mode_; }
  bool overflow_checked() const override { return true; }
  const std::vector<visfile::UnitEntry>& units() const override { return units_; }
  Result<std::shared_ptr<visfile::UnitSource>> LoadUnit(size_t unit,
                                                        const ReadOptions& options) const override;

 private:
  std::vector<app::PlannedUnit> plan_;
  compare::CompareMode mode_;
  std::vector<visfile::UnitEntry> units_;
};

/// Parts of a unit's work, for its progress.
constexpr uint64_t kWorkOfBuild = 15;
constexpr uint64_t kWork = 100;

void Report(const ReadOptions& options, uint64_t done) {
  if (options.progress) options.progress(done, kWork);
}

bool Cancelled(const ReadOptions& options) {
  return options.cancel != nullptr && options.cancel->cancelled();
}

Result<std::shared_ptr<const graph::Graph>> Build(const dump::DumpUnit& unit,
                                                  const ReadOptions& options,
                                                  base::Diagnostics* diagnostics) {
  if (Cancelled(options)) return CancelledError();
  MSPROBE_ASSIGN_OR_RETURN(std::shared_ptr<const dump::RankDump> dump,
                           dump::RankDump::Open(unit.directory, {}, diagnostics));
  graph::BuildOptions build;
  build.check_overflow = true;
  build.threads = options.threads;
  MSPROBE_ASSIGN_OR_RETURN(std::unique_ptr<graph::Graph> graph,
                           graph::BuildGraph(std::move(dump), build, diagnostics));
  return std::shared_ptr<const graph::Graph>(std::move(graph));
}

Result<compare::Comparison> Compare(const app::PlannedUnit& unit,
                                    std::shared_ptr<const graph::Graph> target,
                                    compare::CompareMode mode, const ReadOptions& options,
                                    base::Diagnostics* diagnostics) {
  MSPROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const graph::Graph> golden,
                           Build(*unit.golden, options, diagnostics));
  Report(options, 2 * kWorkOfBuild);
  graph::MatchOptions match_options;
  match_options.threads = options.threads;
  MSPROBE_ASSIGN_OR_RETURN(graph::Match match,
                           graph::MatchGraphs(*target, *golden, match_options, diagnostics));
  compare::CompareOptions compare_options;
  compare_options.threads = options.threads;
  compare_options.cancel = options.cancel;
  compare_options.progress = [&options](size_t done, size_t total) {
    Report(options,
           2 * kWorkOfBuild + (kWork - 2 * kWorkOfBuild) * done / std::max<size_t>(1, total));
  };
  return compare::Compare(std::move(target), golden, std::move(match), mode, compare_options,
                          diagnostics);
}

Result<std::shared_ptr<visfile::UnitSource>> DumpSource::LoadUnit(
    size_t unit, const ReadOptions& options) const {
  const app::PlannedUnit& plan = plan_[unit];
  base::Diagnostics diagnostics;
  MSPROBE_ASSIGN_OR_RETURN(std::shared_ptr<const graph::Graph> target,
                           Build(plan.target, options, &diagnostics));
  Report(options, kWorkOfBuild);
  const visfile::UnitEntry& entry = units_[unit];
  if (!plan.golden) {
    return std::shared_ptr<visfile::UnitSource>(
        std::make_shared<DumpUnitSource>(std::move(target), entry.step, entry.rank));
  }
  MSPROBE_ASSIGN_OR_RETURN(compare::Comparison comparison,
                           Compare(plan, std::move(target), mode_, options, &diagnostics));
  return std::shared_ptr<visfile::UnitSource>(std::make_shared<DumpUnitSource>(
      std::move(comparison), entry.step, entry.rank, options.threads));
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

}  // namespace

Result<std::unique_ptr<visfile::VisSource>> OpenDump(const std::filesystem::path& directory,
                                                     const std::filesystem::path& golden,
                                                     const ReadOptions& options) {
  if (Cancelled(options)) return CancelledError();
  base::Diagnostics diagnostics;
  app::UnitJob job;
  job.target = directory;
  job.golden = golden;
  MSPROBE_ASSIGN_OR_RETURN(std::vector<app::PlannedUnit> plan, app::PlanUnits(job, &diagnostics));
  if (plan.empty()) {
    return NotFoundError("there is no dump", "give a directory with dump.json or step folders",
                         directory.string());
  }
  MSPROBE_ASSIGN_OR_RETURN(const compare::CompareMode mode, ModeOf(plan.front(), &diagnostics));
  return std::unique_ptr<visfile::VisSource>(std::make_unique<DumpSource>(std::move(plan), mode));
}

}  // namespace msprobe::viewer
