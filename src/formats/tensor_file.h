#pragma once

#include <filesystem>

#include "formats/stored_tensor.h"
#include "msprobe/status.h"

namespace msprobe::formats {

/// Opens an .npy or torch .pt file, told apart by the first bytes, whatever its name is. Nothing
/// in the file is executed. Errors: NotFound, Io, Corrupt, Unsupported, LimitExceeded.
Result<StoredTensor> OpenTensorFile(const std::filesystem::path& path,
                                    const TensorFileLimits& limits = {});

/// Checks what a torch .pt archive holds against its checksums. OpenTensorFile leaves this out: it
/// reads every value. Other formats have no checksums: Ok. Errors: Corrupt, LimitExceeded.
Status VerifyChecksums(const StoredTensor& tensor, const TensorFileLimits& limits = {});

}  // namespace msprobe::formats
