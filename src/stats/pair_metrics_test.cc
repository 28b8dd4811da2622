#include "stats/pair_metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "stats/instruction_sets_fixture.h"
#include "stats/pair_metrics_kernels.h"
#include "stats/pair_metrics_reference.h"
#include "tensor/dtype.h"

namespace msprobe::stats {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Tensor {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  std::vector<int64_t> strides;
  size_t offset = 0;
  bool conjugate = false;
  bool negative = false;
  TensorView view() const {
    return {bytes.data() + offset, dtype, conjugate, negative, shape, strides};
  }
};

template <class T>
Tensor Make(DType dtype, const std::vector<T>& values, size_t misalign = 0) {
  Tensor tensor{dtype,
                {static_cast<int64_t>(values.size() * sizeof(T) / ElementSize(dtype))},
                std::vector<std::byte>(values.size() * sizeof(T) + misalign),
                {},
                misalign};
  if (!values.empty()) {
    std::memcpy(tensor.bytes.data() + misalign, values.data(), values.size() * sizeof(T));
  }
  return tensor;
}

Tensor Floats(const std::vector<float>& values) { return Make(DType::kFloat32, values); }
Tensor Doubles(const std::vector<double>& values) { return Make(DType::kFloat64, values); }

PairMetrics Compare(const Tensor& target, const Tensor& golden, size_t threads = 1) {
  auto result = ComparePair(target.view(), golden.view(), threads);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : PairMetrics{};
}

void ExpectClose(double actual, double expected, double tolerance, const char* what) {
  if (actual == expected) return;
  EXPECT_NEAR(actual, expected, tolerance * std::max(std::fabs(expected), 1e-300)) << what;
}

void ExpectSame(const PairMetrics& actual, const PairMetrics& expected) {
  EXPECT_EQ(actual.count, expected.count);
  EXPECT_EQ(actual.special_both, expected.special_both);
  EXPECT_EQ(actual.special_mismatch, expected.special_mismatch);
  EXPECT_EQ(actual.cosine_defined, expected.cosine_defined);
  EXPECT_NEAR(actual.cosine, expected.cosine, 1e-12);
  ExpectClose(actual.euclidean_distance, expected.euclidean_distance, 1e-11, "euclid");
  ExpectClose(actual.max_abs_error, expected.max_abs_error, 1e-15, "max abs");
  ExpectClose(actual.max_relative_error, expected.max_relative_error, 1e-15, "max relative");
  EXPECT_EQ(actual.ratio_thousandth, expected.ratio_thousandth);
  EXPECT_EQ(actual.ratio_five_thousandths, expected.ratio_five_thousandths);
}

void ExpectMatchesReference(const Tensor& target, const Tensor& golden) {
  ExpectSame(Compare(target, golden), ComparePairReference(target.view(), golden.view()));
}

// Random bytes of every dtype: NaN, infinities, denormals and zeros among them.
Tensor RandomBits(DType dtype, size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(count * ElementSize(dtype));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  if (dtype == DType::kBool) {
    for (uint8_t& byte : bytes) byte &= 1;
  }
  return Make(dtype, bytes);
}

std::vector<DType> AllDTypes() {
  std::vector<DType> dtypes;
  for (int i = 1; i <= static_cast<int>(DType::kComplex128); ++i) {
    dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

using fixture::EveryInstructionSet;

// The kernel's own vectors, and those of a twice as wide one.
TEST_P(EveryInstructionSet, AgreesWithTheReferenceForEverySize) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (size_t size = 0; size <= 3 * 16 + 5; ++size) {
    for (const size_t misalign : {size_t{0}, size_t{4}, size_t{1}}) {
      std::vector<float> t(size), g(size);
      for (size_t i = 0; i < size; ++i) {
        g[i] = i % 5 == 0 ? 0 : normal(random);
        t[i] = g[i] * (1 + 0.002F * normal(random)) + (i % 10 == 5 ? 1e-3F : 0);
      }
      const Tensor target = Make(DType::kFloat32, t, misalign);
      const Tensor golden = Make(DType::kFloat32, g, misalign);
      ExpectMatchesReference(target, golden);
    }
  }
}

TEST_P(EveryInstructionSet, SpecialValuesAtEveryPlace) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float denormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> specials = {nan, inf, -inf, 0, -0.0F, denormal, 3e38F, -3e38F};
  for (const float t : specials) {
    for (const float g : specials) {
      for (size_t at = 0; at < 37; at += 6) {
        std::vector<float> target(37, 1), golden(37, 1.0005F);
        target[at] = t;
        golden[at] = g;
        ExpectMatchesReference(Floats(target), Floats(golden));
        ExpectMatchesReference(Doubles({target.begin(), target.end()}),
                               Doubles({golden.begin(), golden.end()}));
      }
    }
  }
}

TEST_P(EveryInstructionSet, EveryDTypeWithEveryOther) {
  for (const DType a : AllDTypes()) {
    for (const DType b : AllDTypes()) {
      SCOPED_TRACE(testing::Message()
                   << tensor::DTypeName(a, tensor::DTypeSpelling::kNumpy) << " against "
                   << tensor::DTypeName(b, tensor::DTypeSpelling::kNumpy));
      const Tensor target = RandomBits(a, 157, 1);
      const Tensor golden = a == b ? RandomBits(b, 157, 3) : RandomBits(b, 157, 2);
      const PairMetrics actual = Compare(target, golden);
      const PairMetrics expected = ComparePairReference(target.view(), golden.view());
      // Random float64 reach 1e308: there the difference itself may be beyond float64.
      if (std::isinf(actual.max_abs_error)) {
        EXPECT_EQ(actual.special_mismatch, expected.special_mismatch);
      } else {
        ExpectSame(actual, expected);
      }
    }
  }
}

TEST_P(EveryInstructionSet, WidensEveryHalf) {
  std::vector<uint16_t> bits(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor half = Make(dtype, bits);
    std::vector<float> wide(bits.size());
    (dtype == DType::kFloat16 ? WidenFloat16 : WidenBFloat16)(half.bytes.data(), bits.size(),
                                                              wide.data());
    const PairMetrics metrics = ComparePairReference(half.view(), Floats(wide).view());
    EXPECT_EQ(metrics.special_mismatch, 0U);
    EXPECT_EQ(metrics.max_abs_error, 0);
    EXPECT_EQ(metrics.special_both, dtype == DType::kFloat16 ? 2046U : 254U);
    ExpectMatchesReference(half, Floats(wide));
  }
}

uint16_t BFloat16Bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint16_t Float16Bits(float value) {  // of numbers that float16 has as normal ones
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = (bits & 0x7fffffff) + 0xfff + ((bits >> 13) & 1);
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | ((magnitude >> 13) - (112 << 10)));
}

