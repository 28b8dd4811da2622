#include "app/overflow_job.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "app/fail_on.h"
#include "app/output_directory.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "dump/layout.h"
#include "graph/collective_linker.h"
#include "graph/overflow_scan.h"

namespace msprobe::app {

namespace {

class Searcher {
 public:
  Searcher(const OverflowJob& job, const base::CancelToken* cancel, base::Diagnostics* diagnostics)
      : job_(job),
        cancel_(cancel),
        diagnostics_(*diagnostics),
        threads_(job.threads > 0 ? job.threads : base::AvailableCores()) {}

  Result<report::OverflowReport> Run() {
    MSPROBE_ASSIGN_OR_RETURN(const dump::DumpTree tree,
                             dump::FindDumpUnits(job_.dump, &diagnostics_));
    std::vector<size_t> begins;
    for (size_t i = 0; i < tree.units.size(); ++i) {
      if (i == 0 || tree.units[i].step != tree.units[i - 1].step) begins.push_back(i);
    }
    report_.steps = begins.size();
    report_.has_ranks = std::ranges::any_of(tree.units, [](const dump::DumpUnit& unit) {
      return unit.rank.has_value() && !unit.is_process;
    });
    total_ = tree.units.size();
    for (size_t i = 0; i < begins.size() && !report_.found && !cancelled(); ++i) {
      const size_t end = i + 1 < begins.size() ? begins[i + 1] : tree.units.size();
      SearchStep({tree.units.begin() + static_cast<ptrdiff_t>(begins[i]),
                  tree.units.begin() + static_cast<ptrdiff_t>(end)});
    }
    if (cancelled()) return CancelledError();
    if (report_.ranks == 0) return report_.failures.front().status;
    if (report_.nodes == 0 && report_.failures.empty() && report_.unreadable_records == 0) {
      return InvalidArgumentError("the dump has no records", "collect again", job_.dump.string());
    }
    return std::move(report_);
  }

 private:
  /// One rank of the step that is searched.
  struct Rank {
    dump::DumpUnit unit;
    int64_t number = 0;
    Status status;
    graph::OverflowScan scan;
    size_t link = 0;  ///< number in the linker
    bool cut_off = false;
  };

  bool cancelled() const { return cancel_ != nullptr && cancel_->cancelled(); }

  void SearchStep(const std::vector<dump::DumpUnit>& units) {
    std::vector<Rank> ranks(units.size());
    for (size_t i = 0; i < units.size(); ++i) {
      ranks[i].unit = units[i];
      ranks[i].number = units[i].is_process ? 0 : units[i].rank.value_or(0);
    }
    graph::CollectiveLinker linker;
    base::ParallelFor(ranks.size(), 1, threads_, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end && !cancelled(); ++i) {
        ranks[i].status = ScanRank(&ranks[i], &linker);
        const std::lock_guard lock(mutex_);
        ++done_;
        if (job_.progress) job_.progress(static_cast<double>(done_) / static_cast<double>(total_));
      }
    });
    ++report_.steps_read;
    Conclude(std::move(ranks), linker);
  }

  Status ScanRank(Rank* rank, graph::CollectiveLinker* linker) {
    MSPROBE_ASSIGN_OR_RETURN(
        std::shared_ptr<const dump::RankDump> dump,
        dump::RankDump::Open(rank->unit.directory, {.need_construct = false, .need_stack = false},
                             &diagnostics_));
    if (!dump->has_statistics() && dump->entry_count() > 0) {
      return InvalidArgumentError("the dump has no statistics: NaN and Inf cannot be seen",
                                  "collect with task statistics or tensor",
                                  rank->unit.directory.string());
    }
    rank->cut_off = dump->is_cut_off();
    std::unique_ptr<graph::Graph> graph;
    if (dump->construct().empty()) {
      graph = graph::BuildFlatGraph(std::move(dump));
    } else {
      base::Diagnostics unused;  // where nodes hang matters little here
      MSPROBE_ASSIGN_OR_RETURN(graph,
                               graph::BuildGraph(std::move(dump), {.cancel = cancel_}, &unused));
    }
    rank->scan = graph::ScanOverflow(*graph, cancel_);
    const std::lock_guard lock(mutex_);
    rank->link = linker->Add(*graph, rank->number);
    return Status::Ok();
  }

