#pragma once

#include <string_view>

namespace msprobe::base {

/// True if all of `text` fits: * any text, ? one byte. Takes at most the product of both lengths.
bool FitsWildcards(std::string_view pattern, std::string_view text);

}  // namespace msprobe::base
