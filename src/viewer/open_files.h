#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "app/unit_job.h"
#include "viewer/file_catalog.h"
#include "viewer/open_file.h"

namespace msprobe::viewer {

/// The files that are open, least recently used last. A file that changed on disk is opened anew.
/// Thread-safe.
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

  /// Starts opening if the file is not open yet. Never waits.
  std::shared_ptr<OpenFile> Open(const ResolvedFile& file);
  /// Forgets a file; its loading is cancelled.
  void Close(const ResolvedFile& file);
  /// Drops the units that were used longest ago until the cache fits.
  void Trim();
  void CancelAll();

 private:
  struct Entry {
    ResolvedFile file;
    uint64_t version = 0;  ///< changes when the file on disk does
    std::shared_ptr<OpenFile> open;
  };
  std::shared_ptr<OpenFile> Start(const ResolvedFile& file) const;

  Options options_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace msprobe::viewer
