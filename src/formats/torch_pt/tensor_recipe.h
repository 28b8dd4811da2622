#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/pickle/pickle_reader.h"
#include "formats/stored_tensor.h"
#include "msprobe/status.h"
#include "msprobe/tensor_view.h"

namespace msprobe::formats {

/// A storage as the pickle names it.
struct StorageReference {
  std::string_view key;
  DType dtype = DType::kUInt8;  ///< uint8 for an untyped storage
  int64_t element_count = 0;
};

/// How torch would put a tensor together: a window into a storage.
struct TensorRecipe {
  StorageReference storage;
  DType dtype = DType::kUnknown;
  bool conjugate = false;
  bool negative = false;
  int64_t offset = 0;  ///< in elements, like the strides
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

/// The globals that a torch.save pickle of plain tensors may name.
bool IsTorchGlobal(std::string_view module, std::string_view name);

/// The one tensor in the pickle: the object itself or inside lists, tuples and dicts. Everything
/// in the recipe is checked but for the size of the storage.
Result<TensorRecipe> FindTensor(const PickleDocument& document, const TensorFileLimits& limits);

/// The storage that the persistent id `node` names.
Result<StorageReference> ReadStorageReference(const PickleDocument& document,
                                              const PickleNode& node);

/// Fills data, dtype, shape, strides of `tensor` from the bytes of the storage; Corrupt if the
/// storage is shorter than it says or than the tensor needs.
Status BuildTensor(TensorRecipe recipe, std::span<const std::byte> storage, bool big_endian,
                   StoredTensor* tensor);

}  // namespace msprobe::formats
