#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace msprobe::base {

/// First in, first out, from many threads to one. Each item has a weight (bytes); producers wait
/// while more than `capacity` is in the queue or being worked on. The consumer is not woken for
/// every item: it lets them gather for a while.
template <class T>
class BoundedQueue {
 public:
  enum class PushResult : uint8_t { kPushed, kFull, kClosed };

  /// The consumer takes what there is as soon as `batch` is in the queue, or an item is `delay`
  /// old.
  BoundedQueue(size_t capacity, size_t batch, std::chrono::milliseconds delay)
      : capacity_(capacity), batch_(std::min(batch, capacity)), delay_(delay) {}

  /// `item` is moved from only with kPushed. An item heavier than the capacity is let into an empty
  /// queue. kFull only with `wait` false.
  PushResult Push(T&& item, size_t weight, bool wait) {
    std::unique_lock lock(mutex_);
    const PushResult room = WaitForRoom(&lock, weight, wait);
    if (room != PushResult::kPushed) return room;
    Append(std::move(item));
    const bool wake = Count(weight);
    const bool first = items_.size() == 1;
    lock.unlock();
    if (wake || first) consumer_.notify_one();
    return PushResult::kPushed;
  }

  /// Adds to the newest item that waits instead of pushing another: `add(item)` gets it, or null
  /// when there is none; if it returns an item, that is pushed. Called under the queue's lock.
  template <class Add>
  PushResult PushInto(size_t weight, bool wait, Add add) {
    std::unique_lock lock(mutex_);
    const PushResult room = WaitForRoom(&lock, weight, wait);
    if (room != PushResult::kPushed) return room;
    std::optional<T> item = add(items_.empty() ? nullptr : &items_.back());
    if (item) Append(std::move(*item));
    const bool wake = Count(weight);
    const bool first = item && items_.size() == 1;
    lock.unlock();
    if (wake || first) consumer_.notify_one();
    return PushResult::kPushed;
  }

  /// Waits for items and moves all of them to `items`, which is cleared first; false when the queue
  /// is closed and empty. Done() gives their room back.
  bool PopAll(std::vector<T>* items) {
    items->clear();
    std::unique_lock lock(mutex_);
    consumer_.wait(lock, [this] { return !items_.empty() || closed_; });
    consumer_.wait_until(lock, first_push_ + delay_,
                         [this] { return closed_ || hurry_ || weight_ >= batch_; });
    hurry_ = false;
    items_.swap(*items);
    return !items->empty();
  }

  /// `count` popped items of together `weight` are dealt with.
  void Done(size_t count, size_t weight) {
    {
      const std::lock_guard lock(mutex_);
      weight_ -= weight;
      done_ += count;
    }
    producers_.notify_all();
  }

  /// Waits until all that was pushed before is done. There must be a consumer.
  void Flush() {
    std::unique_lock lock(mutex_);
    const uint64_t target = pushed_;
    if (done_ >= target) return;
    hurry_ = true;
    consumer_.notify_one();
    producers_.wait(lock, [&] { return done_ >= target; });
  }

  /// Push() fails from now on; PopAll() still gives what is there.
  void Close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    consumer_.notify_one();
    producers_.notify_all();
  }

 private:
  PushResult WaitForRoom(std::unique_lock<std::mutex>* lock, size_t weight, bool wait) {
    while (!closed_ && weight_ > 0 && weight_ + weight > capacity_) {
      if (!wait) return PushResult::kFull;
      hurry_ = true;
      consumer_.notify_one();
      producers_.wait(*lock);
    }
    return closed_ ? PushResult::kClosed : PushResult::kPushed;
  }

  void Append(T&& item) {
    if (items_.empty()) first_push_ = std::chrono::steady_clock::now();
    items_.push_back(std::move(item));
    ++pushed_;
  }

  /// After Append(), which may find no memory: what was not taken in has no weight. True if there
  /// is enough now for the consumer to begin.
  bool Count(size_t weight) {
    const size_t before = weight_;
    weight_ += weight;
    return before < batch_ && weight_ >= batch_;
  }

  const size_t capacity_;
  const size_t batch_;
  const std::chrono::milliseconds delay_;
  std::mutex mutex_;
  std::condition_variable consumer_;
  std::condition_variable producers_;
  std::vector<T> items_;
  size_t weight_ = 0;
  uint64_t pushed_ = 0;
  uint64_t done_ = 0;
  bool hurry_ = false;
  bool closed_ = false;
  std::chrono::steady_clock::time_point first_push_;
};

}  // namespace msprobe::base