/// Two tensors of a 16-bit type: `scale` times numbers around 1, the last ones a bit apart.
std::array<Tensor, 2> Halves(DType dtype, size_t size, float scale) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0.25F, 1.75F);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> t(size), g(size);
  const auto bits = dtype == DType::kBFloat16 ? &BFloat16Bits : &Float16Bits;
  for (size_t i = 0; i < size; ++i) {
    const float value = uniform(random) * (i % 3 == 0 ? -scale : scale);
    g[i] = i % 7 == 3 ? 0 : bits(value);
    t[i] = i % 14 == 3 ? 0 : bits(value * (1 + 0.01F * normal(random)));
  }
  return {Make(dtype, t), Make(dtype, g)};
}

// Their sums are float32: counts and extremes are exact, the rest is off by some roundings.
TEST_P(EveryInstructionSet, HalvesOfEverySize) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    for (const size_t size : {1, 7, 16, 31, 32, 33, 63, 64, 100, 1023, 1024, 1025, 5000}) {
      const auto [target, golden] = Halves(dtype, size, 4);
      const PairMetrics actual = Compare(target, golden);
      const PairMetrics expected = ComparePairReference(target.view(), golden.view());
      EXPECT_EQ(actual.count, expected.count);
      EXPECT_EQ(actual.cosine_defined, expected.cosine_defined);
      EXPECT_NEAR(actual.cosine, expected.cosine, 1e-6);
      ExpectClose(actual.euclidean_distance, expected.euclidean_distance, 1e-6, "euclid");
      ExpectClose(actual.max_abs_error, expected.max_abs_error, 1e-15, "max abs");
      ExpectClose(actual.max_relative_error, expected.max_relative_error, 1e-15, "max relative");
      EXPECT_EQ(actual.ratio_thousandth, expected.ratio_thousandth);
      EXPECT_EQ(actual.ratio_five_thousandths, expected.ratio_five_thousandths);
    }
  }
}

