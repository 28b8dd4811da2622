#include "formats/npy/npy_reader.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "formats/byte_order.h"
#include "formats/npy/npy_header.h"
#include "formats/shape_check.h"
#include "tensor/dtype.h"

namespace msprobe::formats {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

DType DTypeOf(std::string_view kind_and_size) {
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"b1", DType::kBool},      {"u1", DType::kUInt8},       {"u2", DType::kUInt16},
      {"u4", DType::kUInt32},    {"u8", DType::kUInt64},      {"i1", DType::kInt8},
      {"i2", DType::kInt16},     {"i4", DType::kInt32},       {"i8", DType::kInt64},
      {"f2", DType::kFloat16},   {"f4", DType::kFloat32},     {"f8", DType::kFloat64},
      {"c8", DType::kComplex64}, {"c16", DType::kComplex128},
  };
  for (const auto& [name, dtype] : kTypes) {
    if (name == kind_and_size) return dtype;
  }
  return DType::kUnknown;
}

Status UnsupportedDescr(std::string_view descr) {
  const std::string_view kind = descr.substr(std::min<size_t>(descr.size(), 1));
  std::string quoted(1, '\'');
  quoted.append(descr.substr(0, 40)).append(1, '\'');
  if (kind.starts_with('O')) {
    return UnsupportedError("object arrays are pickles, which are not executed",
                            "store the values with a numeric dtype");
  }
  if (kind.starts_with('V')) {
    return UnsupportedError(
        "the .npy file holds raw records " + quoted +
            " (bfloat16 and fp8 arrays are written like this): their meaning is not in the file",
        "store them as float32, or in a .pt file");
  }
  return UnsupportedError("dtype " + quoted + " of the .npy file holds no tensor values",
                          "store the values with a numeric dtype");
}

/// The header's text and where the values begin.
Status SplitHeader(std::span<const std::byte> bytes, const TensorFileLimits& limits,
                   std::string_view* header, size_t* data_begin) {
  if (!LooksLikeNpy(bytes)) return CorruptError("not an .npy file", "check the path");
  constexpr size_t kLengthAt = 8;
  if (bytes.size() < kLengthAt) return CorruptError("the .npy header is cut off");
  const auto version = static_cast<unsigned>(bytes[6]);
  if (version < 1 || version > 3) {
    return UnsupportedError(".npy format version " + std::to_string(version),
                            "store the file with version 1, 2 or 3");
  }
  const size_t length_size = version == 1 ? 2 : 4;
  if (bytes.size() < kLengthAt + length_size) return CorruptError("the .npy header is cut off");
  const size_t length = version == 1 ? LoadLittle<uint16_t>(bytes.data() + kLengthAt)
                                     : LoadLittle<uint32_t>(bytes.data() + kLengthAt);
  if (length > limits.max_header_bytes) {
    return LimitExceededError(".npy header of " + std::to_string(length) + " bytes, the limit is " +
                                  std::to_string(limits.max_header_bytes),
                              "check that the file is what it should be");
  }
  *data_begin = kLengthAt + length_size + length;
  if (*data_begin > bytes.size()) {
    return CorruptError("the .npy header is cut off", "write the file again");
  }
  *header = Text(bytes).substr(kLengthAt + length_size, length);
  return Status::Ok();
}

}  // namespace

bool LooksLikeNpy(std::span<const std::byte> bytes) { return Text(bytes).starts_with(kMagic); }

Result<StoredTensor> ReadNpy(std::span<const std::byte> bytes, const TensorFileLimits& limits) {
  std::string_view text;
  size_t data_begin = 0;
  MSPROBE_RETURN_IF_ERROR(SplitHeader(bytes, limits, &text, &data_begin));
  MSPROBE_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(text));

  StoredTensor tensor;
  const std::string_view descr = header.descr;
  if (descr.size() > 1 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    tensor.dtype = DTypeOf(descr.substr(1));
  }
  if (tensor.dtype == DType::kUnknown) return UnsupportedDescr(descr);
  MSPROBE_RETURN_IF_ERROR(CheckShape(header.shape, limits));

  const size_t element_size = ElementSize(tensor.dtype);
  const auto count = static_cast<uint64_t>(ElementCount(header.shape));
  const auto values = bytes.subspan(data_begin);
  if (count > values.size() / element_size) {
    return CorruptError("the .npy file ends early: " + std::to_string(values.size()) +
                            " bytes of values, shape " + ShapeText(header.shape) + " of '" +
                            std::string(descr) + "' needs more",
                        "write the file again");
  }
  tensor.strides = ContiguousStrides(header.shape, header.fortran_order);
  tensor.shape = std::move(header.shape);
  tensor.data = values.data();
  if (descr[0] == '>' && element_size > 1) {
    const size_t word = tensor::IsComplex(tensor.dtype) ? element_size / 2 : element_size;
    tensor.owned = ReverseWords(values.first(count * element_size), word);
    tensor.data = tensor.owned.data();
  }
  return tensor;
}

}  // namespace msprobe::formats
