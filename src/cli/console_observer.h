#pragma once

#include <string>
#include <vector>

#include "app/unit_job.h"
#include "base/log.h"
#include "cli/console.h"

namespace msprobe::cli {

/// Shows a job on standard error: lines for starts and ends, a bar in between.
class ConsoleObserver final : public app::JobObserver {
 public:
  ConsoleObserver(bool tensor_lines, bool progress_lines)
      : tensor_lines_(tensor_lines), progress_lines_(progress_lines) {}

  void JobStarted(size_t units) override { fractions_.assign(units, 0); }
  void UnitStarted(size_t unit, const std::string& label) override;
  void UnitProgress(size_t unit, double fraction) override;
  void UnitCompared(const std::string& label, const compare::Comparison& comparison) override;
  void UnitFinished(size_t unit, const report::UnitSummary& summary) override;
  void Finish() { bar_.Clear(); }

 private:
  void Line(base::LogLevel level, const std::string& text);

  const bool tensor_lines_;
  const bool progress_lines_;
  ProgressBar bar_;
  std::vector<double> fractions_;
  double next_line_ = 0.1;
};

}  // namespace msprobe::cli
