#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace msprobe::fuzz {

/// Changes a JSON text at the level of its values: removes, doubles, swaps, replaces and nests
/// them, so that most results are still JSON. `words` are keys and values that the reader knows.
std::string MutateJson(std::string_view text, std::mt19937* random);

/// Puts a value of `donor` in the place of one of `text`.
std::string CrossJson(std::string_view text, std::string_view donor, std::mt19937* random);

}  // namespace msprobe::fuzz
