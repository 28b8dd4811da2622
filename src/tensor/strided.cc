#include "tensor/strided.h"

#include <algorithm>

namespace msprobe::tensor {

namespace {

int64_t RowMajorStride(std::span<const int64_t> shape, size_t dimension) {
  int64_t stride = 1;
  for (size_t i = dimension + 1; i < shape.size(); ++i) stride *= shape[i];
  return stride;
}

void SortForMemory(Layout* layout) {
  for (size_t d = 0; d < layout->rank; ++d) {
    Layout::Dimension& dimension = layout->dimensions[d];
    if (dimension.stride >= 0) continue;
    layout->data +=
        (dimension.extent - 1) * dimension.stride * static_cast<int64_t>(layout->element_size);
    dimension.stride = -dimension.stride;
  }
  const auto begin = layout->dimensions.begin();
  std::sort(begin, begin + static_cast<std::ptrdiff_t>(layout->rank),
            [](const Layout::Dimension& a, const Layout::Dimension& b) {
              if ((a.stride == 0) != (b.stride == 0)) return a.stride == 0;
              return a.stride > b.stride;
            });
}

void JoinDimensions(Layout* layout) {
  size_t kept = 0;
  for (size_t d = 1; d < layout->rank; ++d) {
    Layout::Dimension& outer = layout->dimensions[kept];
    const Layout::Dimension inner = layout->dimensions[d];
    if (outer.stride == inner.stride * inner.extent) {
      outer = {outer.extent * inner.extent, inner.stride};
    } else {
      layout->dimensions[++kept] = inner;
    }
  }
  layout->rank = kept + 1;
}

}  // namespace

Layout MakeLayout(const TensorView& view, VisitOrder order) {
  Layout layout;
  layout.data = view.data;
  layout.element_size = ElementSize(view.dtype);
  layout.element_count = 1;
  if (std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end()) {
    layout.element_count = 0;
    return layout;
  }
  for (size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) continue;
    const int64_t stride = view.strides.empty() ? RowMajorStride(view.shape, d) : view.strides[d];
    layout.dimensions[layout.rank++] = {view.shape[d], stride};
    layout.element_count *= view.shape[d];
  }
  if (layout.rank == 0) layout.dimensions[layout.rank++] = {1, 1};
  if (order == VisitOrder::kAny) SortForMemory(&layout);
  JoinDimensions(&layout);
  return layout;
}

}  // namespace msprobe::tensor
