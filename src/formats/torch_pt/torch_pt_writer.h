#pragma once

#include <string_view>

#include "base/file.h"
#include "msprobe/status.h"
#include "msprobe/tensor_view.h"

namespace msprobe::formats {

/// Appends `view` as a .pt file that torch.load(weights_only=True) reads since torch 2.1 (as far as
/// that version knows the dtype): a plain contiguous CPU tensor, the conjugate and negative flags
/// applied. `name` is the folder inside the archive, "archive" if empty. One pass over the values,
/// large ones are not copied. The caller commits the file.
Status WriteTorchPt(const TensorView& view, std::string_view name, base::AtomicFile* file);

}  // namespace msprobe::formats
