#pragma once

#include <cstddef>
#include <cstdint>

namespace msprobe::formats::zip {

// Sizes and constants of the zip file format (APPNOTE 6.3), shared by reader and writer.
inline constexpr uint32_t kLocalSignature = 0x04034b50;
inline constexpr uint32_t kDescriptorSignature = 0x08074b50;
inline constexpr uint32_t kCentralSignature = 0x02014b50;
inline constexpr uint32_t kEndSignature = 0x06054b50;
inline constexpr uint32_t kEnd64Signature = 0x06064b50;
inline constexpr uint32_t kLocator64Signature = 0x07064b50;

inline constexpr size_t kLocalSize = 30;
inline constexpr size_t kCentralSize = 46;
inline constexpr size_t kEndSize = 22;
inline constexpr size_t kEnd64Size = 56;
inline constexpr size_t kLocator64Size = 20;

inline constexpr uint16_t kFlagEncrypted = 1 << 0;
inline constexpr uint16_t kFlagDescriptor = 1 << 3;
inline constexpr uint16_t kFlagUtf8 = 1 << 11;

inline constexpr uint16_t kMethodStored = 0;
inline constexpr uint16_t kMethodDeflated = 8;

inline constexpr uint16_t kExtra64 = 0x0001;
inline constexpr uint16_t kMax16 = 0xffff;  ///< the real number stands in the zip64 record
inline constexpr uint32_t kMax32 = 0xffffffff;

}  // namespace msprobe::formats::zip
