#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/allow_list.h"
#include "msprobe/status.h"
#include "report/unit_summary.h"

namespace msprobe::app {

/// What --fail-on may look for.
enum class FailLevel : uint8_t {
  kError,
  kWarning,
  kUnmatched,
  kUnreadable,
  kCulprit,
  kDiverged  ///< what makes the verdict "diverged", whether a node is to blame or not
};

/// Comma-separated words of FailLevelWords().
Result<std::vector<FailLevel>> ParseFailOn(std::string_view text);
const std::vector<std::string>& FailLevelWords();

/// 0 fine, 1 divergence (--fail-on), 2 usage or bad input, 3 finished with unreadable tensors
/// or records, 4 failed. What comes first of: 4 of a unit, 1, 2 of a unit (another one that cannot
/// be read does not hide what was found), 3. With `allowed`, only what it does not know counts as
/// unmatched and unreadable, and gives 1.
int ExitCode(std::span<const report::UnitSummary> units, const std::vector<FailLevel>& fail_on,
             const AllowList::Outcome* allowed);

/// Nodes (unmatched: of both sides, unreadable: tensors and records) of that level; warning counts
/// the errors too.
uint64_t LevelCount(const report::UnitSummary& unit, FailLevel level);
int ExitCode(const Status& status);

}  // namespace msprobe::app