// Squares beyond float32, squares below it, and one special value: those blocks take float64.
TEST_P(EveryInstructionSet, HalvesWhoseSquaresFloat32CannotHold) {
  for (const float scale : {1e-30F, 1e-36F, 1e25F, 1e37F}) {
    const auto [target, golden] = Halves(DType::kBFloat16, 3000, scale);
    ExpectMatchesReference(target, golden);
  }
  auto [target, golden] = Halves(DType::kBFloat16, 1000, 1);
  target.bytes[501] = golden.bytes[501] = std::byte{0x7f};  // the upper half of an element
  target.bytes[500] = golden.bytes[500] = std::byte{0xc0};
  target.bytes[601] = std::byte{0x7f};
  target.bytes[600] = std::byte{0x80};
  const PairMetrics metrics = Compare(target, golden);
  EXPECT_EQ(metrics.special_both, 1U);
  EXPECT_EQ(metrics.special_mismatch, 1U);
  ExpectMatchesReference(target, golden);
}

// Every ratio that 16-bit elements can have near the limits is counted as float64 counts it.
TEST_P(EveryInstructionSet, HalvesOnTheLimit) {
  std::vector<uint16_t> t, g;
  for (uint16_t golden = 0x3c00; golden < 0x4000; ++golden) {  // 1 … 2 in float16
    for (uint16_t step = 0; step < 16; ++step) {
      g.push_back(golden);
      t.push_back(golden + step);
    }
  }
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor target = Make(dtype, t);
    const Tensor golden = Make(dtype, g);
    const PairMetrics actual = Compare(target, golden);
    const PairMetrics expected = ComparePairReference(target.view(), golden.view());
    EXPECT_EQ(actual.ratio_thousandth, expected.ratio_thousandth);
    EXPECT_EQ(actual.ratio_five_thousandths, expected.ratio_five_thousandths);
  }
}

INSTANTIATE_TEST_SUITE_P(PairMetrics, EveryInstructionSet,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

TEST(PairMetrics, EqualTensors) {
  const PairMetrics metrics = Compare(Floats({1, -2, 0, 7}), Floats({1, -2, 0, 7}));
  EXPECT_EQ(metrics.cosine, 1);
  EXPECT_EQ(metrics.euclidean_distance, 0);
  EXPECT_EQ(metrics.max_relative_error, 0);
  EXPECT_EQ(metrics.ratio_thousandth, 1);
}

TEST(PairMetrics, KnownValues) {
  const PairMetrics metrics = Compare(Floats({1, 2, 3, 4}), Floats({1, 2.005F, 3.3F, -4}));
  EXPECT_NEAR(metrics.cosine, (1 + 4.01 + 9.9 - 16) / std::sqrt(30 * (1 + 4.020025 + 10.89 + 16)),
              1e-7);
  EXPECT_NEAR(metrics.euclidean_distance, std::sqrt(0.000025 + 0.09 + 64), 1e-6);
  EXPECT_EQ(metrics.max_abs_error, 8);
  EXPECT_EQ(metrics.max_relative_error, 2);
  EXPECT_EQ(metrics.ratio_thousandth, 0.25);
  EXPECT_EQ(metrics.ratio_five_thousandths, 0.5);
}

TEST(PairMetrics, EmptyZeroAndOneSidedTensors) {
  EXPECT_EQ(Compare(Floats({}), Floats({})).ratio_thousandth, 1);
  EXPECT_EQ(Compare(Floats({0, 0}), Floats({0, 0})).cosine, 1);
  const PairMetrics one = Compare(Floats({0, 0}), Floats({0, 5}));
  EXPECT_FALSE(one.cosine_defined);
  EXPECT_EQ(one.ratio_thousandth, 0.5);
  EXPECT_EQ(one.max_relative_error, 1);
  const PairMetrics other = Compare(Floats({0, 5}), Floats({0, 0}));
  EXPECT_FALSE(other.cosine_defined);
  EXPECT_EQ(other.max_relative_error, kInf);
}

TEST(PairMetrics, ShapesMustBeEqual) {
  const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {1}, {3}, {1, 1}, {0, 3}};
  const std::vector<float> values(3, 1.5F);
  for (const auto& a : shapes) {
    for (const auto& b : shapes) {
      Tensor target = Floats(values);
      Tensor golden = Floats(values);
      target.shape = a;
      golden.shape = b;
      auto result = ComparePair(target.view(), golden.view());
      EXPECT_EQ(result.ok(), a == b);
      if (!result.ok()) {
        EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
      }
      if (result.ok()) {
        EXPECT_EQ(result->count, static_cast<uint64_t>(ElementCount(a)));
      }
    }
  }
  EXPECT_EQ(ComparePair({nullptr, DType::kUnknown, false, false, {}, {}},
                        {nullptr, DType::kFloat32, false, false, {}, {}})
                .status()
                .code(),
            StatusCode::kUnsupported);
}

