#include "stats/summary_cache.h"

#include "stats/float32_once.h"
#include "stats/kernels.h"
#include "stats/reference.h"
#include "tensor/strided.h"

namespace msprobe::stats {

namespace {

// Below, looking costs more than it saves; above, the bytes have left the cache, and reading them
// takes as long as summing them up.
constexpr size_t kLeastBytes = 512;
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kLeastRunBytes = 256;
// A block of the fingerprint. Bytes that have changed mostly differ here: they are then read once
// for their fingerprint and their summary together.
constexpr size_t kHeadBytes = sizeof(FingerprintKeys);

}  // namespace

SummaryCache::SummaryCache() : entries_(kEntries) {}

size_t SummaryCache::Place(const Key& key) {
  return ChainFingerprint(key.layout, reinterpret_cast<uintptr_t>(key.data)) % kEntries;
}

const TensorSummary* SummaryCache::Find(const TensorView& view, SummaryMode mode, uint64_t moment,
                                        Key* key) {
  key->data = nullptr;
  if (view.data == nullptr || view.negative || view.conjugate) return nullptr;
  // Statistics do not depend on the order of the elements, checksums do.
  const tensor::Layout layout =
      tensor::MakeLayout(view, mode == SummaryMode::kStatistics ? tensor::VisitOrder::kAny
                                                                : tensor::VisitOrder::kRowMajor);
  const size_t bytes = static_cast<size_t>(layout.element_count) * layout.element_size;
  if (bytes < kLeastBytes || (bytes > kMostBytes && moment == 0)) return nullptr;
  const bool runs =
      layout.inner().stride == 1 &&
      static_cast<size_t>(layout.inner().extent) * layout.element_size >= kLeastRunBytes;
  if (!runs && moment == 0) return nullptr;
  key->data = layout.data;
  key->moment = moment;
  key->fingerprint = key->head = 0;
  key->open = false;
  key->layout = ChainFingerprint(static_cast<uint64_t>(view.dtype), static_cast<uint64_t>(mode));
  for (size_t d = 0; d < layout.rank; ++d) {
    const auto& [extent, stride] = layout.dimensions[d];
    key->layout = ChainFingerprint(key->layout, static_cast<uint64_t>(extent));
    key->layout = ChainFingerprint(key->layout, static_cast<uint64_t>(stride));
  }
  Entry& entry = entries_[Place(*key)];
  const bool same_place = entry.key.data == key->data && entry.key.layout == key->layout;
  if (same_place && moment != 0 && entry.key.moment == moment) return &entry.summary;
  // The XOR of the bytes costs no more than their fingerprint.
  if (!runs || bytes > kMostBytes || mode == SummaryMode::kXor) return nullptr;
  if (view.dtype == DType::kFloat32 && layout.contiguous() && bytes > kHeadBytes) {
    key->head = Fingerprint(layout.data, kHeadBytes, 0);
    key->open = !same_place || entry.key.head != key->head;
    if (key->open) return nullptr;
    key->fingerprint = Fingerprint(layout.data + kHeadBytes, bytes - kHeadBytes, key->head);
    if (entry.key.fingerprint != key->fingerprint) return nullptr;
    entry.key.moment = moment;
    return &entry.summary;
  }
  tensor::ForEachRun(layout, [&](const std::byte* first, int64_t count, int64_t) {
    key->fingerprint =
        Fingerprint(first, static_cast<size_t>(count) * layout.element_size, key->fingerprint);
  });
  if (!same_place || entry.key.fingerprint != key->fingerprint) return nullptr;
  entry.key.moment = moment;
  return &entry.summary;
}

TensorSummary SummaryCache::Compute(const TensorView& view, SummaryMode mode, Key* key) {
  TensorSummary summary;
  if (!key->open) return Summarize(view, mode);
  if (SummarizeOnce(view, mode, &key->fingerprint, &summary)) return summary;
  // No instructions for it: one after the other.
  const auto bytes = static_cast<size_t>(ElementCount(view.shape)) * ElementSize(view.dtype);
  key->fingerprint = Fingerprint(key->data + kHeadBytes, bytes - kHeadBytes, key->head);
  return Summarize(view, mode);
}

void SummaryCache::Keep(const Key& key, const TensorSummary& summary) {
  if (key.data != nullptr) entries_[Place(key)] = {key, summary};
}

}  // namespace msprobe::stats
