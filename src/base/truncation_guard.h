#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace msprobe::base {

/// Reading a mapped page that its file no longer reaches ends a process with SIGBUS. While a guard
/// over the mapping lives, such pages read as zeros instead, which no JSON survives: whoever parses
/// them finds the damage. For mappings that live long, or in servers. Destroy it before the
/// mapping.
class TruncationGuard {
 public:
  TruncationGuard() = default;
  explicit TruncationGuard(std::span<const std::byte> mapped);
  TruncationGuard(const TruncationGuard&) = delete;
  TruncationGuard& operator=(const TruncationGuard&) = delete;
  TruncationGuard(TruncationGuard&& other) noexcept : slot_(std::exchange(other.slot_, kNone)) {}
  TruncationGuard& operator=(TruncationGuard&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~TruncationGuard();

  /// Whether a page was missing that somebody read.
  bool torn() const;

 private:
  static constexpr size_t kNone = ~size_t{0};
  size_t slot_ = kNone;
};

}  // namespace msprobe::base
