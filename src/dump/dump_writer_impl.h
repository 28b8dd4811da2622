#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "dump/dump_files.h"
#include "dump/gathered_entries.h"
#include "dump/ledger.h"
#include "msprobe/dump_writer.h"

namespace msprobe {

/// The program's threads gather entries (dump_writer.cc), one thread writes them
/// (dump_writer_thread.cc).
class DumpWriter::Impl {
 public:
  explicit Impl(DumpWriterOptions options)
      : options_(std::move(options)),
        queue_(options_.queue_bytes, kBatchBytes,
               std::chrono::milliseconds(options_.flush_milliseconds)),
        files_(options_, &ledger_) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status Create();
  AddResult Add(RecordBuilder* builder, Wait wait);
  void AddConstruct(std::string_view name, std::string_view parent);
  void AddStack(std::string_view name, StackFrames frames);
  void AddProblem(std::string_view name, std::string_view reason);
  void Flush();
  void Close();
  void Finish();
  bool FinishWithin(std::chrono::milliseconds time);
  bool HasFiles();

  dump::Ledger& ledger() { return ledger_; }
  dump::DumpFiles& files() { return files_; }
  bool accepts_tensors() const {
    return !closed_.load(std::memory_order_relaxed) && !files_.tensor_error() &&
           !(options_.budget && options_.budget->exhausted());
  }

 private:
  /// The writer thread wakes early for this much: little is left to wait for when the step ends.
  static constexpr size_t kBatchBytes = size_t{64} << 10;

  /// A record with tensor files, or all that came since the last one of these.
  struct Item {
    std::unique_ptr<dump::GatheredEntries> gathered;
    std::string tape;
    std::vector<dump::TensorFile> files;
    size_t weight = 0;
  };
  using Queue = base::BoundedQueue<Item>;

  /// Calls `add(GatheredEntries*)` for entries that take about `weight` bytes.
  template <class Action>
  Queue::PushResult Gather(size_t weight, bool wait, Action add);
  Queue::PushResult Push(RecordBuilder* builder, bool wait);
  void TakeBudget(RecordBuilder* builder);
  bool EnsureThread();
  /// What the thread works on.
  struct Batch {
    std::vector<Item> items;
    size_t next = 0;    // the first that is not dealt with
    size_t count = 0;   // dealt with, but their room has not been given back
    size_t weight = 0;  // the same
  };
  static void StandBack();
  void Run();
  bool CreateFiles();
  void WriteBatch(Batch* batch);
  void Discard();
  void StopRecording(const std::exception& error, Batch* batch);
  void Lose(Batch* batch);
  void Write(Item* item);
  static std::unique_ptr<dump::GatheredEntries> TakeEntries();
  static void GiveBack(std::unique_ptr<dump::GatheredEntries> entries);
  static size_t RecordsIn(const Item& item) {
    return item.gathered != nullptr ? item.gathered->tape_sizes.size() : 1;
  }

  const DumpWriterOptions options_;
  static inline std::atomic<uint64_t> count_{0};
  const uint64_t number_ = ++count_;
  dump::Ledger ledger_;
  Queue queue_;
  dump::DumpFiles files_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> running_{false};
  enum class Files : uint8_t { kUnknown, kMade, kFailed };
  std::atomic<Files> made_{Files::kUnknown};
  std::mutex thread_mutex_;
  bool finished_ = false;  // guarded by thread_mutex_, as are thread_ and ended_
  std::thread thread_;
  bool ended_ = false;  // all that the thread does
  std::condition_variable thread_ends_;
};

}  // namespace msprobe
