#include "app/fail_on.h"

#include <algorithm>

#include "app/nearest_word.h"

namespace msprobe::app {

const std::vector<std::string>& FailLevelWords() {
  static const std::vector<std::string> words = {"error", "warning", "unmatched", "unreadable",
                                                 "culprit"};
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

namespace {

bool Triggers(const report::UnitSummary& total, FailLevel level) {
  switch (level) {
    case FailLevel::kError: return total.errors > 0;
    case FailLevel::kWarning: return total.errors + total.warnings > 0;
    case FailLevel::kUnmatched:
      return total.target.unmatched_total() + total.golden.unmatched_total() > 0;
    case FailLevel::kUnreadable: return total.unreadable_tensors + total.unreadable_records > 0;
    case FailLevel::kCulprit: return total.culprit_count > 0;
  }
  return false;
}

}  // namespace

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

int ExitCode(const GraphSummary& summary, const std::vector<FailLevel>& fail_on) {
  report::UnitSummary total;
  int code = 0;
  for (const report::UnitSummary& unit : summary.units) {
    code = std::max(code, ExitCode(unit.status));
    if (unit.status.ok()) report::AddCounts(unit, &total);
  }
  if (code != 0) return code;
  for (const FailLevel level : fail_on) {
    if (total.compared && Triggers(total, level)) return 1;
  }
  return total.unreadable_tensors + total.unreadable_records > 0 ? 3 : 0;
}

}  // namespace msprobe::app