// |t - g| / |g| rounded to float64 and the product with the limit must give the same answer on
// whole numbers, where elements do lie on the limit, and may differ by one rounding elsewhere.
TEST(PairMetrics, ElementsOnTheLimitAreAboveIt) {
  for (int64_t g = 1; g < 20000; ++g) {
    for (const double limit : {0.001, 0.005}) {
      const auto step = static_cast<int64_t>(std::llround(static_cast<double>(g) * limit));
      for (int64_t t = g + step - 1; t <= g + step + 1; ++t) {
        const double quotient = static_cast<double>(std::abs(t - g)) / static_cast<double>(g);
        const PairMetrics metrics =
            Compare(Doubles({static_cast<double>(t)}), Doubles({static_cast<double>(g)}));
        const double ratio =
            limit == 0.001 ? metrics.ratio_thousandth : metrics.ratio_five_thousandths;
        ASSERT_EQ(ratio, quotient < limit ? 1 : 0) << t << " against " << g;
      }
    }
  }
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.1, 10);
  for (int i = 0; i < 20000; ++i) {
    const double g = uniform(random);
    const double edge = g + 0.001 * g;
    for (const double t : {std::nextafter(edge, 0), edge, std::nextafter(edge, 100)}) {
      const bool below = std::fabs(t - g) / g < 0.001;
      const bool counted = Compare(Doubles({t}), Doubles({g})).ratio_thousandth == 1;
      if (below != counted) {
        ASSERT_NEAR(std::fabs(t - g) / g, 0.001, 0.001 * 0x1p-52);
      }
    }
  }
}

TEST(PairMetrics, LargeAndSmallDoublesNeitherOverflowNorVanish) {
  const PairMetrics large = Compare(Doubles({3e200, 4e200}), Doubles({4e200, 3e200}));
  EXPECT_NEAR(large.cosine, 0.96, 1e-12);
  EXPECT_NEAR(large.euclidean_distance / 1e200, std::sqrt(2), 1e-12);
  const PairMetrics small = Compare(Doubles({3e-200, 4e-200}), Doubles({4e-200, 3e-200}));
  EXPECT_NEAR(small.cosine, 0.96, 1e-12);
  EXPECT_NEAR(small.euclidean_distance / 1e-200, std::sqrt(2), 1e-12);
  const PairMetrics mixed = Compare(Doubles({1, 1e-200}), Doubles({1, 3e-200}));
  EXPECT_NEAR(mixed.euclidean_distance / 2e-200, 1, 1e-12);
  const PairMetrics apart = Compare(Doubles({1e-200, 0}), Doubles({1e200, 0}));
  EXPECT_NEAR(apart.cosine, 1, 1e-12);
  const PairMetrics floats = Compare(Floats({3e38F, -3e38F}), Floats({-3e38F, 3e38F}));
  EXPECT_NEAR(floats.cosine, -1, 1e-12);
  EXPECT_EQ(floats.max_relative_error, 2);
}

