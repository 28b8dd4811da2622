#include "msprobe/statistics.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "base/crc32.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace msprobe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr DType kAll[] = {DType::kBool,           DType::kUInt8,          DType::kUInt16,
                          DType::kUInt32,         DType::kUInt64,         DType::kInt8,
                          DType::kInt16,          DType::kInt32,          DType::kInt64,
                          DType::kFloat8E4M3Fn,   DType::kFloat8E4M3FnUz, DType::kFloat8E5M2,
                          DType::kFloat8E5M2FnUz, DType::kFloat8E8M0Fnu,  DType::kBFloat16,
                          DType::kFloat16,        DType::kFloat32,        DType::kFloat64,
                          DType::kComplex32,      DType::kComplex64,      DType::kComplex128};

template <class T>
T Load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

/// The value of one element, written independently of the code under test where that matters.
long double ValueOf(DType dtype, const std::byte* p) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8: return Load<uint8_t>(p);
    case DType::kUInt16: return Load<uint16_t>(p);
    case DType::kUInt32: return Load<uint32_t>(p);
    case DType::kUInt64: return static_cast<long double>(Load<uint64_t>(p));
    case DType::kInt8: return Load<int8_t>(p);
    case DType::kInt16: return Load<int16_t>(p);
    case DType::kInt32: return Load<int32_t>(p);
    case DType::kInt64: return static_cast<long double>(Load<int64_t>(p));
    case DType::kBFloat16: return tensor::BFloat16ToFloat(Load<uint16_t>(p));
    case DType::kFloat16: return tensor::Float16ToFloat(Load<uint16_t>(p));
    case DType::kFloat32: return Load<float>(p);
    case DType::kFloat64: return Load<double>(p);
    case DType::kComplex32:
      return std::hypot(tensor::Float16ToFloat(Load<uint16_t>(p)),
                        static_cast<long double>(tensor::Float16ToFloat(Load<uint16_t>(p + 2))));
    case DType::kComplex64:
      return std::hypot(static_cast<long double>(Load<float>(p)),
                        static_cast<long double>(Load<float>(p + 4)));
    case DType::kComplex128:
      return std::hypot(static_cast<long double>(Load<double>(p)),
                        static_cast<long double>(Load<double>(p + 8)));
    default: return tensor::Float8Values(dtype)[Load<uint8_t>(p)];
  }
}

int64_t Product(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> RowMajor(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Calls `visit` with the address of every element in row-major order.
template <class Visit>
void ForEach(const TensorView& view, Visit visit) {
  const auto strides = view.strides.empty()
                           ? RowMajor(view.shape)
                           : std::vector<int64_t>(view.strides.begin(), view.strides.end());
  std::vector<int64_t> index(view.shape.size(), 0);
  const int64_t count = Product(view.shape);
  for (int64_t n = 0; n < count; ++n) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
    visit(view.data + offset * static_cast<int64_t>(ElementSize(view.dtype)));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < view.shape[d]) break;
      index[d] = 0;
    }
  }
}

struct Expected {
  long double max = -kInfinity, min = kInfinity, sum = 0, magnitude = 0, squares = 0;
  uint64_t nan_count = 0, inf_count = 0;
  int64_t count = 0;
};

Expected Oracle(const TensorView& view) {
  Expected expected;
  ForEach(view, [&](const std::byte* p) {
    long double value = ValueOf(view.dtype, p);
    if (view.negative && !tensor::IsComplex(view.dtype)) value = -value;
    ++expected.count;
    expected.nan_count += std::isnan(value);
    expected.inf_count += std::isinf(value);
    expected.max = std::max(expected.max, value);
    expected.min = std::min(expected.min, value);
    expected.sum += value;
    expected.magnitude += std::fabs(value);
    expected.squares += value * value;
  });
  return expected;
}

