#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace msprobe::base {

/// CRC-32 (IEEE 802.3, as zlib.crc32); pass the previous value to go on.
uint32_t Crc32(uint32_t crc, std::span<const std::byte> data);

}  // namespace msprobe::base
