#pragma once

#include <string>
#include <string_view>

#include "dump/record.h"

namespace msprobe::compare {

/// How far a scalar argument is from golden's: in parts of golden's for numbers with a fraction,
/// infinite for all others that differ, 0 where it says no more than how something is written or
/// where it lies: dtypes, devices, ways of counting from the end.
double ArgumentError(const dump::Value& target, const dump::Value& golden);

/// Whether it may have been computed from tensors (`x * loss.item()`).
bool IsNumber(const dump::Value& value);

/// As a rule of the tolerances calls it: "approximate", "1".
std::string_view ArgumentName(const dump::Value& value);

/// "argument `approximate` is tanh, golden's is none".
std::string ArgumentText(const dump::Value& target, const dump::Value& golden);

}  // namespace msprobe::compare
