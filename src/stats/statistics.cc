#include "msprobe/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "base/crc32.h"
#include "stats/float32_once.h"
#include "stats/kernels.h"
#include "stats/reference.h"
#include "tensor/dtype.h"
#include "tensor/gather.h"
#include "tensor/strided.h"

namespace msprobe {

namespace {

using stats::AccumulateFloat32Once;
using stats::Partial;

// Small enough that what the statistics have read is still in the cache for the checksum; they go
// first because they prefetch.
constexpr size_t kBlockBytes = size_t{32} << 10;
// Shorter runs are cheaper to copy together than to reduce one by one.
constexpr size_t kDirectRunBytes = 1024;
constexpr size_t kStagingBytes = size_t{16} << 10;

/// Programs may let the processor read denormals as zero; their values are to be recorded.
class ExactDenormals {
 public:
#if defined(__SSE2__)
  ExactDenormals() : saved_(_mm_getcsr()) {
    if ((saved_ & kFlush) != 0) _mm_setcsr(saved_ & ~kFlush);
  }
  ~ExactDenormals() {
    if ((saved_ & kFlush) != 0) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned kFlush = 0x8040;  // flush-to-zero, denormals-are-zero
  unsigned saved_;
#else
  ExactDenormals() {}
  ~ExactDenormals() {}
#endif
};

void Add(DType dtype, const std::byte* values, size_t count, Partial* partial) {
  if (!stats::Accumulate(dtype, values, count, partial)) {
    stats::AccumulateReference(dtype, values, count, partial);
  }
}

/// Collects short and strided runs until a kernel call is worth it.
class RunCollector {
 public:
  RunCollector(DType dtype, size_t element_size, Partial* partial)
      : dtype_(dtype), size_(element_size), partial_(partial) {}
  ~RunCollector() { Flush(); }
  RunCollector(const RunCollector&) = delete;
  RunCollector& operator=(const RunCollector&) = delete;

  void Run(const std::byte* first, int64_t count, int64_t stride) {
    if (stride == 1 && static_cast<size_t>(count) * size_ >= kDirectRunBytes) {
      Add(dtype_, first, static_cast<size_t>(count), partial_);
      return;
    }
    while (count > 0) {
      const size_t room = (kStagingBytes - used_) / size_;
      const auto take = std::min(static_cast<size_t>(count), room);
      tensor::CopyRun(first, stride, static_cast<int64_t>(take), size_, staging_.data() + used_);
      used_ += take * size_;
      first += static_cast<int64_t>(take * size_) * stride;
      count -= static_cast<int64_t>(take);
      if (kStagingBytes - used_ < size_) Flush();
    }
  }

 private:
  void Flush() {
    Add(dtype_, staging_.data(), used_ / size_, partial_);
    used_ = 0;
  }

