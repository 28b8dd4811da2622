#include "base/truncation_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace msprobe::base {

namespace {

/// What the signal handler may read at any moment. `begin` is written last and cleared first.
struct Slot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> torn{false};
  bool used = false;  ///< under slots_mutex
};

/// Mappings beyond these are read without a guard.
constexpr size_t kSlots = 1024;
std::array<Slot, kSlots> slots;
std::mutex slots_mutex;
struct sigaction action_before;
uintptr_t page_size = 4096;

Slot* FindSlot(uintptr_t address) {
  for (Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin != 0 && address >= begin && address < slot.end.load(std::memory_order_relaxed)) {
      return &slot;
    }
  }
  return nullptr;
}

/// Puts a page of zeros where the file has none any more; the read is then repeated.
bool Mend(const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  Slot* slot = FindSlot(address);
  if (slot == nullptr) return false;
  const int error_before = errno;
  auto* const page = static_cast<std::byte*>(info.si_addr) - (address & (page_size - 1));
  const bool mended = ::mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                             -1, 0) != MAP_FAILED;
  if (mended) slot->torn.store(true, std::memory_order_relaxed);
  errno = error_before;
  return mended;
}

void OnBusError(int number, siginfo_t* info, void* context) {
  if (Mend(*info)) return;
  // Not ours: as if this handler were not there.
  if ((action_before.sa_flags & SA_SIGINFO) != 0) {
    action_before.sa_sigaction(number, info, context);
  } else if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN) {
    action_before.sa_handler(number);
  } else {
    ::signal(number, SIG_DFL);  // the read is repeated, and ends the process
  }
}

void Install() {
  page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action{};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &action_before);
}

}  // namespace

TruncationGuard::TruncationGuard(std::span<const std::byte> mapped) {
  static std::once_flag installed;
  std::call_once(installed, Install);
  if (mapped.empty()) return;
  const std::lock_guard lock(slots_mutex);
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (slot.used) continue;
    slot.used = true;
    slot.torn.store(false, std::memory_order_relaxed);
    const auto begin = reinterpret_cast<uintptr_t>(mapped.data());
    slot.end.store(begin + mapped.size(), std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_release);
    slot_ = i;
    return;
  }
}

TruncationGuard::~TruncationGuard() {
  if (slot_ == kNone) return;
  const std::lock_guard lock(slots_mutex);
  slots[slot_].begin.store(0, std::memory_order_release);
  slots[slot_].used = false;
}

bool TruncationGuard::torn() const {
  return slot_ != kNone && slots[slot_].torn.load(std::memory_order_relaxed);
}

}  // namespace msprobe::base
