#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace msprobe::report {

struct JUnitCase {
  enum class Outcome : uint8_t { kPass, kFail, kSkip };

  std::string name;
  Outcome outcome = Outcome::kPass;
  std::string message;  ///< one line; empty for a pass
  std::string text;     ///< lines below it; may be empty
};

struct JUnitSuite {
  std::string name;
  double seconds = 0;
  std::vector<JUnitCase> cases;
};

/// The XML that CI servers read as test results.
std::string JUnitXml(std::span<const JUnitSuite> suites);

}  // namespace msprobe::report
