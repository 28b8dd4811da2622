#pragma once

#include <chrono>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "app/unit_plan.h"
#include "viewer/file_catalog.h"
#include "viewer/open_file.h"

namespace msprobe::viewer {

/// A file that a request names.
struct FileContext {
  ResolvedFile resolved;  ///< as it was when it was opened: units are numbered by it
  std::shared_ptr<OpenFile> open;
  uint64_t version = 0;  ///< another one when the file on disk has changed and was opened anew
};

/// The files that are open, least recently used last. Thread-safe.
class OpenFiles {
 public:
  static constexpr size_t kMaxOpen = 32;

  struct Options {
    size_t threads = 1;
    uint64_t max_bytes = 0;
    app::UnitJob dumps;  ///< how dumps are compared; the target is that of a file
    std::vector<std::filesystem::path> readable;  ///< tensors below these may be read
  };
  explicit OpenFiles(Options options) : options_(std::move(options)) {}

  enum class Freshness : uint8_t {
    kAsOpened,  ///< for requests whose units and ids are those of an earlier answer
    kNewest,    ///< what has changed on disk is opened anew, unless it is still being summed up
  };
  /// Starts opening if the file is not open yet. Never waits.
  FileContext Open(const ResolvedFile& file, Freshness freshness);
  /// Forgets a file; its loading is cancelled.
  void Close(const ResolvedFile& file);
  /// Drops the units that were used longest ago until the cache fits.
  void Trim();
  void CancelAll();

 private:
  struct Entry {
    FileContext file;
    std::chrono::steady_clock::time_point asked;  ///< when somebody opened it last
  };
  using Entries = std::list<Entry>;
  Entries::iterator Find(const ResolvedFile& file);
  static bool MayBeReplaced(const Entry& entry, Freshness freshness);
  std::shared_ptr<OpenFile> Start(const ResolvedFile& file) const;

  Options options_;
  std::mutex mutex_;
  Entries entries_;
};

}  // namespace msprobe::viewer