void ExpectRight(const TensorView& view, SummaryMode mode = SummaryMode::kStatistics) {
  const Expected expected = Oracle(view);
  const Statistics got = Summarize(view, mode).statistics;
  SCOPED_TRACE(testing::Message() << tensor::DTypeName(view.dtype, tensor::DTypeSpelling::kNumpy)
                                  << " with " << expected.count << " elements");
  ASSERT_EQ(got.defined, expected.count > 0);
  if (!got.defined) return;
  EXPECT_EQ(got.nan_count, expected.nan_count);
  EXPECT_EQ(got.inf_count, expected.inf_count);
  if (expected.nan_count > 0) {
    EXPECT_TRUE(std::isnan(got.max) && std::isnan(got.min));
    EXPECT_TRUE(std::isnan(got.mean) && std::isnan(got.norm));
    return;
  }
  if (tensor::IsComplex(view.dtype)) {
    EXPECT_NEAR(got.max, static_cast<double>(expected.max), 1e-15 * expected.max);
    EXPECT_NEAR(got.min, static_cast<double>(expected.min), 1e-15 * expected.min);
  } else {
    EXPECT_EQ(got.max, static_cast<double>(expected.max));
    EXPECT_EQ(got.min, static_cast<double>(expected.min));
  }
  const auto mean = static_cast<double>(expected.sum / expected.count);
  const auto norm = static_cast<double>(std::sqrt(expected.squares));
  if (std::isnan(mean) || std::isinf(mean)) {
    EXPECT_EQ(std::isnan(got.mean), std::isnan(mean));
    if (std::isinf(mean)) {
      EXPECT_EQ(got.mean, mean);
    }
  } else {
    EXPECT_NEAR(got.mean, mean, 1e-14 * expected.magnitude / expected.count);
  }
  if (std::isinf(norm)) {
    EXPECT_EQ(got.norm, norm);
  } else {
    EXPECT_NEAR(got.norm, norm, 1e-14 * norm);
  }
}

std::vector<std::byte> RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Random bit patterns, bool as 0 and 1; `finite` replaces NaN and infinity by zeros.
std::vector<std::byte> RandomValues(DType dtype, size_t count, uint32_t seed, bool finite) {
  const size_t size = ElementSize(dtype);
  auto bytes = RandomBytes(count * size, seed);
  for (size_t i = 0; i < count; ++i) {
    std::byte* p = bytes.data() + i * size;
    if (dtype == DType::kBool) *p &= std::byte{1};
    if (finite && !std::isfinite(ValueOf(dtype, p))) std::memset(p, 0, size);
  }
  // Patterns of fp8 types that have no zero.
  if (finite && dtype == DType::kFloat8E4M3FnUz) {
    for (std::byte& byte : bytes) {
      if (byte == std::byte{0x80}) byte = std::byte{0};
    }
  }
  return bytes;
}

TEST(StatisticsTest, EveryDTypeAndSizeAgreesWithLongDouble) {
  uint32_t seed = 0;
  for (const DType dtype : kAll) {
    for (const int64_t count : {0,  1,  2,  3,  5,   7,   8,   15,   16,   17,   31,   32,
                                33, 63, 64, 65, 100, 127, 129, 1000, 4095, 4096, 4097, 20000}) {
      for (const bool finite : {true, false}) {
        const auto values = RandomValues(dtype, static_cast<size_t>(count), ++seed, finite);
        const int64_t shape[] = {count};
        ExpectRight({values.data(), dtype, false, false, shape, {}});
      }
    }
  }
}

TEST(StatisticsTest, UnalignedMemoryIsFine) {
  for (const DType dtype : kAll) {
    for (size_t offset = 1; offset < 16; offset += 2) {
      const auto values = RandomValues(dtype, 300, static_cast<uint32_t>(offset), true);
      std::vector<std::byte> memory(values.size() + offset);
      std::memcpy(memory.data() + offset, values.data(), values.size());
      const int64_t shape[] = {300};
      ExpectRight({memory.data() + offset, dtype, false, false, shape, {}});
    }
  }
}

