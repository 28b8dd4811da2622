#pragma once

#include <cstdint>
#include <string>

#include "formats/json/json_tape.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// Appends the value at `index` as Python's str() shows it after json.loads: True, None, 1e-05,
/// nan, strings plain, lists and dicts as repr(). Errors: Corrupt (a bad escape in a string).
Status AppendPythonText(const formats::JsonTape& tape, uint32_t index, std::string* out);

}  // namespace msprobe::dump
