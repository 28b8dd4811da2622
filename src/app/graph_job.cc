#include "app/graph_job.h"

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "app/output_directory.h"
#include "base/stage_timer.h"
#include "visfile/visfile.h"

namespace msprobe::app {

namespace {

/// Names in `directory` that end in ".vis" and in ".vis.db".
std::pair<bool, bool> FindGraphFiles(const std::filesystem::path& directory) {
  bool vis = false;
  bool db = false;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    db |= name.ends_with(".vis.db");
    vis |= name.ends_with(".vis");
  }
  return {vis, db};
}

void NoteOtherFiles(const GraphJob& job, base::Diagnostics* diagnostics) {
  const auto [vis, db] = FindGraphFiles(job.output);
  const std::string where = job.output.string();
  if (job.format == OutputFormat::kVis && db) {
    diagnostics->Add(base::DiagnosticKind::kNote,
                     InvalidArgumentError("a .vis.db lies there already: TensorBoard will hide the "
                                          "new .vis behind it",
                                          "use one output directory per format", where));
  }
  if (job.format == OutputFormat::kVisDb && vis) {
    diagnostics->Add(base::DiagnosticKind::kNote,
                     InvalidArgumentError("there are .vis files already: TensorBoard will hide "
                                          "them behind the new .vis.db",
                                          "use one output directory per format", where));
  }
  if (job.format == OutputFormat::kVisDb && db) {
    diagnostics->Add(
        base::DiagnosticKind::kNote,
        InvalidArgumentError("a .vis.db lies there already: TensorBoard shows one per directory",
                             "use a new output directory", where));
  }
}

/// Notes what in the output directory would keep TensorBoard from showing the new files.
void NoteAboutOutput(const GraphJob& job, base::Diagnostics* diagnostics) {
  struct stat info{};
  if (::stat(job.output.c_str(), &info) == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    diagnostics->Add(base::DiagnosticKind::kNote,
                     InvalidArgumentError("others may write to the output directory: TensorBoard's "
                                          "graph plugin refuses such files",
                                          "chmod 750", job.output.string()));
  }
  NoteOtherFiles(job, diagnostics);
}

/// Writes what it is handed: one `.vis` a unit, or one `.vis.db` for all.
class VisSink final : public UnitSink {
 public:
  VisSink(const GraphJob& job, const base::CancelToken* cancel) : job_(job), cancel_(cancel) {}

  Status Start(std::span<const PlannedUnit> /*plan*/, size_t threads,
               base::Diagnostics* diagnostics) override {
    MSPROBE_RETURN_IF_ERROR(directory_.Prepare(job_.output));
    NoteAboutOutput(job_, diagnostics);
    if (job_.format != OutputFormat::kVisDb) return Status::Ok();
    const std::string name =
        (job_.golden.empty() ? "build_" : "compare_") + time_stamp_ + ".vis.db";
    MSPROBE_ASSIGN_OR_RETURN(db_,
                             visfile::VisDbWriter::Create(job_.output / name, {threads, cancel_}));
    return Status::Ok();
  }

  Status TakeGraph(const UnitTurn& turn, const graph::Graph& graph) override {
    visfile::VisContent content;
    content.single = &graph;
    return Write(turn, content);
  }

  Status TakeComparison(const UnitTurn& turn, const compare::Comparison& comparison,
                        const compare::DivergenceReport& divergences) override {
    visfile::VisContent content;
    content.comparison = &comparison;
    content.divergences = &divergences;
    return Write(turn, content);
  }

  /// Gives the database its name, and the units and `summary` the names of what was written.
  Status Finish(GraphSummary* summary) {
    std::filesystem::path database;
    for (report::UnitSummary& unit : summary->units) {
      if (!unit.status.ok()) continue;
      if (db_ == nullptr) {
        summary->outputs.push_back(unit.output);
        continue;
      }
      if (database.empty()) {
        const base::StageTimer stage("index");
        MSPROBE_ASSIGN_OR_RETURN(database, db_->Finish());
        summary->outputs.push_back(database);
      }
      unit.output = database;
    }
    return Status::Ok();
  }

 private:
  Status Write(const UnitTurn& turn, visfile::VisContent content) {
    content.step = turn.plan.target.step;
    content.rank = turn.plan.rank();
    content.overflow_check = job_.overflow_check;
    content.complete_stack = job_.complete_stack;
    content.diagnostics = turn.diagnostics;
    if (db_ != nullptr) {
      const std::lock_guard lock(db_mutex_);
      return db_->Add(content).WithAdvice(kOutputAdvice);
    }
    const std::string name = (content.single != nullptr ? "build" : "compare") +
                             turn.plan.name_part + "_" + time_stamp_ + ".vis";
    Result<std::filesystem::path> path =
        visfile::WriteVis(content, job_.output / name, {turn.threads, cancel_});
    if (!path.ok()) return std::move(path).status().WithAdvice(kOutputAdvice);
    turn.summary->output = std::move(path).value();
    return Status::Ok();
  }

  const GraphJob& job_;
  const base::CancelToken* cancel_;
  const std::string time_stamp_ = TimeStamp();
  OutputDirectory directory_;
  std::mutex db_mutex_;
  std::unique_ptr<visfile::VisDbWriter> db_;
};

}  // namespace

Result<GraphSummary> RunGraphJob(const GraphJob& job, JobObserver* observer,
                                 const base::CancelToken* cancel, base::Diagnostics* diagnostics) {
  VisSink sink(job, cancel);
  GraphSummary summary;
  MSPROBE_ASSIGN_OR_RETURN(static_cast<UnitResults&>(summary),
                           RunUnits(job, &sink, observer, cancel, diagnostics));
  MSPROBE_RETURN_IF_ERROR(sink.Finish(&summary));
  return summary;
}

}  // namespace msprobe::app
