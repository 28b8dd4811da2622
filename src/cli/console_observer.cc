#include "cli/console_observer.h"

#include <cstdio>

#include "report/printable.h"
#include "report/tensor_lines.h"

namespace msprobe::cli {

void ConsoleObserver::UnitStarted(size_t /*unit*/, const std::string& label) {
  Line(base::LogLevel::kInfo, "start " + label);
}

void ConsoleObserver::UnitProgress(size_t unit, double fraction) {
  fractions_[unit] = fraction;
  double sum = 0;
  for (const double value : fractions_) sum += value;
  const double done = sum / static_cast<double>(fractions_.size());
  bar_.Show(done, "");
  if (progress_lines_ && done >= next_line_) {
    Line(base::LogLevel::kInfo, std::to_string(static_cast<int>(done * 100)) + "% done");
    next_line_ = done + 0.1;
  }
}

void ConsoleObserver::UnitCompared(const std::string& label,
                                   const compare::Comparison& comparison) {
  if (!tensor_lines_) return;
  bar_.Clear();
  const std::string lead = fractions_.size() > 1 ? label + ": " : std::string();
  report::PrintTensorLines(comparison, [&lead](std::string_view line) {
    base::Log(base::LogLevel::kInfo, lead + std::string(line));
  });
}

void ConsoleObserver::UnitFinished(size_t unit, const report::UnitSummary& summary) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.3f s", summary.seconds);
  if (summary.status.ok()) {
    Line(base::LogLevel::kInfo,
         "done " + summary.label + " in " + seconds +
             (summary.output.empty() ? std::string() : ": " + summary.output.string()));
  } else {
    Line(base::LogLevel::kInfo, "failed " + summary.label);
    PrintStatus(summary.status);
  }
  UnitProgress(unit, 1);
}

void ConsoleObserver::Line(base::LogLevel level, const std::string& text) {
  bar_.Clear();
  base::Log(level, report::Printable(text));
}

}  // namespace msprobe::cli
