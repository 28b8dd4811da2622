// Summarize() by dtype, size and summary mode; bytes per second are those of the tensor.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "msprobe/statistics.h"
#include "tensor/dtype.h"

namespace {

using msprobe::DType;
using msprobe::SummaryMode;
using msprobe::TensorView;

std::vector<std::byte> Values(size_t bytes) {
  std::vector<std::byte> values(bytes);
  uint32_t state = 1;
  for (size_t i = 0; i + 4 <= bytes; i += 4) {
    state = state * 1664525u + 1013904223u;
    // Exponents of float32, float16 and bfloat16 alike stay in the range of common values.
    const uint32_t word = (state & 0x80ff00ffu) | 0x38003800u;
    std::memcpy(values.data() + i, &word, 4);
  }
  return values;
}

void Run(benchmark::State& state, const TensorView& view, SummaryMode mode, int64_t elements) {
  for (auto _ : state) {
    auto summary = msprobe::Summarize(view, mode);
    benchmark::DoNotOptimize(summary);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * elements *
                          static_cast<int64_t>(msprobe::ElementSize(view.dtype)));
}

void Contiguous(benchmark::State& state, DType dtype, SummaryMode mode) {
  const int64_t elements = state.range(0);
  const auto values = Values(static_cast<size_t>(elements) * msprobe::ElementSize(dtype));
  const int64_t shape[] = {elements};
  const TensorView view{values.data(), dtype, false, false, shape, {}};
  Run(state, view, mode, elements);
}

void Transposed(benchmark::State& state, SummaryMode mode) {
  const int64_t side = state.range(0);
  const auto values = Values(static_cast<size_t>(side * side) * 4);
  const int64_t shape[] = {side, side};
  const int64_t strides[] = {1, side};
  const TensorView view{values.data(), DType::kFloat32, false, false, shape, strides};
  Run(state, view, mode, side * side);
}

void EverySecond(benchmark::State& state) {
  const int64_t elements = state.range(0);
  const auto values = Values(static_cast<size_t>(elements) * 8);
  const int64_t shape[] = {elements};
  const int64_t strides[] = {2};
  const TensorView view{values.data(), DType::kFloat32, false, false, shape, strides};
  Run(state, view, SummaryMode::kStatistics, elements);
}

void RegisterAll() {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kFloat8E4M3Fn,
        DType::kInt64, DType::kInt32, DType::kUInt8, DType::kBool, DType::kComplex64}) {
    const std::string name(
        msprobe::tensor::DTypeName(dtype, msprobe::tensor::DTypeSpelling::kNumpy));
    benchmark::RegisterBenchmark(("statistics/" + name).c_str(), Contiguous, dtype,
                                 SummaryMode::kStatistics)
        ->Arg(16)
        ->Arg(64)
        ->Arg(4096)
        ->Arg(16 << 20);
  }
  // Of 64 KiB and 1 MiB, as in a small model: what a checksum takes besides statistics, and what
  // reading alone takes.
  for (const auto& [name, mode] : {std::pair("statistics/float32", SummaryMode::kStatistics),
                                   std::pair("crc32/float32", SummaryMode::kCrc32),
                                   std::pair("xor/float32", SummaryMode::kXor)}) {
    benchmark::RegisterBenchmark(name, Contiguous, DType::kFloat32, mode)
        ->Arg(16 << 10)
        ->Arg(256 << 10);
  }
  benchmark::RegisterBenchmark("crc32/float32", Contiguous, DType::kFloat32, SummaryMode::kCrc32)
      ->Arg(64)
      ->Arg(4096)
      ->Arg(16 << 20);
  benchmark::RegisterBenchmark("xor/float32", Contiguous, DType::kFloat32, SummaryMode::kXor)
      ->Arg(64)
      ->Arg(16 << 20);
  benchmark::RegisterBenchmark("transposed/statistics", Transposed, SummaryMode::kStatistics)
      ->Arg(4096);
  benchmark::RegisterBenchmark("transposed/crc32", Transposed, SummaryMode::kCrc32)->Arg(4096);
  benchmark::RegisterBenchmark("every_second/statistics", EverySecond)->Arg(4 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
