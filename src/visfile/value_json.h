#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "dump/record.h"
#include "visfile/palette.h"

namespace msprobe::visfile {

/// Appends one entry of input_data or output_data (without its key). `result` is null where
/// nothing was compared: golden side, single graph, unmatched node. `scratch` is overwritten.
void AppendValue(const dump::Value& value, const compare::Comparison* comparison,
                 const compare::ValueResult* result, Dialect dialect, std::string* scratch,
                 std::string* out);

}  // namespace msprobe::visfile
