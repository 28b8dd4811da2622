#include "tensor/strided.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tensor/gather.h"

namespace msprobe::tensor {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

struct Tensor {
  std::vector<int32_t> memory;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  TensorView view() const {
    TensorView view;
    view.data = reinterpret_cast<const std::byte*>(memory.data() + offset);
    view.dtype = DType::kInt32;
    view.shape = shape;
    view.strides = strides;
    return view;
  }
};

std::vector<int32_t> Memory(size_t count) {
  std::vector<int32_t> memory(count);
  std::iota(memory.begin(), memory.end(), 0);
  return memory;
}

/// The elements one by one, by the definition of shape and strides.
void AppendByIndex(const TensorView& view, size_t dimension, int64_t offset,
                   std::vector<int32_t>* out) {
  if (dimension == view.shape.size()) {
    int32_t value;
    std::memcpy(&value, view.data + offset * 4, 4);
    out->push_back(value);
    return;
  }
  for (int64_t i = 0; i < view.shape[dimension]; ++i) {
    AppendByIndex(view, dimension + 1, offset + i * view.strides[dimension], out);
  }
}

std::vector<int32_t> ByIndex(const TensorView& view) {
  std::vector<int32_t> values;
  AppendByIndex(view, 0, 0, &values);
  return values;
}

std::vector<int32_t> ByRuns(const TensorView& view, VisitOrder order, int* runs = nullptr) {
  std::vector<int32_t> values;
  ForEachRun(view, order, [&](const std::byte* first, int64_t count, int64_t stride) {
    if (runs != nullptr) ++*runs;
    for (int64_t i = 0; i < count; ++i) {
      int32_t value;
      std::memcpy(&value, first + i * stride * 4, 4);
      values.push_back(value);
    }
  });
  return values;
}

std::vector<int32_t> ByBlocks(const TensorView& view, size_t block_bytes) {
  std::vector<int32_t> values;
  BlockReader reader(view, block_bytes);
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    const size_t at = values.size();
    values.resize(at + block.size() / 4);
    std::memcpy(values.data() + at, block.data(), block.size());
  }
  return values;
}

TEST(Strided, EmptyTensorHasNoRun) {
  const Tensor tensor{Memory(1), 0, {3, 0, 2}, {0, 2, 1}};
  int runs = 0;
  EXPECT_THAT(ByRuns(tensor.view(), VisitOrder::kAny, &runs), ElementsAre());
  EXPECT_EQ(runs, 0);
  EXPECT_THAT(ByBlocks(tensor.view(), 64), ElementsAre());
}

TEST(Strided, ScalarIsOneRunOfOne) {
  const Tensor tensor{Memory(3), 2, {}, {}};
  EXPECT_THAT(ByRuns(tensor.view(), VisitOrder::kRowMajor), ElementsAre(2));
  EXPECT_TRUE(MakeLayout(tensor.view(), VisitOrder::kAny).contiguous());
}

TEST(Strided, WithoutStridesIsRowMajor) {
  const Tensor tensor{Memory(24), 0, {2, 3, 4}, {}};
  int runs = 0;
  EXPECT_THAT(ByRuns(tensor.view(), VisitOrder::kRowMajor, &runs), ElementsAreArray(Memory(24)));
  EXPECT_EQ(runs, 1);
}

TEST(Strided, TransposedIsOneRunInMemoryOrder) {
  const Tensor tensor{Memory(12), 0, {4, 3}, {1, 4}};
  int runs = 0;
  EXPECT_THAT(ByRuns(tensor.view(), VisitOrder::kAny, &runs), ElementsAreArray(Memory(12)));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(ByRuns(tensor.view(), VisitOrder::kRowMajor), ByIndex(tensor.view()));
}

TEST(Strided, ExpandedScalarIsOneRunOfStrideZero) {
  const Tensor tensor{Memory(1), 0, {5, 7}, {0, 0}};
  const Layout layout = MakeLayout(tensor.view(), VisitOrder::kAny);
  EXPECT_EQ(layout.rank, 1u);
  EXPECT_EQ(layout.inner().extent, 35);
  EXPECT_EQ(layout.inner().stride, 0);
}

TEST(Strided, RandomLayoutsGiveEveryElementOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Tensor tensor;
    tensor.memory = Memory(4096);
    tensor.offset = 2048;
    const size_t rank = random() % 5;
    for (size_t d = 0; d < rank; ++d) {
      tensor.shape.push_back(static_cast<int64_t>(random() % 5));
      tensor.strides.push_back(static_cast<int64_t>(random() % 60) - 20);
    }
    if (round % 3 == 0) {  // real layouts: some order of dimensions over dense memory
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), size_t{0});
      std::shuffle(order.begin(), order.end(), random);
      int64_t stride = 1;
      for (const size_t d : order) {
        tensor.strides[d] = stride;
        stride *= std::max<int64_t>(tensor.shape[d], 1);
      }
    }
    const TensorView view = tensor.view();
    std::vector<int32_t> expected = ByIndex(view);
    ASSERT_EQ(ByRuns(view, VisitOrder::kRowMajor), expected);
    ASSERT_EQ(ByBlocks(view, 4), expected);
    ASSERT_EQ(ByBlocks(view, 52), expected);
    std::vector<int32_t> any = ByRuns(view, VisitOrder::kAny);
    std::sort(any.begin(), any.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(any, expected);
  }
}

TEST(Strided, ContiguousBlocksAreNotCopied) {
  const Tensor tensor{Memory(10), 0, {10}, {1}};
  BlockReader reader(tensor.view(), 16);
  EXPECT_EQ(reader.Next().data(), tensor.view().data);
  EXPECT_EQ(reader.Next().data(), tensor.view().data + 16);
}

template <class T>
std::vector<T> Resolved(DType dtype, bool conjugate, bool negative, std::vector<T> values) {
  ResolveFlags(dtype, conjugate, negative, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(ResolveFlags, ConjugateNegatesImaginaryParts) {
  EXPECT_THAT(Resolved<float>(DType::kComplex64, true, false, {1, 2, 3, -4}),
              ElementsAre(1, -2, 3, 4));
  EXPECT_THAT(Resolved<double>(DType::kComplex128, true, true, {1, 2}), ElementsAre(-1, 2));
  EXPECT_THAT(Resolved<float>(DType::kFloat32, true, false, {1, 2}), ElementsAre(1, 2));
}

TEST(ResolveFlags, NegativeNegatesEveryKind) {
  EXPECT_THAT(Resolved<float>(DType::kFloat32, false, true, {1, -2}), ElementsAre(-1, 2));
  EXPECT_THAT(Resolved<int32_t>(DType::kInt32, false, true, {1, -2, INT32_MIN}),
              ElementsAre(-1, 2, INT32_MIN));
  EXPECT_THAT(Resolved<uint16_t>(DType::kFloat16, false, true, {0x3c00}), ElementsAre(0xbc00));
  EXPECT_THAT(Resolved<uint8_t>(DType::kBool, false, true, {0, 1}), ElementsAre(0, 1));
  // 0x80 is NaN and not -0 in the "uz" formats, and 0x00 the only zero.
  EXPECT_THAT(Resolved<uint8_t>(DType::kFloat8E4M3FnUz, false, true, {0x00, 0x80, 0x01}),
              ElementsAre(0x00, 0x80, 0x81));
}

}  // namespace
}  // namespace msprobe::tensor
