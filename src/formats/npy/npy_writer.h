#pragma once

#include "base/file.h"
#include "msprobe/status.h"
#include "msprobe/tensor_view.h"

namespace msprobe::formats {

/// Appends `view` as an .npy file, version 1, C order, little-endian. numpy has no bfloat16, fp8
/// and complex32: they are written as float32 and complex64, exactly. The conjugate and negative
/// flags are applied. The caller commits the file.
Status WriteNpy(const TensorView& view, base::AtomicFile* file);

}  // namespace msprobe::formats
