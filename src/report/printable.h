#pragma once

#include <string>
#include <string_view>

namespace msprobe::report {

/// Names in dumps are data: control characters (a terminal would obey them) become "\x1b" and so
/// on, line breaks become spaces.
std::string Printable(std::string_view text);

}  // namespace msprobe::report
