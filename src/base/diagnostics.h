#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/scratch_file.h"
#include "msprobe/status.h"

namespace msprobe::base {

enum class DiagnosticKind : uint8_t {
  kForeignEntry,      ///< a file or folder that does not belong into a dump
  kUnknownPrefix,     ///< an API name whose prefix is not in the table
  kUnplacedNode,      ///< unknown parent, cycle, or a record without a place in the graph
  kUnreadableTensor,  ///< missing, damaged, over the limits, or contradicting its record
  kUnreadableRecord,  ///< a record of dump.json that cannot be understood
  kTornTail,          ///< a file cut inside a record by a crash, read up to the last whole one
  kUnknownKey,        ///< a key of a configuration file that nobody reads
  kUnusedRule,        ///< a rule of a mapping or of tolerances that decided nothing
  kNote,              ///< anything else worth a line
};
inline constexpr size_t kDiagnosticKindCount = 9;

struct Diagnostic {
  DiagnosticKind kind;
  Status status;
};

/// Collects what went wrong without stopping the work. Thread-safe. Keeps at most `kMaxPerKind`
/// entries of each kind in memory, but counts all of them; unreadable tensors beyond that are put
/// into a temporary file, as their output depends on every one being named.
class Diagnostics {
 public:
  static constexpr size_t kMaxPerKind = 10'000;

  void Add(DiagnosticKind kind, Status status);
  uint64_t count(DiagnosticKind kind) const;
  /// In order of arrival.
  std::vector<Diagnostic> entries() const;
  /// Calls take(text) for the unreadable tensors that are not in entries(), in order of arrival, as
  /// Status::ToString() has them.
  void ForEachFurtherTensor(const std::function<void(std::string_view text)>& take) const;
  /// Moves the entries of `other` (one rank, one thread) to the end of this.
  void Merge(Diagnostics&& other);

 private:
  void Spill(std::string_view lines);

  mutable std::mutex mutex_;
  std::vector<Diagnostic> entries_;
  std::array<uint64_t, kDiagnosticKindCount> counts_{};
  ScratchFile further_tensors_;  ///< texts, each with a zero byte behind it
};

}  // namespace msprobe::base
