#include "app/fail_on.h"

#include <algorithm>

#include "app/nearest_word.h"

namespace msprobe::app {

const std::vector<std::string>& FailLevelWords() {
  static const std::vector<std::string> words = {"error",      "warning", "unmatched",
                                                 "unreadable", "culprit", "diverged"};
  return words;
}

Result<std::vector<FailLevel>> ParseFailOn(std::string_view text) {
  std::vector<FailLevel> levels;
  const std::vector<std::string>& words = FailLevelWords();
  while (true) {
    const size_t comma = text.find(',');
    const std::string word(text.substr(0, comma));
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) {
      return InvalidArgumentError("--fail-on has no level '" + word + "'",
                                  DidYouMean(word, words) + "levels: " + JoinWords(words));
    }
    levels.push_back(static_cast<FailLevel>(found - words.begin()));
    if (comma == std::string_view::npos) return levels;
    text.remove_prefix(comma + 1);
  }
}

uint64_t LevelCount(const report::UnitSummary& unit, FailLevel level) {
  switch (level) {
    case FailLevel::kError: return unit.errors;
    case FailLevel::kWarning: return unit.errors + unit.warnings;
    case FailLevel::kUnmatched:
      return unit.target.unmatched_total() + unit.golden.unmatched_total();
    case FailLevel::kUnreadable: return unit.unreadable_tensors + unit.unreadable_records;
    case FailLevel::kCulprit: return unit.culprit_count;
    // A node may count as both, and as either alone: see report::OverallVerdict().
    case FailLevel::kDiverged: return std::max(unit.errors, unit.divergence_count);
  }
  return 0;
}

int ExitCode(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk: return 0;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kCorrupt:
    case StatusCode::kUnsupported:
    case StatusCode::kLimitExceeded: return 2;
    case StatusCode::kIo:
    case StatusCode::kCancelled:
    case StatusCode::kInternal: return 4;
  }
  return 4;
}

int ExitCode(std::span<const report::UnitSummary> units, const std::vector<FailLevel>& fail_on,
             const AllowList::Outcome* allowed) {
  report::UnitSummary total;
  int code = 0;
  for (const report::UnitSummary& unit : units) {
    code = std::max(code, ExitCode(unit.status));
    if (unit.status.ok()) report::AddCounts(unit, &total);
  }
  if (code == 4) return code;
  if (allowed != nullptr && !allowed->unknown.empty()) return 1;
  for (const FailLevel level : fail_on) {
    const bool known =
        allowed != nullptr && (level == FailLevel::kUnmatched || level == FailLevel::kUnreadable);
    if (total.compared && !known && LevelCount(total, level) > 0) return 1;
  }
  if (code != 0) return code;
  return allowed == nullptr && LevelCount(total, FailLevel::kUnreadable) > 0 ? 3 : 0;
}

}  // namespace msprobe::app