TEST(StatisticsTest, OneSpecialValueAnywhereIsFound) {
  for (const double special : {std::nan(""), kInfinity, -kInfinity}) {
    for (size_t place = 0; place < 150; ++place) {
      std::vector<float> values(150, 2.5f);
      values[place] = static_cast<float>(special);
      const int64_t shape[] = {150};
      const auto* data = reinterpret_cast<const std::byte*>(values.data());
      ExpectRight({data, DType::kFloat32, false, false, shape, {}});
      std::vector<double> wide(values.begin(), values.end());
      ExpectRight({reinterpret_cast<const std::byte*>(wide.data()),
                   DType::kFloat64,
                   false,
                   false,
                   shape,
                   {}});
    }
  }
}

TEST(StatisticsTest, ZeroDimensionalTensorIsItsValue) {
  const float value = -0.1f;
  const TensorView view{
      reinterpret_cast<const std::byte*>(&value), DType::kFloat32, false, false, {}, {}};
  const Statistics got = Summarize(view, SummaryMode::kStatistics).statistics;
  EXPECT_EQ(got.max, static_cast<double>(value));
  EXPECT_EQ(got.min, static_cast<double>(value));
  EXPECT_EQ(got.mean, static_cast<double>(value));
  EXPECT_EQ(got.norm, -static_cast<double>(value));
}

TEST(StatisticsTest, Float64SquaresBeyondTheRangeOfFloat64) {
  for (const double scale : {1e300, 1e200, 1e-200, 1e-310}) {
    for (const int64_t count : {1, 40, 5000}) {
      std::vector<double> values(static_cast<size_t>(count));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = scale * (1 + static_cast<double>(i % 7));
      const int64_t shape[] = {count};
      ExpectRight({reinterpret_cast<const std::byte*>(values.data()),
                   DType::kFloat64,
                   false,
                   false,
                   shape,
                   {}});
    }
  }
}

TEST(StatisticsTest, TinyBFloat16GradientsKeepTheirNorm) {
  std::vector<uint16_t> values(4096, 0x1000);  // 2.5e-29: squares vanish in float32
  const int64_t shape[] = {4096};
  ExpectRight({reinterpret_cast<const std::byte*>(values.data()),
               DType::kBFloat16,
               false,
               false,
               shape,
               {}});
}

TEST(StatisticsTest, ExtremeIntegersAreExact) {
  const int64_t wide[] = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(),
                          (int64_t{1} << 53) + 1, 0};
  const int64_t shape[] = {4};
  Statistics got =
      Summarize({reinterpret_cast<const std::byte*>(wide), DType::kInt64, false, false, shape, {}},
                SummaryMode::kStatistics)
          .statistics;
  EXPECT_TRUE(got.is_integral);
  EXPECT_EQ(got.max_int, wide[0]);
  EXPECT_EQ(got.min_int, wide[1]);
  const uint64_t large[] = {std::numeric_limits<uint64_t>::max(), 5, uint64_t{1} << 63, 7};
  got = Summarize(
            {reinterpret_cast<const std::byte*>(large), DType::kUInt64, false, false, shape, {}},
            SummaryMode::kStatistics)
            .statistics;
  EXPECT_TRUE(got.is_unsigned);
  EXPECT_EQ(static_cast<uint64_t>(got.max_int), large[0]);
  EXPECT_EQ(got.min_int, 5);
  EXPECT_EQ(got.max, 18446744073709551616.0);
}

