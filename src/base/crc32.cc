#include "base/crc32.h"

#include <libdeflate.h>

namespace msprobe::base {

uint32_t Crc32(uint32_t crc, std::span<const std::byte> data) {
  return libdeflate_crc32(crc, data.data(), data.size());
}

}  // namespace msprobe::base
