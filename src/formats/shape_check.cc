#include "formats/shape_check.h"

#include <algorithm>
#include <string>

namespace msprobe::formats {

Status CheckShape(std::span<const int64_t> shape, const TensorFileLimits& limits) {
  if (shape.size() > limits.max_dimensions) {
    return LimitExceededError("tensor of " + std::to_string(shape.size()) +
                                  " dimensions, the limit is " +
                                  std::to_string(limits.max_dimensions),
                              "check that the file is what it should be");
  }
  uint64_t count = 1;
  for (const int64_t extent : shape) {
    if (extent < 0) {
      return CorruptError("negative shape " + ShapeText(shape), "write the file again");
    }
    if (__builtin_mul_overflow(count, std::max<uint64_t>(static_cast<uint64_t>(extent), 1),
                               &count) ||
        count > uint64_t{INT64_MAX}) {
      return CorruptError("shape " + ShapeText(shape) + " overflows: no tensor can be that large",
                          "write the file again");
    }
  }
  if (count > limits.max_elements) {
    return LimitExceededError("shape " + ShapeText(shape) +
                                  " has more elements than the limit of " +
                                  std::to_string(limits.max_elements),
                              "check that the file is what it should be");
  }
  return Status::Ok();
}

std::vector<int64_t> ContiguousStrides(std::span<const int64_t> shape, bool fortran_order) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t d = fortran_order ? i : shape.size() - 1 - i;
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == 16) {
      text += "…";
      break;
    }
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace msprobe::formats
