#include "base/diagnostics.h"

#include <utility>

namespace msprobe::base {

void Diagnostics::Add(DiagnosticKind kind, Status status) {
  const std::lock_guard lock(mutex_);
  if (++counts_[static_cast<size_t>(kind)] <= kMaxPerKind) {
    entries_.push_back({kind, std::move(status)});
  }
}

uint64_t Diagnostics::count(DiagnosticKind kind) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<size_t>(kind)];
}

std::vector<Diagnostic> Diagnostics::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

void Diagnostics::Merge(Diagnostics&& other) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (Diagnostic& entry : other.entries_) entries_.push_back(std::move(entry));
  for (size_t kind = 0; kind < counts_.size(); ++kind) {
    counts_[kind] += std::exchange(other.counts_[kind], 0);
  }
  other.entries_.clear();
}

std::string_view DiagnosticKindName(DiagnosticKind kind) {
  switch (kind) {
    case DiagnosticKind::kForeignEntry: return "foreign_entry";
    case DiagnosticKind::kUnknownPrefix: return "unknown_prefix";
    case DiagnosticKind::kUnplacedNode: return "unplaced_node";
    case DiagnosticKind::kUnreadableTensor: return "unreadable_tensor";
    case DiagnosticKind::kUnreadableRecord: return "unreadable_record";
    case DiagnosticKind::kTornTail: return "torn_tail";
    case DiagnosticKind::kUnknownKey: return "unknown_key";
    case DiagnosticKind::kNote: return "note";
  }
  return "unknown";
}

}  // namespace msprobe::base
