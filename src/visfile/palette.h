#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"

namespace msprobe::visfile {

/// The two file formats: they differ in what an index means and in how much a value says.
enum class Dialect : uint8_t {
  kVis,  ///< `.vis`
  kDb,   ///< `.vis.db`
};

/// The word for the mode that the viewers know. They know none for kStructure: "summary" there,
/// which lets nodes be matched by hand.
std::string_view TaskText(compare::CompareMode mode);

/// The legend: {"#hex":{"value":[low,high],"description":…}, …}.
void AppendColors(compare::CompareMode mode, Dialect dialect, std::string* out);

/// What the metric columns mean: {"Max diff":"…", …}.
void AppendToolTip(compare::CompareMode mode, std::string* out);

}  // namespace msprobe::visfile
