// A tolerance profile never crashes the reader, and whatever it accepts is written and read again
// with the same bounds.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compare/tolerance.h"

namespace {

using msprobe::compare::ParseToleranceProfile;

constexpr const char* kNodes[] = {"Functional.softmax.3.forward", "Module.a.0.Linear.backward.1",
                                  "Module.a.Linear.parameters_grad", "x", ""};

/// A bound is written with four digits.
bool Near(double a, double b) { return std::fabs(a - b) <= 1e-3 * a + 1e-300; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto profile =
      ParseToleranceProfile({reinterpret_cast<const char*>(data), size}, "profile.yaml");
  if (!profile.ok()) return 0;
  const auto again = ParseToleranceProfile(profile->ToYaml("learned"), "again.yaml");
  if (!again.ok() || again->rules().size() != profile->rules().size()) std::abort();
  for (const char* node : kNodes) {
    const auto* rule = profile->RuleOf(node);
    const auto* read = again->RuleOf(node);
    if ((rule == nullptr) != (read == nullptr)) std::abort();
    if (rule == nullptr) continue;
    if (rule->parameters.has_value() != read->parameters.has_value()) std::abort();
    if (rule->integers.has_value() != read->integers.has_value()) std::abort();
    if (!std::isfinite(rule->bound) || rule->bound < 0 || !Near(rule->bound, read->bound)) {
      std::abort();
    }
  }
  return 0;
}
