#include "base/crc32.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "base/crc32_wide.h"

namespace msprobe::base {
namespace {

uint32_t BitByBit(uint32_t crc, std::span<const std::byte> data) {
  crc = ~crc;
  for (const std::byte byte : data) {
    crc ^= static_cast<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

TEST(Crc32Test, KnownValue) {
  const std::string_view text = "123456789";
  EXPECT_EQ(Crc32(0, std::as_bytes(std::span(text))), 0xCBF43926U);
}

TEST(Crc32Test, EveryLengthAndAlignment) {
  std::mt19937 random(1);
  std::vector<std::byte> data(5000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  for (size_t size = 0; size < data.size() - 64; size += size < 600 ? 7 : 61) {
    const std::span<const std::byte> part(data.data() + size % 64, size);
    const auto before = static_cast<uint32_t>(random());
    ASSERT_EQ(Crc32(before, part), BitByBit(before, part)) << size;
  }
}

#if defined(__x86_64__)
TEST(Crc32Test, HalfWideRegisters) {
  if (!Crc32Half::Has()) GTEST_SKIP() << "not on this processor";
  std::mt19937 random(2);
  std::vector<std::byte> data(2000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  for (size_t size = 0; size < data.size() - 32; size += size < 300 ? 1 : 13) {
    const std::span<const std::byte> part(data.data() + size % 32, size);
    const auto before = static_cast<uint32_t>(random());
    ASSERT_EQ(Crc32Half::Of(before, part), BitByBit(before, part)) << size;
  }
}
#endif

TEST(Crc32Test, GoesOnFromAnyPlace) {
  std::vector<std::byte> data(4096 + 13);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * i >> 3);
  const std::span<const std::byte> all(data);
  for (size_t cut = 0; cut < data.size(); cut += 97) {
    EXPECT_EQ(Crc32(Crc32(0, all.first(cut)), all.subspan(cut)), BitByBit(0, all)) << cut;
  }
}

}  // namespace
}  // namespace msprobe::base
