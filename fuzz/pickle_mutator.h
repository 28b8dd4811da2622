#pragma once

#include <random>
#include <string>
#include <string_view>

namespace msprobe::fuzz {

/// Changes a pickle at the level of its opcodes: removes, doubles, moves, replaces them and what
/// stands in them. Counts are repaired, but for a lie now and then.
std::string MutatePickle(std::string_view bytes, std::mt19937* random);

}  // namespace msprobe::fuzz