TEST(StatisticsTest, StridedViewsOfEveryDType) {
  struct Case {
    std::vector<int64_t> shape, strides;
    int64_t offset;
  };
  const Case cases[] = {
      {{30, 40}, {1, 30}, 0},         // transposed
      {{30, 20}, {40, 2}, 1},         // every second column
      {{30, 40}, {-40, 1}, 29 * 40},  // rows reversed
      {{30, 40}, {-40, -1}, 30 * 40 - 1},
      {{7, 30, 40}, {0, 40, 1}, 0},  // expanded
      {{30, 5, 40}, {40, 0, 1}, 0},
      {{9}, {0}, 3},                      // one value, many times
      {{3, 4, 5, 6}, {1, 90, 18, 3}, 0},  // permuted
      {{2, 500}, {600, 1}, 10},           // long rows with gaps
      {{1, 1, 1}, {7, 7, 7}, 4},
      {{5, 0, 3}, {3, 3, 1}, 0},  // empty
      {{20, 3}, {3, 1}, 0},
      {{20, 2, 2}, {50, 10, 3}, 0},
  };
  uint32_t seed = 100;
  for (const DType dtype : kAll) {
    for (const Case& c : cases) {
      for (const bool finite : {true, false}) {
        const auto values = RandomValues(dtype, 1300, ++seed, finite);
        const TensorView view{values.data() + c.offset * static_cast<int64_t>(ElementSize(dtype)),
                              dtype,
                              false,
                              false,
                              c.shape,
                              c.strides};
        ExpectRight(view);
        ExpectRight(view, SummaryMode::kCrc32);
      }
    }
  }
}

TEST(StatisticsTest, NegativeAndConjugateBits) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                            DType::kComplex64, DType::kComplex128}) {
    const auto values = RandomValues(dtype, 200, 7, true);
    const int64_t shape[] = {10, 20};
    const int64_t strides[] = {1, 10};
    for (const bool conjugate : {false, true}) {
      ExpectRight({values.data(), dtype, conjugate, true, shape, {}});
      ExpectRight({values.data(), dtype, conjugate, true, shape, strides});
      ExpectRight({values.data(), dtype, conjugate, true, shape, strides}, SummaryMode::kCrc32);
    }
  }
}

TEST(StatisticsTest, NegativeIntegersWrapAsTheirDTypeDoes) {
  const int8_t values[] = {-128, 5};
  const int64_t shape[] = {2};
  const Statistics got =
      Summarize({reinterpret_cast<const std::byte*>(values), DType::kInt8, false, true, shape, {}},
                SummaryMode::kStatistics)
          .statistics;
  EXPECT_EQ(got.max_int, -5);
  EXPECT_EQ(got.min_int, -128);
}

TEST(StatisticsTest, ChecksumsAreThoseOfContiguousBytes) {
  for (const DType dtype : kAll) {
    const size_t size = ElementSize(dtype);
    const auto values = RandomValues(dtype, 120 * 130, 3, true);
    const int64_t shape[] = {130, 120};
    const int64_t strides[] = {1, 130};
    for (const bool transposed : {false, true}) {
      const TensorView view{
          values.data(),
          dtype,
          false,
          false,
          shape,
          transposed ? std::span<const int64_t>(strides) : std::span<const int64_t>()};
      std::vector<std::byte> contiguous;
      ForEach(view, [&](const std::byte* p) { contiguous.insert(contiguous.end(), p, p + size); });
      EXPECT_EQ(Summarize(view, SummaryMode::kCrc32).crc32, base::Crc32(0, contiguous));
      uint64_t expected = 0;
      contiguous.resize((contiguous.size() + 7) / 8 * 8);
      for (size_t i = 0; i < contiguous.size(); i += 8) {
        expected ^= Load<uint64_t>(contiguous.data() + i);
      }
      const TensorSummary summary = Summarize(view, SummaryMode::kXor);
      EXPECT_EQ(summary.xor64, expected);
      EXPECT_FALSE(summary.statistics.defined);
    }
  }
}