TEST(PairMetrics, LargeIntegersAreSubtractedExactly) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const PairMetrics metrics =
      Compare(Make<int64_t>(DType::kInt64, {big, 5}), Make<int64_t>(DType::kInt64, {big - 1, 5}));
  EXPECT_EQ(metrics.max_abs_error, 1);
  const PairMetrics mixed =
      Compare(Make<int64_t>(DType::kInt64, {std::numeric_limits<int64_t>::max()}),
              Make<uint64_t>(DType::kUInt64, {uint64_t{1} << 63}));
  EXPECT_EQ(mixed.max_abs_error, 1);
}

TEST(PairMetrics, AnyStrides) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(2 * 3 * 4 * 5 * 2);
  for (float& value : values) value = normal(random);
  const Tensor plain = Floats(values);
  const auto with = [&](std::vector<int64_t> shape, std::vector<int64_t> strides, size_t first) {
    Tensor tensor = plain;
    tensor.shape = std::move(shape);
    tensor.strides = std::move(strides);
    tensor.offset = first * sizeof(float);
    return tensor;
  };
  const std::vector<Tensor> tensors = {with({2, 3, 4}, {}, 0),
                                       with({2, 3, 4}, {1, 8, 2}, 0),
                                       with({2, 3, 4}, {12, 4, 1}, 24),
                                       with({2, 3, 4}, {0, 4, 1}, 7),
                                       with({2, 3, 4}, {-12, -4, -1}, 100),
                                       with({2, 3, 4}, {24, 8, 2}, 1),
                                       with({2, 3, 4}, {0, 0, 0}, 3),
                                       with({2, 3, 4}, {1, 2, 6}, 0)};
  for (const Tensor& target : tensors) {
    for (const Tensor& golden : tensors) ExpectMatchesReference(target, golden);
  }
}

TEST(PairMetrics, ConjugateAndNegativeViews) {
  Tensor target = Make<float>(DType::kComplex64, {1, 2, 3, -4});
  Tensor golden = Make<float>(DType::kComplex64, {1, -2, 3, 4});
  EXPECT_EQ(Compare(target, golden).ratio_thousandth, 0.5);
  golden.conjugate = true;
  EXPECT_EQ(Compare(target, golden).ratio_thousandth, 1);
  target.negative = true;
  EXPECT_EQ(Compare(target, golden).cosine, -1);
  ExpectMatchesReference(target, golden);
}

TEST(PairMetrics, SameForAnyNumberOfThreads) {
  std::mt19937 random(9);
  std::vector<float> values(5'000'011);
  for (float& value : values) value = static_cast<float>(random()) * 1e-9F;
  Tensor golden = Floats(values);
  for (float& value : values) value *= 1 + static_cast<float>(random() % 1000) * 1e-6F;
  values[4'000'000] = std::numeric_limits<float>::quiet_NaN();
  const Tensor target = Floats(values);
  const PairMetrics one = Compare(target, golden, 1);
  const PairMetrics three = Compare(target, golden, 3);
  EXPECT_EQ(std::bit_cast<uint64_t>(one.euclidean_distance),
            std::bit_cast<uint64_t>(three.euclidean_distance));
  EXPECT_EQ(one.max_relative_error, three.max_relative_error);
  EXPECT_EQ(one.ratio_thousandth, three.ratio_thousandth);
  EXPECT_EQ(one.special_mismatch, 1U);
  EXPECT_EQ(kInf, one.max_abs_error);
  golden.bytes = target.bytes;
  EXPECT_EQ(Compare(target, golden, 3).cosine, 1);
  EXPECT_EQ(Compare(target, golden, 3).special_both, 1U);
}

TEST(PairMetrics, HalfRelativeErrorsDoNotOverflow) {
  // 65504 against the smallest float16: in float16 arithmetic the quotient is infinite.
  const PairMetrics metrics =
      Compare(Make<uint16_t>(DType::kFloat16, {0x7bff}), Make<uint16_t>(DType::kFloat16, {0x0001}));
  EXPECT_NEAR(metrics.max_relative_error, 65504 * 0x1p24 - 1, 1);
}

}  // namespace
}  // namespace msprobe::stats
