#pragma once

#include <cstddef>
#include <span>

#include "formats/stored_tensor.h"
#include "msprobe/status.h"

namespace msprobe::formats {

/// A zip archive, a pickle (torch's format before 1.6) or a tar archive (before 0.1.10).
bool LooksLikeTorchPt(std::span<const std::byte> bytes);

/// Reads what torch.save writes for one tensor. The values stay in `bytes` unless they are
/// compressed or big-endian. Nothing in the file is executed.
Result<StoredTensor> ReadTorchPt(std::span<const std::byte> bytes, const TensorFileLimits& limits);

/// Checks the stored entries of a zip archive against their checksums; anything else is Ok.
/// Compressed entries were checked when they were read.
Status VerifyTorchPt(std::span<const std::byte> bytes, const TensorFileLimits& limits);

}  // namespace msprobe::formats
