#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json/json_tape.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// Appends a number, written as JSON or one of Python's words, as str() shows it.
void AppendPythonNumber(std::string_view raw, std::string* out);

/// Appends the value at `index` as Python's str() shows it after json.loads: True, None, 1e-05,
/// nan, strings plain, lists and dicts as repr(). Errors: Corrupt (a bad escape in a string).
Status AppendPythonText(const formats::JsonTape& tape, uint32_t index, std::string* out);

}  // namespace msprobe::dump
