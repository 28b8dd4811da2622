#include "tensor/gather.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tensor/dtype.h"

namespace msprobe::tensor {

namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kMaxTransposedBytes = size_t{1} << 20;

template <size_t kSize>
void CopyStrided(const std::byte* from, int64_t stride_bytes, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to, from, kSize);
    to += kSize;
    from += stride_bytes;
  }
}

/// Rows that lie close together, their elements far apart (a transposed matrix): as every cache
/// line holds elements of several rows, a few columns at a time are copied for all rows.
template <size_t kSize>
void CopyTransposed(const std::byte* from, int64_t row_stride_bytes, int64_t rows,
                    int64_t stride_bytes, int64_t columns, std::byte* to) {
  constexpr int64_t kColumns = 8;
  const int64_t row_bytes = columns * static_cast<int64_t>(kSize);
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t count = std::min(kColumns, columns - column);
    for (int64_t row = 0; row < rows; ++row) {
      CopyStrided<kSize>(from + row * row_stride_bytes + column * stride_bytes, stride_bytes, count,
                         to + row * row_bytes + column * static_cast<int64_t>(kSize));
    }
  }
}

/// Flips the sign bit of every `step`-th value, or negates integers in two's complement.
template <class Word>
void Negate(bool integral, size_t first, size_t step, std::span<std::byte> values) {
  constexpr Word kSign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  for (size_t at = first * sizeof(Word); at < values.size(); at += step * sizeof(Word)) {
    Word word;
    std::memcpy(&word, values.data() + at, sizeof(Word));
    word = static_cast<Word>(integral ? Word{0} - word : word ^ kSign);
    std::memcpy(values.data() + at, &word, sizeof(Word));
  }
}

void NegateWords(size_t word_size, bool integral, size_t first, size_t step,
                 std::span<std::byte> values) {
  switch (word_size) {
    case 1: return Negate<uint8_t>(integral, first, step, values);
    case 2: return Negate<uint16_t>(integral, first, step, values);
    case 4: return Negate<uint32_t>(integral, first, step, values);
    case 8: return Negate<uint64_t>(integral, first, step, values);
    default: return;
  }
}

/// Negating keeps bool (no sign), and the fp8 values whose sign bit pattern is not a sign.
void NegateAll(DType dtype, std::span<std::byte> values) {
  if (dtype == DType::kBool || dtype == DType::kFloat8E8M0Fnu) return;
  if (dtype == DType::kFloat8E4M3FnUz || dtype == DType::kFloat8E5M2FnUz) {
    for (std::byte& value : values) {
      if ((value & std::byte{0x7f}) != std::byte{0}) value ^= std::byte{0x80};
    }
    return;
  }
  const size_t word = IsComplex(dtype) ? ElementSize(dtype) / 2 : ElementSize(dtype);
  NegateWords(word, IsIntegral(dtype), 0, 1, values);
}

}  // namespace

void CopyRun(const std::byte* from, int64_t stride, int64_t count, size_t size, std::byte* to) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * size);
    return;
  }
  const int64_t stride_bytes = stride * static_cast<int64_t>(size);
  switch (size) {
    case 1: return CopyStrided<1>(from, stride_bytes, count, to);
    case 2: return CopyStrided<2>(from, stride_bytes, count, to);
    case 4: return CopyStrided<4>(from, stride_bytes, count, to);
    case 8: return CopyStrided<8>(from, stride_bytes, count, to);
    case 16: return CopyStrided<16>(from, stride_bytes, count, to);
    default: return;
  }
}

void ResolveFlags(DType dtype, bool conjugate, bool negative, std::span<std::byte> values) {
  if (conjugate && IsComplex(dtype)) NegateWords(ElementSize(dtype) / 2, false, 1, 2, values);
  if (negative) NegateAll(dtype, values);
}

