#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/allow_list.h"
#include "app/fail_on.h"
#include "report/junit_xml.h"
#include "report/run_report.h"

namespace msprobe::app {

/// What makes a finished comparison fail.
struct Gate {
  std::vector<FailLevel> fail_on;
  std::optional<AllowList> allow;
  std::filesystem::path junit;  ///< where the caller writes GateVerdict::suites; may be empty

  /// Whether Judge() needs the lists of the report, not only its units.
  bool needs_details() const { return allow.has_value() || !junit.empty(); }
};

struct GateVerdict {
  int exit_code = 0;
  std::vector<std::string> notes;          ///< new skips and stale entries
  std::vector<report::JUnitSuite> suites;  ///< one a unit, a case a level; empty without junit
};

/// Exit codes as ExitCode(). What the allow-list knows counts neither as unmatched nor as
/// unreadable; what it does not know gives 1.
GateVerdict Judge(const Gate& gate, const report::RunReport& report);

}  // namespace msprobe::app
