#pragma once

#include <cstdint>
#include <cstdlib>

#include "base/crc32.h"
#include "formats/tensor_file.h"
#include "tensor/gather.h"

namespace msprobe::fuzz {

/// Touches every value: a tensor that was accepted must lie inside its file.
inline void UseTensor(const formats::StoredTensor& tensor) {
  if (tensor.strides.size() != tensor.shape.size()) std::abort();
  // Expanded dimensions make large tensors of few bytes; reading all of them finds nothing new.
  constexpr int64_t kMaxElements = 1 << 16;
  if (ElementCount(tensor.shape) > kMaxElements) return;
  uint32_t crc = 0;
  tensor::BlockReader reader(tensor.view());
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    crc = base::Crc32(crc, block);
  }
  tensor::ForEachRun(tensor.view(), tensor::VisitOrder::kAny,
                     [&](const std::byte* run, int64_t count, int64_t stride) {
                       const size_t size = ElementSize(tensor.dtype);
                       for (int64_t i = 0; i < count; ++i) {
                         crc = base::Crc32(crc,
                                           {run + i * stride * static_cast<int64_t>(size), size});
                       }
                     });
}

}  // namespace msprobe::fuzz
