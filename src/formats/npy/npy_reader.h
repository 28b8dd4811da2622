#pragma once

#include <cstddef>
#include <span>

#include "formats/stored_tensor.h"
#include "msprobe/status.h"

namespace msprobe::formats {

bool LooksLikeNpy(std::span<const std::byte> bytes);

/// Reads .npy versions 1, 2 and 3. The values stay in `bytes` unless they are big-endian.
Result<StoredTensor> ReadNpy(std::span<const std::byte> bytes, const TensorFileLimits& limits);

}  // namespace msprobe::formats
