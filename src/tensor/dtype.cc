#include "tensor/dtype.h"

#include <array>

namespace msprobe {

namespace {

enum class Family : uint8_t { kNone, kIntegral, kFloating, kComplex };

struct DTypeInfo {
  DType dtype;
  uint8_t size;
  Family family;
  std::string_view torch;
  std::string_view mindspore;
  std::string_view numpy;
};

// The one table of dtypes; indexed by DType.
constexpr std::array<DTypeInfo, 22> kDTypes = {{
    {DType::kUnknown, 0, Family::kNone, "", "", ""},
    {DType::kBool, 1, Family::kIntegral, "torch.bool", "Bool", "bool"},
    {DType::kUInt8, 1, Family::kIntegral, "torch.uint8", "UInt8", "uint8"},
    {DType::kUInt16, 2, Family::kIntegral, "torch.uint16", "UInt16", "uint16"},
    {DType::kUInt32, 4, Family::kIntegral, "torch.uint32", "UInt32", "uint32"},
    {DType::kUInt64, 8, Family::kIntegral, "torch.uint64", "UInt64", "uint64"},
    {DType::kInt8, 1, Family::kIntegral, "torch.int8", "Int8", "int8"},
    {DType::kInt16, 2, Family::kIntegral, "torch.int16", "Int16", "int16"},
    {DType::kInt32, 4, Family::kIntegral, "torch.int32", "Int32", "int32"},
    {DType::kInt64, 8, Family::kIntegral, "torch.int64", "Int64", "int64"},
    {DType::kFloat8E4M3Fn, 1, Family::kFloating, "torch.float8_e4m3fn", "Float8E4M3FN",
     "float8_e4m3fn"},
    {DType::kFloat8E4M3FnUz, 1, Family::kFloating, "torch.float8_e4m3fnuz", "Float8E4M3FNUZ",
     "float8_e4m3fnuz"},
    {DType::kFloat8E5M2, 1, Family::kFloating, "torch.float8_e5m2", "Float8E5M2", "float8_e5m2"},
    {DType::kFloat8E5M2FnUz, 1, Family::kFloating, "torch.float8_e5m2fnuz", "Float8E5M2FNUZ",
     "float8_e5m2fnuz"},
    {DType::kFloat8E8M0Fnu, 1, Family::kFloating, "torch.float8_e8m0fnu", "Float8E8M0FNU",
     "float8_e8m0fnu"},
    {DType::kBFloat16, 2, Family::kFloating, "torch.bfloat16", "BFloat16", "bfloat16"},
    {DType::kFloat16, 2, Family::kFloating, "torch.float16", "Float16", "float16"},
    {DType::kFloat32, 4, Family::kFloating, "torch.float32", "Float32", "float32"},
    {DType::kFloat64, 8, Family::kFloating, "torch.float64", "Float64", "float64"},
    {DType::kComplex32, 4, Family::kComplex, "torch.complex32", "Complex32", "complex32"},
    {DType::kComplex64, 8, Family::kComplex, "torch.complex64", "Complex64", "complex64"},
    {DType::kComplex128, 16, Family::kComplex, "torch.complex128", "Complex128", "complex128"},
}};

const DTypeInfo& Info(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return kDTypes[index < kDTypes.size() ? index : 0];
}

}  // namespace

int64_t ElementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

size_t ElementSize(DType dtype) { return Info(dtype).size; }

bool IsContiguous(const TensorView& view) {
  if (view.strides.empty()) return true;
  int64_t expected = 1;
  for (size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] == 0) return true;
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

namespace tensor {

std::string_view DTypeName(DType dtype, DTypeSpelling spelling) {
  const DTypeInfo& info = Info(dtype);
  switch (spelling) {
    case DTypeSpelling::kTorch: return info.torch;
    case DTypeSpelling::kMindSpore: return info.mindspore;
    case DTypeSpelling::kNumpy: return info.numpy;
  }
  return "";
}

DType ParseDType(std::string_view name) {
  constexpr std::string_view kMindSporePrefix = "mindspore.";
  if (name.starts_with(kMindSporePrefix)) name.remove_prefix(kMindSporePrefix.size());
  if (name.empty()) return DType::kUnknown;
  for (const DTypeInfo& info : kDTypes) {
    if (name == info.torch || name == info.mindspore || name == info.numpy) return info.dtype;
  }
  if (name == "bool_") return DType::kBool;
  return DType::kUnknown;
}

bool IsFloatingPoint(DType dtype) { return Info(dtype).family == Family::kFloating; }
bool IsComplex(DType dtype) { return Info(dtype).family == Family::kComplex; }
bool IsIntegral(DType dtype) { return Info(dtype).family == Family::kIntegral; }

}  // namespace tensor
}  // namespace msprobe
