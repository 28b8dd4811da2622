#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/record_builder.h"
#include "msprobe/status.h"

namespace msprobe {

enum class TensorFormat : uint8_t { kNpy, kPt };

/// Bytes of tensor files that a run may write; shared by the writers of all its steps.
class DiskBudget {
 public:
  explicit DiskBudget(uint64_t max_bytes) : left_(max_bytes) {}
  /// False, from now on for every amount, if less than `bytes` is left.
  bool Take(uint64_t bytes);
  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> left_;
  std::atomic<bool> exhausted_{false};
};

struct DumpWriterOptions {
  std::string dump_path;
  int64_t step = 0;
  std::optional<int64_t> rank;  ///< absent: proc<PID>
  std::string task = "statistics";
  std::string level = "L1";  ///< "debug": debug.json alone
  std::string framework = "pytorch";
  bool extra_info = true;  ///< stack.json and construct.json
  bool overwrite = false;  ///< replaces the files of an earlier run
  /// The directory is made by the writing thread, and when that fails, the log says so and nothing
  /// is recorded: for the later steps of a run, whose directories have been looked at before.
  bool create_in_background = false;
  bool saves_tensors = false;  ///< always true for task "tensor": dump.json names their directory
  TensorFormat tensor_format = TensorFormat::kNpy;
  std::shared_ptr<DiskBudget> budget;  ///< null: no limit
  size_t queue_bytes = 256u << 20;     ///< records and tensors waiting for the disk
  int64_t flush_milliseconds = 200;
};

/// Frames of one call stack, innermost first, as stack.json shows them. Keep one object per
/// distinct stack and pass it with every name.
using StackFrames = std::shared_ptr<const std::vector<std::string>>;

enum class AddResult : uint8_t {
  kAdded,
  kFull,    ///< the queue is full and the caller did not want to wait; the record is kept
  kClosed,  ///< after Close(), or in a forked child: nothing is recorded
};

enum class Wait : uint8_t { kNo, kYes };

/// What became of the entries of one step; `seen` = recorded + lost + skipped + not_recordable
/// once the collector has counted all it saw and the writer is finished.
struct DumpCounts {
  uint64_t seen = 0;
  uint64_t recorded = 0;
  uint64_t lost = 0;  ///< given to Add() but not written: disk full, file error
  uint64_t skipped = 0;
  uint64_t not_recordable = 0;
  uint64_t tensors_written = 0;
  uint64_t tensors_lost = 0;         ///< file error; the record stays, without data_name
  uint64_t tensors_over_budget = 0;  ///< max_bytes reached; the record stays, without data_name
  uint64_t json_bytes = 0;
  uint64_t tensor_bytes = 0;
};

/// Writes the dump of one rank in one step: <dump_path>/step<N>/rank<R> or proc<PID>. Files are
/// written by a thread of its own, at most `flush_milliseconds` or 1 MB behind, and are complete
/// JSON after every flush. All methods are thread-safe, and do nothing in a forked child. After
/// Open() none but BecomeRank() fails: what cannot be written is counted, logged once a kind, and
/// named in dump_error_info.log.
class DumpWriter {
 public:
  /// Creates the directory and its files. Errors: InvalidArgument (files of an earlier run lie
  /// there, unless `overwrite`), Io.
  static Result<std::unique_ptr<DumpWriter>> Open(DumpWriterOptions options);
  DumpWriter(const DumpWriter&) = delete;
  DumpWriter& operator=(const DumpWriter&) = delete;
  /// Finish().
  ~DumpWriter();

  /// Hands the record over; entries stand in dump.json in the order of these calls. With
  /// Wait::kNo a full queue gives kFull and leaves the record in the builder, so that the caller
  /// can release its locks before it waits.
  AddResult Add(RecordBuilder* builder, Wait wait = Wait::kYes);
  /// False once the budget is used up, the disk is full, or nothing is recorded any more: copying
  /// tensors for Add() would be in vain.
  bool accepts_tensors() const;
  /// One line of construct.json, in the order of these calls; empty parent: null.
  void AddConstruct(std::string_view name, std::string_view parent);
  void AddStack(std::string_view name, StackFrames frames);

  /// For ledger.json. `seen` counts whatever could become an entry; each of them is then added,
  /// or skipped by a filter ("rank", "scope", "list", …), or not recordable for a reason.
  /// A program that never calls CountSeen() has seen what it added.
  void CountSeen(uint64_t count = 1);
  void CountSkipped(std::string_view filter, uint64_t count = 1);
  /// Also writes a line to dump_error_info.log.
  void CountNotRecordable(std::string_view name, std::string_view reason);
  /// A line in dump_error_info.log for an entry that is recorded, but not whole.
  void ReportProblem(std::string_view name, std::string_view reason);
  /// A line of "notes" in ledger.json.
  void AddNote(std::string_view text);

  /// False: the directory or its files could not be made, and nothing is recorded. Waits for the
  /// writing thread to have tried it (DumpWriterOptions::create_in_background).
  bool HasFiles();
  /// Waits until all that was added before is in the files.
  void Flush();
  /// No more records; the files are finished in the background.
  void Close();
  /// Close(), then waits until the files are complete, ledger.json included.
  DumpCounts Finish();
  /// Close(), then waits so long at most; whether the files are complete.
  bool FinishWithin(std::chrono::milliseconds time);

  /// The process group has appeared: proc<PID> becomes rank<R>, also while records are written.
  /// Errors: InvalidArgument (that rank holds an earlier run, or the name is a rank already), Io.
  Status BecomeRank(int64_t rank);

  std::string directory() const;
  DumpCounts counts() const;

 private:
  class Impl;
  explicit DumpWriter(std::unique_ptr<Impl> impl);
  Impl* Owned() const;  // null in a forked child

  std::unique_ptr<Impl> impl_;
  uint32_t fork_generation_;
};

/// To be called once before the first step of a run. Refuses when any step below `dump_path` holds
/// files of an earlier run for this rank, or removes them with `overwrite`. Absent rank:
/// `overwrite` also removes the proc<PID> dumps of processes that have ended; others are counted in
/// `warning`, which else stays empty. Errors: InvalidArgument (an earlier run, or one that is being
/// written), Io.
Status PrepareDumpPath(const std::string& dump_path, std::optional<int64_t> rank, bool overwrite,
                       std::string* warning);

}  // namespace msprobe
