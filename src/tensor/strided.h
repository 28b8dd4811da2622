#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "msprobe/tensor_view.h"

namespace msprobe::tensor {

enum class VisitOrder : uint8_t {
  kRowMajor,  ///< the last index runs fastest: checksums, writers
  kAny,       ///< memory order, each element as often as the tensor has it: statistics
};

/// A tensor's dimensions, outermost first, after dropping those of extent 1 and joining those that
/// together are one. kAny also turns negative strides round, sorts by stride and puts expanded
/// dimensions (stride 0) outermost.
struct Layout {
  struct Dimension {
    int64_t extent;
    int64_t stride;  ///< in elements
  };

  const std::byte* data = nullptr;
  int64_t element_count = 0;
  size_t element_size = 0;
  /// A tensor with less than 2^63 elements has at most 62 dimensions of extent 2 or more.
  std::array<Dimension, 64> dimensions;
  size_t rank = 0;  ///< 0 only when the tensor is empty; a single element is one run of 1

  std::span<const Dimension> outer() const { return {dimensions.data(), rank - 1}; }
  const Dimension& inner() const { return dimensions[rank - 1]; }
  bool contiguous() const { return rank == 1 && (inner().stride == 1 || inner().extent == 1); }
};

Layout MakeLayout(const TensorView& view, VisitOrder order);

/// Calls `run(const std::byte* first, int64_t count, int64_t stride)` for the innermost dimension
/// at every index of the outer ones; `stride` counts elements (1 for one contiguous run, 0 for a
/// value that is repeated). A contiguous tensor is one run; an empty one none.
template <class Run>
void ForEachRun(const Layout& layout, Run&& run) {
  if (layout.rank == 0) return;
  const auto outer = layout.outer();
  const auto size = static_cast<int64_t>(layout.element_size);
  std::array<int64_t, 64> index;
  for (size_t d = 0; d < outer.size(); ++d) index[d] = 0;
  const std::byte* position = layout.data;
  for (;;) {
    run(position, layout.inner().extent, layout.inner().stride);
    size_t d = outer.size();
    for (;;) {
      if (d == 0) return;
      --d;
      if (++index[d] < outer[d].extent) break;
      position -= (outer[d].extent - 1) * outer[d].stride * size;
      index[d] = 0;
    }
    position += outer[d].stride * size;
  }
}

template <class Run>
void ForEachRun(const TensorView& view, VisitOrder order, Run&& run) {
  ForEachRun(MakeLayout(view, order), static_cast<Run&&>(run));
}

}  // namespace msprobe::tensor