  void Conclude(std::vector<Rank> ranks, const graph::CollectiveLinker& linker) {
    std::vector<graph::OverflowScan> scans;
    std::vector<int64_t> numbers;
    std::vector<size_t> by_link(ranks.size());
    bool found = false;
    uint64_t nodes = 0;
    for (Rank& rank : ranks) {
      if (!rank.status.ok()) {
        report_.failures.push_back({rank.unit.directory.string(), std::move(rank.status)});
        continue;
      }
      by_link[rank.link] = scans.size();
      numbers.push_back(rank.number);
      nodes += rank.scan.nodes;
      report_.unreadable_records += rank.scan.unreadable + (rank.cut_off ? 1 : 0);
      report_.cut_off += rank.cut_off ? 1 : 0;
      report_.masked_records += rank.scan.masked;
      found |= !rank.scan.events.empty();
      scans.push_back(std::move(rank.scan));
    }
    report_.nodes = found ? nodes : report_.nodes + nodes;
    report_.ranks = found ? scans.size() : report_.ranks + scans.size();
    if (!found) return;
    std::vector<graph::LinkedCall> calls = linker.LinkedCalls();
    for (graph::LinkedCall& call : calls) {
      if (call.root != graph::LinkedCall::kNoRoot) call.root = by_link[call.root];
      for (graph::LinkedCall::Member& member : call.members) member.rank = by_link[member.rank];
    }
    report_.found = true;
    report_.step = ranks.front().unit.step;
    report_.chain = graph::ChainOverflow(scans, numbers, calls);
    const auto first = std::ranges::find(numbers, report_.first().rank);
    graph::OverflowScan& scan = scans[static_cast<size_t>(first - numbers.begin())];
    report_.events = std::move(scan.events);
    report_.event_count = scan.event_count;
    report_.later_sources = std::move(scan.later_sources);
    report_.later_source_count = scan.source_count;
  }

  const OverflowJob& job_;
  const base::CancelToken* cancel_;
  base::Diagnostics& diagnostics_;
  size_t threads_;
  std::mutex mutex_;
  size_t done_ = 0;
  size_t total_ = 0;
  report::OverflowReport report_;
};

}  // namespace

Result<report::OverflowReport> FindOverflow(const OverflowJob& job, const base::CancelToken* cancel,
                                            base::Diagnostics* diagnostics) {
  const auto start = std::chrono::steady_clock::now();
  Result<report::OverflowReport> report = Searcher(job, cancel, diagnostics).Run();
  if (report.ok()) {
    report->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return report;
}

Result<std::filesystem::path> WriteOverflowJson(const std::filesystem::path& directory,
                                                const std::string& json) {
  Status created = base::CreateDirectories(directory);
  if (!created.ok()) return std::move(created).WithAdvice(kOutputAdvice);
  Result<base::AtomicFile> file =
      base::AtomicFile::Create(directory / ("overflow_" + TimeStamp() + ".json"));
  if (!file.ok()) return std::move(file).status().WithAdvice(kOutputAdvice);
  Status written = file->Append(json);
  if (!written.ok()) return std::move(written).WithAdvice(kOutputAdvice);
  return file->CommitUnique(".json");
}

int ExitCode(const report::OverflowReport& report, bool fail_on_overflow) {
  int code = 0;
  for (const auto& failure : report.failures) code = std::max(code, ExitCode(failure.status));
  if (code != 0) return code;
  if (report.found && fail_on_overflow) return 1;
  return report.unreadable_records == 0 ? 0 : 3;
}

}  // namespace msprobe::app
