#include "formats/npy/npy_writer.h"

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "formats/npy/npy_header.h"
#include "tensor/gather.h"
#include "tensor/half.h"

namespace msprobe::formats {

namespace {

/// Large enough for AtomicFile to write from the tensor's memory, without a copy.
constexpr size_t kWriteBlock = 1 << 20;

std::string_view DescrOf(DType dtype) {
  switch (dtype) {
    case DType::kUnknown: return "";
    case DType::kBool: return "|b1";
    case DType::kUInt8: return "|u1";
    case DType::kUInt16: return "<u2";
    case DType::kUInt32: return "<u4";
    case DType::kUInt64: return "<u8";
    case DType::kInt8: return "|i1";
    case DType::kInt16: return "<i2";
    case DType::kInt32: return "<i4";
    case DType::kInt64: return "<i8";
    case DType::kFloat16: return "<f2";
    case DType::kFloat8E4M3Fn:
    case DType::kFloat8E4M3FnUz:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FnUz:
    case DType::kFloat8E8M0Fnu:
    case DType::kBFloat16:
    case DType::kFloat32: return "<f4";
    case DType::kFloat64: return "<f8";
    case DType::kComplex32:
    case DType::kComplex64: return "<c8";
    case DType::kComplex128: return "<c16";
  }
  return "";
}

bool NeedsWidening(DType dtype) {
  return dtype == DType::kBFloat16 || dtype == DType::kComplex32 || tensor::IsFloat8(dtype);
}

/// bfloat16, fp8 and the halves of complex32 as float32.
void Widen(DType dtype, std::span<const std::byte> values, std::vector<float>* wide) {
  if (const float* table = tensor::Float8Values(dtype); table != nullptr) {
    wide->resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) (*wide)[i] = table[static_cast<uint8_t>(values[i])];
    return;
  }
  wide->resize(values.size() / 2);
  for (size_t i = 0; i < wide->size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, values.data() + 2 * i, 2);
    (*wide)[i] =
        dtype == DType::kBFloat16 ? tensor::BFloat16ToFloat(bits) : tensor::Float16ToFloat(bits);
  }
}

}  // namespace

Status WriteNpy(const TensorView& view, base::AtomicFile* file) {
  const std::string_view descr = DescrOf(view.dtype);
  if (descr.empty()) {
    return InvalidArgumentError("a tensor of unknown dtype cannot be written as .npy");
  }
  MSPROBE_RETURN_IF_ERROR(
      file->Append(FormatNpyHeader(descr, {view.shape.begin(), view.shape.end()})));
  tensor::BlockReader reader(view, kWriteBlock);
  std::vector<float> wide;
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    if (NeedsWidening(view.dtype)) {
      Widen(view.dtype, block, &wide);
      block = std::as_bytes(std::span(wide));
    }
    MSPROBE_RETURN_IF_ERROR(file->Append(block));
  }
  return Status::Ok();
}

}  // namespace msprobe::formats
