#pragma once

#include <string_view>

namespace msprobe::base {

/// Says on standard error, where MSPROBE_TIMING is set, how long a stage took: wall time, and the
/// CPU time that the whole process spent meanwhile. Otherwise it does nothing.
class StageTimer {
 public:
  explicit StageTimer(std::string_view stage);
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;
  ~StageTimer();

 private:
  std::string_view stage_;
  double wall_ = 0;
  double cpu_ = 0;
};

}  // namespace msprobe::base
