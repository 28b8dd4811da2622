#pragma once

#include <string>
#include <string_view>

#include "dump/record.h"

namespace msprobe::compare {

/// Whether two whole numbers are the same place, counted from either end: `dim=-1` and `dim=1` of
/// two dimensions, the last of four rows, a size of -1 that follows from the others. `record` is
/// that of the target: places are counted in its tensors.
bool CountsFromTheOtherEnd(const dump::Record& record, const dump::Value& target,
                           const dump::Value& golden);

/// How far a scalar argument is from golden's: in parts of golden's for numbers with a fraction,
/// infinite for all others that differ, 0 where it says no more than how something is written or
/// where it lies: dtypes, devices, ways of counting from the end.
double ArgumentError(const dump::Record& record, const dump::Value& target,
                     const dump::Value& golden);

/// Whether it may have been computed from tensors (`x * loss.item()`).
bool IsNumber(const dump::Value& value);

/// As a rule of the tolerances calls it: "approximate", "1".
std::string_view ArgumentName(const dump::Value& value);

/// "argument `approximate` is tanh, golden's is none".
std::string ArgumentText(const dump::Value& target, const dump::Value& golden);

/// "argument `scale` is 0.5, golden gives none", of the first scalar argument that one side alone
/// gives; empty if there is none.
std::string OneSidedArgument(const dump::Record& target, const dump::Record& golden);

}  // namespace msprobe::compare
