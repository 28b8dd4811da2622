#pragma once

#include <string_view>

#include "msprobe/tensor_view.h"

namespace msprobe::tensor {

enum class DTypeSpelling : uint8_t { kTorch, kMindSpore, kNumpy };

/// "torch.float32" | "Float32" | "float32"; "" for kUnknown.
std::string_view DTypeName(DType dtype, DTypeSpelling spelling);

/// Understands every spelling above, and "mindspore.float32"; kUnknown for anything else.
DType ParseDType(std::string_view name);

bool IsFloatingPoint(DType dtype);  ///< fp8 … float64, not complex
bool IsComplex(DType dtype);
bool IsIntegral(DType dtype);  ///< integers and bool

}  // namespace msprobe::tensor
