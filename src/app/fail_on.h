#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/graph_job.h"
#include "msprobe/status.h"

namespace msprobe::app {

/// What --fail-on may look for.
enum class FailLevel : uint8_t { kError, kWarning, kUnmatched, kUnreadable, kCulprit };

/// Comma-separated words of FailLevelWords().
Result<std::vector<FailLevel>> ParseFailOn(std::string_view text);
const std::vector<std::string>& FailLevelWords();

/// 0 fine, 1 divergence (--fail-on), 2 usage or bad input, 3 finished with unreadable tensors
/// or records, 4 failed. The higher the rank in this order: 4 and 2 of a unit, then 1, then 3.
int ExitCode(const GraphSummary& summary, const std::vector<FailLevel>& fail_on);
int ExitCode(const Status& status);

}  // namespace msprobe::app
