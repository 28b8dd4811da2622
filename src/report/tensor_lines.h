#pragma once

#include <functional>
#include <string_view>

#include "compare/comparison.h"

namespace msprobe::report {

/// One line per compared tensor with its metrics, in execution order: what
/// `is_print_compare_log` asks for. Only real data has such lines.
void PrintTensorLines(const compare::Comparison& comparison,
                      const std::function<void(std::string_view line)>& print);

}  // namespace msprobe::report
