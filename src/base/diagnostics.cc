#include "base/diagnostics.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace msprobe::base {

void Diagnostics::Add(DiagnosticKind kind, Status status) {
  const std::lock_guard lock(mutex_);
  if (++counts_[static_cast<size_t>(kind)] <= kMaxPerKind) {
    entries_.push_back({kind, std::move(status)});
  } else if (kind == DiagnosticKind::kUnreadableTensor) {
    std::string line = status.ToString();
    std::erase(line, '\0');
    line.push_back('\0');
    Spill(line);
  }
}

/// Without room for it the tensors are only counted.
void Diagnostics::Spill(std::string_view lines) {
  if (further_tensors_.size() == 0) {
    std::error_code error;
    const std::filesystem::path directory = std::filesystem::temp_directory_path(error);
    auto file = ScratchFile::Create(directory, directory);
    if (!file.ok()) return;
    further_tensors_ = std::move(file).value();
  }
  (void)further_tensors_.Append(lines);
}

void Diagnostics::ForEachFurtherTensor(
    const std::function<void(std::string_view text)>& take) const {
  const std::lock_guard lock(mutex_);
  const auto mapped = further_tensors_.Map();
  if (!mapped.ok()) return;
  const std::string_view lines = mapped->text();
  for (size_t begin = 0, end = 0; (end = lines.find('\0', begin)) != std::string_view::npos;
       begin = end + 1) {
    take(lines.substr(begin, end - begin));
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
  std::vector<Diagnostic> entries;
  std::array<uint64_t, kDiagnosticKindCount> only_counted{};
  ScratchFile further;
  {
    const std::lock_guard lock(other.mutex_);
    std::swap(entries, other.entries_);
    std::swap(only_counted, other.counts_);
    std::swap(further, other.further_tensors_);
  }
  for (Diagnostic& entry : entries) {
    --only_counted[static_cast<size_t>(entry.kind)];
    Add(entry.kind, std::move(entry.status));
  }
  const std::lock_guard lock(mutex_);
  for (size_t kind = 0; kind < counts_.size(); ++kind) counts_[kind] += only_counted[kind];
  if (further.size() == 0) return;
  if (const auto mapped = further.Map(); mapped.ok()) Spill(mapped->text());
}

}  // namespace msprobe::base
