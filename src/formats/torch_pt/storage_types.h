#pragma once

#include <optional>
#include <string_view>

#include "msprobe/tensor_view.h"

namespace msprobe::formats {

/// The dtype of torch's storage class `module`.`name`: torch.FloatStorage → float32, untyped
/// storages → uint8; nullopt for anything else.
std::optional<DType> StorageDType(std::string_view module, std::string_view name);

/// "FloatStorage"; "" for dtypes that torch keeps in untyped storages.
std::string_view StorageName(DType dtype);

}  // namespace msprobe::formats
