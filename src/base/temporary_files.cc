#include "base/temporary_files.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>

namespace msprobe::base {

namespace {

enum class SlotState : uint8_t { kFree, kFilling, kReady };

/// The memory of a slot is never freed: a signal handler may look at it at any time.
struct Slot {
  std::atomic<SlotState> state;
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

constexpr size_t kSlots = 64;
Slot slots[kSlots];
std::atomic<bool> ending{false};
/// Longer than an open() that had begun when the end was announced.
constexpr int kGraceMilliseconds = 20;

void UnlinkAll() {
  for (const Slot& slot : slots) {
    if (slot.state.load() == SlotState::kReady) ::unlink(slot.path.data());
  }
}

}  // namespace

size_t RememberTemporaryFile(const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (text.size() >= PATH_MAX) return kNoTemporaryFile;
  for (size_t i = 0; i < kSlots; ++i) {
    SlotState expected = SlotState::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, SlotState::kFilling)) continue;
    std::memcpy(slots[i].path.data(), text.c_str(), text.size() + 1);
    slots[i].state.store(SlotState::kReady);
    return i;
  }
  return kNoTemporaryFile;
}

void ForgetTemporaryFile(size_t slot) {
  if (slot != kNoTemporaryFile) slots[slot].state.store(SlotState::kFree);
}

bool TemporaryFilesEnd() { return ending.load(); }

void RemoveTemporaryFiles() {
  ending.store(true);
  UnlinkAll();
  // Another thread may have been just about to create one.
  ::poll(nullptr, 0, kGraceMilliseconds);
  UnlinkAll();
}

}  // namespace msprobe::base
