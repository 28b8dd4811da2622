#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/dump_writer.h"

namespace msprobe::dump {

/// The counts of one step. Thread-safe.
class Ledger {
 public:
  void CountSeen(uint64_t count);
  void CountSkipped(std::string_view filter, uint64_t count);
  void CountNotRecordable(std::string_view reason);
  void CountRecorded(uint64_t entries, uint64_t bytes);
  void CountLost(uint64_t entries);
  void CountTensorWritten(uint64_t bytes);
  void CountTensorLost(uint64_t tensors);
  void CountTensorOverBudget();
  void CountProblem();
  void AddNote(std::string_view text);

  DumpCounts counts() const;
  /// ledger.json.
  std::string Text() const;

 private:
  DumpCounts CountsLocked() const;

  mutable std::mutex mutex_;
  DumpCounts counts_;
  bool seen_counted_ = false;
  uint64_t problems_ = 0;
  std::map<std::string, uint64_t, std::less<>> skipped_;
  std::map<std::string, uint64_t, std::less<>> not_recordable_;
  std::vector<std::string> notes_;
};

}  // namespace msprobe::dump
