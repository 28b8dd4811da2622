#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dump/dump_json_writer.h"
#include "dump/gathered_entries.h"
#include "dump/ledger.h"
#include "dump/record_tensor_file.h"
#include "msprobe/dump_writer.h"

namespace msprobe::dump {

/// The files of one unit, written by one thread; BecomeRank() and the getters come from others.
/// Nothing fails after Create(): what cannot be written is counted and named in the error log.
/// Only for want of memory std::bad_alloc is thrown; what was asked for may then be asked for
/// again.
class DumpFiles {
 public:
  DumpFiles(DumpWriterOptions options, Ledger* ledger);
  DumpFiles(const DumpFiles&) = delete;
  DumpFiles& operator=(const DumpFiles&) = delete;
  ~DumpFiles();

  /// Claims the directory. Errors: as DumpWriter::Open.
  Status Create();

  /// The record's tensor files are written first; it does not name those that fail.
  void AddRecord(std::string_view tape, std::vector<TensorFile>* files);
  void AddGathered(GatheredEntries* entries);
  void AddProblem(std::string_view name, std::string_view reason);

  /// Flushes when enough has gathered; true if it has.
  bool FlushIfDue();
  void Flush();
  /// Flush(), and ledger.json.
  void Finish();
  /// Where Finish() failed for want of memory: the files stay as they are, what is not in them is
  /// lost.
  void Abandon();
  size_t pending() const { return pending_.size(); }  ///< records that wait for Flush()

  Status BecomeRank(int64_t rank);
  std::string directory() const;
  bool tensor_error() const { return tensor_error_.load(std::memory_order_relaxed); }

 private:
  Status SaveTensor(const TensorFile& file);
  Status WriteTensor(const std::filesystem::path& path, const TensorFile& file) const;
  void CreateCompanions();
  void FlushCompanions();
  void FlushRecords();
  void FlushProblems();
  void AppendRecord(std::string_view tape, std::span<const TensorFile> files);
  void TakeName(std::string* file_name);
  void TensorFailed(std::string_view record, const std::string& file, const Status& status);
  void Reserve();
  Status WriteLedger() const;
  std::string DataDirectory() const;

  DumpWriterOptions options_;
  Ledger& ledger_;

  // Held while files are opened and written: a rename of the directory must not come between.
  mutable std::mutex mutex_;
  std::filesystem::path directory_;  // guarded by mutex_; the rest is the writing thread's
  bool created_ = false;             // guarded by mutex_
  bool data_directory_made_ = false;
  bool companions_made_ = false;
  struct HashOf {
    size_t operator()(const stats::ContentHash& hash) const { return hash.low; }
  };
  /// Names of tensor files by what is in them.
  std::unordered_map<stats::ContentHash, std::string, HashOf> written_;
  std::unordered_set<size_t> taken_names_;  // hashes of the names of tensor files
  GrowingJson dump_;
  GrowingJson stack_;
  GrowingJson construct_;
  std::string records_;
  struct Name {
    size_t begin, size;
  };
  std::vector<Name> pending_;  // of the records in records_
  std::string construct_members_;
  StackGroups stacks_;
  std::string problems_;
  uint64_t problem_count_ = 0;
  std::atomic<bool> tensor_error_{false};
  std::chrono::steady_clock::time_point last_flush_;
  int reserve_fd_ = -1;  // space on the disk kept for what must be said when it is full
};

}  // namespace msprobe::dump
