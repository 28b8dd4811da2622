#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "viewer/hand_matches.h"
#include "viewer/name_search.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// A unit in memory with what is derived from it at first use. Who reads the index holds `mutex`
/// shared; matching by hand changes it.
struct LoadedUnit {
  explicit LoadedUnit(std::shared_ptr<visfile::UnitSource> loaded)
      : source(std::move(loaded)),
        target_search(source->index().target),
        golden_search(source->index().golden, &target_search) {}

  std::shared_ptr<visfile::UnitSource> source;
  NameSearch target_search;
  NameSearch golden_search;
  HandMatches hand;
  std::string note;  ///< what went wrong with saved matches; may be empty
  std::shared_mutex mutex;
  std::atomic<uint64_t> last_used{0};
};

/// One file of the catalog and its units. A thread of its own opens it, then loads the units that
/// are asked for, and in between sums up the others, so that a page can show which rank is worst.
class OpenFile {
 public:
  enum class State : uint8_t { kLoading, kReady, kFailed };
  using Opener =
      std::function<Result<std::unique_ptr<visfile::VisSource>>(const visfile::ReadOptions&)>;
  /// Changes a unit that was just loaded (matches by hand).
  using Finisher =
      std::function<void(const visfile::VisSource& source, size_t number, LoadedUnit* unit)>;

  struct Options {
    size_t threads = 1;
    uint64_t keep_bytes = 0;  ///< units that nobody asked for are kept up to this size
  };

  OpenFile(Opener opener, Finisher finisher, const Options& options);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  State state() const;
  void Cancel();
  const base::CancelToken& cancel() const { return cancel_; }
  /// How far the loading of a unit is; it never goes back. A total of 0: not known, as another
  /// unit is being loaded first.
  struct Progress {
    uint64_t done = 0;
    uint64_t total = 0;
  };
  Progress ProgressOf(size_t unit) const;

  const visfile::VisSource& source() const { return *source_; }  ///< when ready

  /// Null if the unit is not loaded within `patience`; the loading goes on. Errors: those of
  /// loading; InvalidArgument for a unit that is not there.
  Result<std::shared_ptr<LoadedUnit>> Unit(size_t unit, std::chrono::milliseconds patience);

  /// What is known of a unit without loading it.
  struct Summary {
    std::string json;  ///< the object Unit of the API; empty: not known yet
    Status failure;
  };
  Summary SummaryOf(size_t unit) const;
  /// The object Unit of the API.
  std::string SummaryJson(const visfile::UnitIndex& index) const;
  void SumUpAgain(size_t unit, const visfile::UnitIndex& index);
  /// Whether all units are known, or why they cannot be read.
  bool SummedUp() const;
  /// A page has been told of all units: it will not ask for them again by itself.
  void Told() { told_.store(true); }
  bool told() const { return told_.load(); }

  /// Adds the units in memory to `units`.
  struct Held {
    OpenFile* file;
    size_t unit;
    uint64_t bytes;
    uint64_t last_used;
  };
  void AppendHeld(std::vector<Held>* units);
  /// Drops a unit, unless it is in use right now.
  void Drop(size_t unit);

 private:
  void Run(const Opener& opener);
  Status OpenSource(const Opener& opener);
  bool NextUnit(size_t* unit, bool* wanted);
  void LoadUnit(size_t unit, bool wanted);
  void WarmUp(size_t unit);
  visfile::ReadOptions Reading();
  void Tell(Progress now);
  void ForgetProgress(size_t unit);
  uint64_t BytesLocked() const;

  Finisher finisher_;
  Options options_;
  base::CancelToken cancel_;
  std::atomic<bool> told_{false};
  mutable std::mutex progress_mutex_;
  Progress progress_;
  size_t loading_ = 0;  ///< the unit that the progress is of
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kLoading;
  Status status_;
  std::unique_ptr<visfile::VisSource> source_;
  std::vector<std::shared_ptr<LoadedUnit>> units_;
  std::vector<Summary> summaries_;
  std::vector<int> retries_;  ///< of units whose loading failed
  std::deque<size_t> wanted_;
  size_t next_summary_ = 0;
  std::thread thread_;
};

}  // namespace msprobe::viewer
