#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "viewer/file_catalog.h"
#include "viewer/name_search.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// A unit in memory with what is derived from it at first use.
struct LoadedUnit {
  explicit LoadedUnit(std::shared_ptr<const visfile::UnitSource> loaded)
      : source(std::move(loaded)),
        target_search(source->index().target),
        golden_search(source->index().golden) {}

  std::shared_ptr<const visfile::UnitSource> source;
  NameSearch target_search;
  NameSearch golden_search;
};

/// One file of the catalog and its units. Opening happens on a thread of its own; units are loaded
/// when they are asked for and dropped again when the cache is full.
class OpenFile {
 public:
  enum class State : uint8_t { kLoading, kReady, kFailed };
  using Opener =
      std::function<Result<std::unique_ptr<visfile::VisSource>>(const visfile::ReadOptions&)>;

  OpenFile(Opener opener, size_t threads);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  State state() const;
  Status status() const;  ///< of a failed opening
  void Cancel() { cancel_.Cancel(); }
  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  uint64_t total() const { return total_.load(std::memory_order_relaxed); }
  /// Waits a little for the opening to end, so that small files answer at once.
  void WaitFor(std::chrono::milliseconds time);

  const visfile::VisSource& source() const { return *source_; }  ///< when ready

  /// Errors: those of loading; InvalidArgument for a unit that is not there.
  Result<std::shared_ptr<LoadedUnit>> Unit(size_t unit);
  uint64_t bytes() const;
  /// Drops the units that nobody uses right now.
  void DropUnits();

 private:
  void Load(const Opener& opener);
  visfile::ReadOptions Options();

  size_t threads_;
  base::CancelToken cancel_;
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> total_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kLoading;
  Status status_;
  std::unique_ptr<visfile::VisSource> source_;
  std::mutex loading_unit_;  ///< one unit is loaded at a time
  std::vector<std::shared_ptr<LoadedUnit>> units_;
  std::thread thread_;
};

/// The files that are open, least recently used last. A file that changed on disk is opened anew.
class OpenFiles {
 public:
  OpenFiles(size_t threads, uint64_t max_bytes) : threads_(threads), max_bytes_(max_bytes) {}

  /// Starts opening if the file is not open yet. Never waits.
  std::shared_ptr<OpenFile> Open(const std::filesystem::path& path, FileKind kind);
  void Close(const std::filesystem::path& path);
  /// Drops units of the files that were used longest ago until the cache fits.
  void Trim();

 private:
  struct Entry {
    std::filesystem::path path;
    int64_t modified = 0;
    uint64_t size = 0;
    std::shared_ptr<OpenFile> file;
  };

  size_t threads_;
  uint64_t max_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace msprobe::viewer
