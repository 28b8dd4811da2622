#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "msprobe/status.h"
#include "tensor/dtype.h"

namespace msprobe::compare {

/// Half the distance from 1 to the next number: the relative error of one rounding. 0: exact.
double UnitRoundoff(DType dtype);

/// Orders dtypes by the size of one rounding: integers, float64, float32, float16, bfloat16, fp8.
DType Coarser(DType a, DType b);

/// What counts as rounding, where the user or an earlier pair of good runs says so.
class ToleranceProfile {
 public:
  struct Rule {
    std::string pattern;  ///< of node names; * any text, ? any letter
    double bound = 0;     ///< largest error that is fine, in units of the tensor's own size
    std::optional<double> parameters = {};  ///< that of parameters; none: as `bound`
    std::optional<double> integers = {};  ///< of whole numbers, below `bound`; none: as all others
    std::vector<std::string> arguments = {};  ///< scalar ones that may be others; * any text

    bool Excuses(std::string_view argument) const;
  };

  /// The first rule whose pattern fits; null: the default holds.
  const Rule* RuleOf(std::string_view node) const;
  /// Roundings of that dtype that are fine for a sum of one term; none: the default holds.
  std::optional<double> Roundings(DType dtype) const;

  /// A later rule with the same pattern has no effect.
  void AddRule(Rule rule);
  void SetRoundings(DType dtype, double count) { roundings_[dtype] = count; }
  const std::vector<Rule>& rules() const { return rules_; }

  /// The text of a file that Load() reads.
  std::string ToYaml(std::string_view comment) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<Rule> rules_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> by_pattern_;
  std::vector<size_t> wild_;  ///< rules that neither a name nor its class finds
  std::unordered_map<DType, double> roundings_;
};

/// Errors: NotFound, InvalidArgument (the yaml is broken or has another structure; names the line).
Result<ToleranceProfile> LoadToleranceProfile(const std::filesystem::path& path);
Result<ToleranceProfile> ParseToleranceProfile(const std::string& text, const std::string& path);

/// "Functional.linear.7.forward" → "Functional.linear.*.forward", "Module.a.0.Linear.forward.3" →
/// "Module.a.0.Linear.forward.*": the same place, whatever its call numbers.
std::string NamePattern(std::string_view node);

}  // namespace msprobe::compare
