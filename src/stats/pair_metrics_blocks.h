#pragma once

#include <cstddef>
#include <vector>

#include "msprobe/tensor_view.h"
#include "tensor/gather.h"

namespace msprobe::stats {

/// True where float32 holds every value of the dtype.
bool FitsFloat32(DType dtype);

/// Hands out the values of a tensor in row-major order as blocks of float or double; complex
/// values as (real, imaginary).
template <class T>
class ValueBlocks {
 public:
  /// `as_complex`: the values of a real tensor get an imaginary part of 0.
  ValueBlocks(const TensorView& view, bool as_complex, size_t block_elements);

  /// The next block of block_elements elements, fewer at the end, then nullptr. `count` is the
  /// number of values: elements, or twice that.
  const T* Next(size_t* count);

 private:
  DType dtype_;
  bool as_complex_;
  tensor::BlockReader reader_;
  std::vector<T> values_;
};

extern template class ValueBlocks<float>;
extern template class ValueBlocks<double>;

}  // namespace msprobe::stats
