#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/unit_details.h"
#include "report/unit_summary.h"

namespace msprobe::report {

/// A written table.
struct RowsFile {
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  uint64_t rows = 0;
  std::filesystem::path path;
};

/// All that a comparison of two dumps has to say, over ranks and steps.
struct RunReport {
  Verdict verdict = Verdict::kSame;
  std::span<const UnitSummary> units;
  std::vector<DivergedNode> culprits;  ///< best first
  std::vector<DivergedNode> victims;   ///< all other roles, in execution order
  std::vector<NotCompared> not_compared;
  std::vector<RowsFile> rows;
};

/// Puts the units together: the first step first; of several ranks, what lies behind fewer
/// communications first, then what each holds for best before what comes second; what may be a
/// consequence of an earlier step comes last. `details` stands beside `units` and is emptied.
RunReport MakeRunReport(std::span<const UnitSummary> units, std::vector<UnitDetails>* details);

/// Verdict, culprits with their source line, counts, what could not be compared and why.
std::string RunReportText(const RunReport& report);

/// One JSON object: schema/compare.schema.json.
std::string RunReportJson(const RunReport& report, double seconds, int exit_code);

/// "step0/rank1", "rank1", "step0", "step0/proc77" of a process without a rank; empty if there is
/// only one unit.
std::string PlaceText(std::optional<int64_t> step, std::optional<int64_t> rank,
                      std::optional<int64_t> process = {});

}  // namespace msprobe::report