  DType dtype_;
  size_t size_;
  Partial* partial_;
  size_t used_ = 0;
  alignas(64) std::array<std::byte, kStagingBytes> staging_;
};

/// Leaves out the expanded dimensions: each of their elements counts `repeats` times.
int64_t DropRepeats(tensor::Layout* layout) {
  int64_t repeats = 1;
  size_t dropped = 0;
  while (dropped < layout->rank && layout->dimensions[dropped].stride == 0) {
    repeats *= layout->dimensions[dropped++].extent;
  }
  std::copy(layout->dimensions.begin() + static_cast<std::ptrdiff_t>(dropped),
            layout->dimensions.begin() + static_cast<std::ptrdiff_t>(layout->rank),
            layout->dimensions.begin());
  layout->rank -= dropped;
  if (layout->rank == 0) layout->dimensions[layout->rank++] = {1, 1};
  return repeats;
}

void AddStrided(const TensorView& view, Partial* partial) {
  tensor::Layout layout = tensor::MakeLayout(view, tensor::VisitOrder::kAny);
  const int64_t repeats = DropRepeats(&layout);
  // As Summarize() does with the same values in another order of dimensions: SummaryCache takes one
  // for the other.
  const bool once =
      view.dtype == DType::kFloat32 && repeats == 1 && layout.contiguous() &&
      AccumulateFloat32Once(layout.data, static_cast<size_t>(layout.element_count), {}, partial);
  if (!once) {
    RunCollector collector(view.dtype, layout.element_size, partial);
    tensor::ForEachRun(layout, [&](const std::byte* first, int64_t count, int64_t stride) {
      collector.Run(first, count, stride);
    });
  }
  partial->sum *= static_cast<long double>(repeats);
  partial->sum_squares *= static_cast<long double>(repeats);
  partial->nan_count *= static_cast<uint64_t>(repeats);
  partial->inf_count *= static_cast<uint64_t>(repeats);
}

void SetIntegers(DType dtype, const Partial& partial, Statistics* statistics) {
  statistics->is_integral = true;
  statistics->is_bool = dtype == DType::kBool;
  statistics->max_int = partial.max_int;
  statistics->min_int = partial.min_int;
  statistics->max = static_cast<double>(partial.max_int);
  statistics->min = static_cast<double>(partial.min_int);
  if (dtype != DType::kUInt64) return;
  statistics->is_unsigned = true;
  statistics->max_int ^= std::numeric_limits<int64_t>::min();
  statistics->min_int ^= std::numeric_limits<int64_t>::min();
  statistics->max = static_cast<double>(static_cast<uint64_t>(statistics->max_int));
  statistics->min = static_cast<double>(static_cast<uint64_t>(statistics->min_int));
}

Statistics Finish(DType dtype, const Partial& partial, int64_t count, bool negate) {
  Statistics statistics;
  statistics.defined = true;
  statistics.nan_count = partial.nan_count;
  statistics.inf_count = partial.inf_count;
  if (partial.nan_count > 0) {
    statistics.max = statistics.min = statistics.mean = statistics.norm =
        std::numeric_limits<double>::quiet_NaN();
    return statistics;
  }
  const auto mean = static_cast<double>(partial.sum / static_cast<long double>(count));
  statistics.mean = negate ? -mean : mean;
  statistics.norm = static_cast<double>(std::sqrt(partial.sum_squares));
  if (tensor::IsIntegral(dtype)) {
    SetIntegers(dtype, partial, &statistics);
    return statistics;
  }
  // Adding zero turns -0.0 into 0.0: which of the two is met first must not show.
  statistics.max = (negate ? -partial.min : partial.max) + 0.0;
  statistics.min = (negate ? -partial.max : partial.min) + 0.0;
  statistics.mean += 0.0;
  return statistics;
}

TensorSummary SummarizeBlocks(const TensorView& view, SummaryMode mode, int64_t count) {
  TensorSummary summary;
  Partial partial;
  const size_t size = ElementSize(view.dtype);
  tensor::BlockReader reader(view, kBlockBytes);
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    if (mode == SummaryMode::kXor) {
      summary.xor64 ^= stats::XorWords(block.data(), block.size());
      continue;
    }
    Add(view.dtype, block.data(), block.size() / size, &partial);
    if (mode == SummaryMode::kCrc32) summary.crc32 = base::Crc32(summary.crc32, block);
  }
  if (mode != SummaryMode::kXor) summary.statistics = Finish(view.dtype, partial, count, false);
  return summary;
}

}  // namespace

bool stats::SummarizeOnce(const TensorView& view, SummaryMode mode, uint64_t* fingerprint,
                          TensorSummary* summary) {
  if (view.dtype != DType::kFloat32 || mode == SummaryMode::kXor || view.negative) return false;
  const tensor::Layout layout =
      tensor::MakeLayout(view, mode == SummaryMode::kStatistics ? tensor::VisitOrder::kAny
                                                                : tensor::VisitOrder::kRowMajor);
  const auto count = static_cast<int64_t>(layout.element_count);
  if (count == 0 || view.data == nullptr || !layout.contiguous()) return false;
  const ExactDenormals exact_denormals;
  Partial partial;
  const Float32Wanted wanted = {mode == SummaryMode::kCrc32 ? &summary->crc32 : nullptr,
                                fingerprint};
  if (!AccumulateFloat32Once(layout.data, static_cast<size_t>(count), wanted, &partial)) {
    return false;
  }
  summary->statistics = Finish(view.dtype, partial, count, false);
  return true;
}

TensorSummary Summarize(const TensorView& view, SummaryMode mode) {
  TensorSummary summary;
  const int64_t count = ElementCount(view.shape);
  if (count == 0 || view.dtype == DType::kUnknown || view.data == nullptr) return summary;
  const bool contiguous = IsContiguous(view);
  if (contiguous && stats::SummarizeOnce(view, mode, nullptr, &summary)) return summary;
  const ExactDenormals exact_denormals;
  const auto bytes = static_cast<size_t>(count) * ElementSize(view.dtype);
  const bool one_block = contiguous && !view.negative && !view.conjugate && bytes <= kBlockBytes;
  // Two's complement has one negative value without a positive one: negate the values themselves.
  const bool negate_integers = view.negative && tensor::IsIntegral(view.dtype);
  if ((mode != SummaryMode::kStatistics && !one_block) || negate_integers) {
    return SummarizeBlocks(view, mode, count);
  }
  Partial partial;
  if (contiguous) {
    if (mode == SummaryMode::kXor) {
      summary.xor64 = stats::XorWords(view.data, bytes);
      return summary;
    }
    if (mode == SummaryMode::kCrc32) summary.crc32 = base::Crc32(0, {view.data, bytes});
    Add(view.dtype, view.data, static_cast<size_t>(count), &partial);
  } else {
    AddStrided(view, &partial);
  }
  const bool negate = view.negative && !tensor::IsComplex(view.dtype);
  summary.statistics = Finish(view.dtype, partial, count, negate);
  return summary;
}

}  // namespace msprobe
