#pragma once

#include <cstddef>
#include <span>

namespace msprobe::formats {

/// Decompresses a raw deflate stream; true if it is sound, ends with `compressed`, and fills
/// `out` exactly.
bool Inflate(std::span<const std::byte> compressed, std::span<std::byte> out);

}  // namespace msprobe::formats