TEST(StatisticsTest, TransposedTensorsLargerThanABlock) {
  struct Case {
    std::vector<int64_t> shape, strides;
  };
  const Case cases[] = {{{300, 5000}, {1, 300}},
                        {{3, 70, 5000}, {350000, 1, 70}},
                        {{70, 3, 5000}, {1, 350000, 70}},
                        {{5, 2, 100000}, {2, 1, 10}},
                        {{7, 150000}, {1, 7}}};
  for (const DType dtype : {DType::kUInt8, DType::kFloat16, DType::kFloat32, DType::kComplex64}) {
    const size_t size = ElementSize(dtype);
    const auto values = RandomValues(dtype, 1'500'000, 5, true);
    for (const Case& c : cases) {
      const TensorView view{values.data(), dtype, false, false, c.shape, c.strides};
      std::vector<std::byte> contiguous;
      ForEach(view, [&](const std::byte* p) { contiguous.insert(contiguous.end(), p, p + size); });
      EXPECT_EQ(Summarize(view, SummaryMode::kCrc32).crc32, base::Crc32(0, contiguous));
    }
  }
}

TEST(StatisticsTest, XorPadsTheTailWithZeros) {
  const uint8_t values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const int64_t shape[] = {11};
  const TensorView view{
      reinterpret_cast<const std::byte*>(values), DType::kUInt8, false, false, shape, {}};
  EXPECT_EQ(Summarize(view, SummaryMode::kXor).xor64, 0x0807060504030201u ^ 0x0b0a09u);
}

TEST(StatisticsTest, EmptyUnknownAndMissingTensorsHaveNoStatistics) {
  const int64_t empty[] = {3, 0};
  const std::byte data[8] = {};
  const TensorSummary summary =
      Summarize({data, DType::kFloat32, false, false, empty, {}}, SummaryMode::kCrc32);
  EXPECT_FALSE(summary.statistics.defined);
  EXPECT_EQ(summary.crc32, 0u);
  EXPECT_FALSE(Summarize({data, DType::kUnknown, false, false, {}, {}}, SummaryMode::kCrc32)
                   .statistics.defined);
  EXPECT_FALSE(Summarize({nullptr, DType::kFloat32, false, false, {}, {}}, SummaryMode::kCrc32)
                   .statistics.defined);
}

TEST(StatisticsTest, MoreThanTwoToThe31Elements) {
  // Untouched pages cost no memory.
  const int64_t count = (int64_t{1} << 31) + 77;
  auto* memory =
      static_cast<std::byte*>(::mmap(nullptr, static_cast<size_t>(count), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  memory[count - 1] = std::byte{200};
  memory[0] = std::byte{100};
  const int64_t shape[] = {count};
  const Statistics got =
      Summarize({memory, DType::kUInt8, false, false, shape, {}}, SummaryMode::kStatistics)
          .statistics;
  ::munmap(memory, static_cast<size_t>(count));
  EXPECT_EQ(got.max_int, 200);
  EXPECT_EQ(got.min_int, 0);
  EXPECT_EQ(got.mean, 300.0 / static_cast<double>(count));
  EXPECT_EQ(got.norm, std::sqrt(50000.0));
}

TEST(StatisticsTest, ExpandedToMoreThanTwoToThe31Elements) {
  const float values[] = {3, -4};
  const int64_t shape[] = {int64_t{1} << 33, 2};
  const int64_t strides[] = {0, 1};
  const Statistics got = Summarize({reinterpret_cast<const std::byte*>(values), DType::kFloat32,
                                    false, false, shape, strides},
                                   SummaryMode::kStatistics)
                             .statistics;
  EXPECT_EQ(got.mean, -0.5);
  EXPECT_EQ(got.norm, 5 * std::sqrt(0x1p33));
  EXPECT_EQ(got.max, 3);
}

#if defined(__SSE2__)
TEST(StatisticsTest, DenormalsCountEvenWhenTheProgramFlushesThem) {
  const std::vector<float> values(100, 1e-40f);
  const int64_t shape[] = {100};
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);
  const Statistics got = Summarize({reinterpret_cast<const std::byte*>(values.data()),
                                    DType::kFloat32,
                                    false,
                                    false,
                                    shape,
                                    {}},
                                   SummaryMode::kStatistics)
                             .statistics;
  EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
  _mm_setcsr(saved);
  EXPECT_EQ(got.max, static_cast<double>(1e-40f));
  EXPECT_GT(got.norm, 0);
}
#endif

}  // namespace
}  // namespace msprobe
