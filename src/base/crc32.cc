#include "base/crc32.h"

#include <libdeflate.h>

#include "base/crc32_wide.h"

namespace msprobe::base {

namespace {

#if defined(__x86_64__)

// Below, setting out and gathering the lanes takes longer than is saved.
constexpr size_t kLeastWide = 1024;

MSPROBE_WIDE uint32_t OfBlocks(uint32_t crc, const std::byte* data, size_t blocks) {
  Crc32Wide wide(crc);
  const auto load = [&data](size_t at) MSPROBE_WIDE { return _mm512_loadu_si512(data + at); };
  for (; blocks > 0; --blocks, data += Crc32Wide::kBlock) {
    wide.Add(load(0), load(64), load(128), load(192));
  }
  return wide.Finish();
}

#endif

}  // namespace

uint32_t Crc32(uint32_t crc, std::span<const std::byte> data) {
#if defined(__x86_64__)
  if (data.size() >= kLeastWide && Crc32Wide::HasWide()) {
    const size_t blocks = data.size() / Crc32Wide::kBlock;
    crc = OfBlocks(crc, data.data(), blocks);
    data = data.subspan(blocks * Crc32Wide::kBlock);
  }
#endif
  return libdeflate_crc32(crc, data.data(), data.size());
}

}  // namespace msprobe::base
