#include "base/temporary_files.h"

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

void RemoveTemporaryFiles() {
  for (const Slot& slot : slots) {
    if (slot.state.load() == SlotState::kReady) ::unlink(slot.path.data());
  }
}

}  // namespace msprobe::base
