#include "dump/shared_contents.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "tensor/gather.h"

namespace msprobe::dump {

namespace {

struct HashOf {
  size_t operator()(const stats::ContentHash& hash) const { return hash.low; }
};

/// What waits, without keeping it. Never waits for its lock: a child that was forked while a thread
/// held it must not hang.
class WaitingContents {
 public:
  std::shared_ptr<SharedContents> Find(const stats::ContentHash& hash, uint64_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    const auto found = waiting_.find(hash);
    if (found == waiting_.end()) return nullptr;
    auto contents = found->second.lock();
    return contents != nullptr && contents->bytes == bytes ? contents : nullptr;
  }

  void Add(const std::shared_ptr<SharedContents>& contents) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    if (waiting_.size() >= limit_) {
      std::erase_if(waiting_, [](const auto& entry) { return entry.second.expired(); });
      limit_ = 2 * waiting_.size() + kLeastLimit;
    }
    waiting_[contents->hash] = contents;
  }

 private:
  static constexpr size_t kLeastLimit = 1024;

  std::mutex mutex_;
  std::unordered_map<stats::ContentHash, std::weak_ptr<SharedContents>, HashOf> waiting_;
  size_t limit_ = kLeastLimit;
};

WaitingContents& Waiting() {
  static auto* const waiting = new WaitingContents;  // outlives every thread
  return *waiting;
}

std::shared_ptr<SharedContents> NewContents(uint64_t bytes) {
  auto contents = std::make_shared<SharedContents>();
  contents->values = StagingBuffer::Allocate(bytes);
  contents->bytes = bytes;
  return contents->values.data() != nullptr ? contents : nullptr;
}

void CopyValues(const TensorView& view, std::byte* to) {
  tensor::BlockReader reader(view);
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    std::memcpy(to, block.data(), block.size());
    to += block.size();
  }
}

}  // namespace

std::shared_ptr<SharedContents> TakeContents(const TensorView& view) {
  const auto bytes = static_cast<uint64_t>(ElementCount(view.shape)) * ElementSize(view.dtype);
  if (bytes == 0 || view.data == nullptr) return nullptr;
  const bool as_it_lies = IsContiguous(view) && !view.negative && !view.conjugate;
  std::shared_ptr<SharedContents> contents;
  if (!as_it_lies) {
    contents = NewContents(bytes);
    if (contents == nullptr) return nullptr;
    CopyValues(view, contents->values.data());
  }
  const auto hash = stats::HashContents(as_it_lies ? view.data : contents->values.data(), bytes);
  if (auto known = Waiting().Find(hash, bytes)) return known;
  if (as_it_lies) {
    contents = NewContents(bytes);
    if (contents == nullptr) return nullptr;
    std::memcpy(contents->values.data(), view.data, bytes);
  }
  contents->hash = hash;
  Waiting().Add(contents);
  return contents;
}

}  // namespace msprobe::dump