BlockReader::BlockReader(const TensorView& view, size_t block_bytes)
    : layout_(MakeLayout(view, VisitOrder::kRowMajor)),
      dtype_(view.dtype),
      conjugate_(view.conjugate && IsComplex(view.dtype)),
      negative_(view.negative),
      row_(layout_.data) {
  if (layout_.element_size == 0) layout_ = Layout{};  // kUnknown: no values to hand out
  const size_t size = std::max<size_t>(layout_.element_size, 1);
  block_elements_ = block_bytes / size;
  if (transposed()) {
    // Enough rows to use whole cache lines.
    const auto lines = static_cast<size_t>(layout_.inner().extent) * kCacheLine / size;
    block_elements_ = std::max(block_elements_, std::min(lines, kMaxTransposedBytes / size));
  }
  block_elements_ = std::max<size_t>(block_elements_, 1);
}

bool BlockReader::transposed() const {
  if (layout_.rank < 2) return false;
  return std::abs(layout_.outer().back().stride) < std::abs(layout_.inner().stride);
}

/// Copies the rows that are wholly inside the block; the number of elements copied.
int64_t BlockReader::FillRows(int64_t count, std::byte* to) {
  const Layout::Dimension inner = layout_.inner();
  const size_t last = layout_.rank - 2;
  const Layout::Dimension outer = layout_.outer()[last];
  const int64_t rows = std::min(count / inner.extent, outer.extent - index_[last]);
  if (rows < 2) return 0;
  const auto size = static_cast<int64_t>(layout_.element_size);
  const auto copy = [&]<size_t kSize>() {
    CopyTransposed<kSize>(row_, outer.stride * size, rows, inner.stride * size, inner.extent, to);
  };
  switch (layout_.element_size) {
    case 1: copy.operator()<1>(); break;
    case 2: copy.operator()<2>(); break;
    case 4: copy.operator()<4>(); break;
    case 8: copy.operator()<8>(); break;
    default: copy.operator()<16>(); break;
  }
  row_ += (rows - 1) * outer.stride * size;
  index_[last] += rows - 1;
  NextRow();
  return rows * inner.extent;
}

void BlockReader::NextRow() {
  const auto outer = layout_.outer();
  const auto size = static_cast<int64_t>(layout_.element_size);
  for (size_t d = outer.size(); d-- > 0;) {
    row_ += outer[d].stride * size;
    if (++index_[d] < outer[d].extent) break;
    row_ -= outer[d].extent * outer[d].stride * size;
    index_[d] = 0;
  }
}

std::span<const std::byte> BlockReader::Next() {
  const int64_t count =
      std::min(static_cast<int64_t>(block_elements_), layout_.element_count - done_);
  if (count <= 0) return {};
  const size_t bytes = static_cast<size_t>(count) * layout_.element_size;
  if (layout_.contiguous() && !conjugate_ && !negative_) {
    const std::byte* first = layout_.data + done_ * static_cast<int64_t>(layout_.element_size);
    done_ += count;
    return {first, bytes};
  }
  buffer_.resize(bytes);
  Fill(count);
  done_ += count;
  ResolveFlags(dtype_, conjugate_, negative_, buffer_);
  return buffer_;
}

void BlockReader::Fill(int64_t count) {
  const auto size = static_cast<int64_t>(layout_.element_size);
  const Layout::Dimension inner = layout_.inner();
  const bool by_columns = transposed();
  std::byte* to = buffer_.data();
  while (count > 0) {
    if (by_columns && inner_done_ == 0) {
      const int64_t copied = FillRows(count, to);
      to += copied * size;
      count -= copied;
      if (copied > 0) continue;
    }
    const int64_t take = std::min(count, inner.extent - inner_done_);
    CopyRun(row_ + inner_done_ * inner.stride * size, inner.stride, take, layout_.element_size, to);
    to += take * size;
    count -= take;
    inner_done_ += take;
    if (inner_done_ < inner.extent) return;
    inner_done_ = 0;
    NextRow();
  }
}

}  // namespace msprobe::tensor
