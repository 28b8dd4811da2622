#include "formats/torch_pt/storage_types.h"

#include <array>
#include <utility>

namespace msprobe::formats {

namespace {

constexpr std::array<std::pair<std::string_view, DType>, 12> kStorages = {{
    {"DoubleStorage", DType::kFloat64},
    {"FloatStorage", DType::kFloat32},
    {"HalfStorage", DType::kFloat16},
    {"BFloat16Storage", DType::kBFloat16},
    {"LongStorage", DType::kInt64},
    {"IntStorage", DType::kInt32},
    {"ShortStorage", DType::kInt16},
    {"CharStorage", DType::kInt8},
    {"ByteStorage", DType::kUInt8},
    {"BoolStorage", DType::kBool},
    {"ComplexDoubleStorage", DType::kComplex128},
    {"ComplexFloatStorage", DType::kComplex64},
}};

}  // namespace

std::optional<DType> StorageDType(std::string_view module, std::string_view name) {
  if (module == "torch.storage" && (name == "UntypedStorage" || name == "_UntypedStorage")) {
    return DType::kUInt8;
  }
  // Older versions name the device in the class: torch.cuda.FloatStorage.
  if (module != "torch" && module != "torch.cuda" && module != "torch.npu") return std::nullopt;
  for (const auto& [storage, dtype] : kStorages) {
    if (storage == name) return dtype;
  }
  return std::nullopt;
}

std::string_view StorageName(DType dtype) {
  for (const auto& [storage, storage_dtype] : kStorages) {
    if (storage_dtype == dtype) return storage;
  }
  return "";
}

}  // namespace msprobe::formats
