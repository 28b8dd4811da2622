#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

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
  kNote,              ///< anything else worth a line
};
inline constexpr size_t kDiagnosticKindCount = 8;

struct Diagnostic {
  DiagnosticKind kind;
  Status status;
};

/// Collects what went wrong without stopping the work. Thread-safe. Keeps at most `kMaxPerKind`
/// entries of each kind, but counts all of them.
class Diagnostics {
 public:
  static constexpr size_t kMaxPerKind = 10'000;

  void Add(DiagnosticKind kind, Status status);
  uint64_t count(DiagnosticKind kind) const;
  /// In order of arrival.
  std::vector<Diagnostic> entries() const;
  /// Moves the entries of `other` (one rank, one thread) to the end of this.
  void Merge(Diagnostics&& other);

 private:
  mutable std::mutex mutex_;
  std::vector<Diagnostic> entries_;
  std::array<uint64_t, kDiagnosticKindCount> counts_{};
};

std::string_view DiagnosticKindName(DiagnosticKind kind);

}  // namespace msprobe::base
