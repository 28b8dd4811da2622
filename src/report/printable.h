#pragma once

#include <string>
#include <string_view>

namespace msprobe::report {

/// Names in dumps are data: what a terminal would obey (control characters, changes of the writing
/// direction) becomes "\x1b" and so on, line breaks become spaces.
std::string Printable(std::string_view text);

/// The same for names, of which very long ones lose their middle.
std::string PrintableName(std::string_view name);

}  // namespace msprobe::report
