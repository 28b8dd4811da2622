#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "app/unit_plan.h"
#include "base/cancel.h"
#include "msprobe/status.h"

namespace msprobe::viewer {

struct Request {
  std::string_view method;  ///< "GET", "POST", "DELETE"
  std::string_view route;   ///< "rows", "node" …: the path below api/
  std::string_view query;   ///< "file=a.vis&u=0", percent-encoded
  std::string_view body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

struct ViewerOptions {
  size_t threads = 1;
  uint64_t max_cached_bytes = uint64_t{2} << 30;  ///< least recently used files are dropped
  bool allow_saving = true;                       ///< matches by hand may be saved beside the file
  /// Besides the root: tensor files below it may be read, to compare pairs made by hand.
  std::filesystem::path data = {};
  /// How dumps are compared on the fly: a golden side for the dump at the root, and the options of
  /// matching. The target is the dump that is looked at.
  app::UnitJob dumps = {};
};

/// What an exported report may hold.
struct ExportLimits {
  std::string subtree = {};  ///< a node's name: only what is in it; empty: all
  uint64_t nodes = 250'000;
  uint64_t detail_bytes = uint64_t{32} << 20;
  const base::CancelToken* cancel = nullptr;
};

/// Answers the requests of docs/viewer-api.md about the files below one directory. Thread-safe;
/// keeps parsed files, but nothing about who asks.
class ViewerApi {
 public:
  /// `root`: a directory of .vis, .vis.db or dumps, or one such file. Errors: NotFound,
  /// InvalidArgument.
  static Result<std::unique_ptr<ViewerApi>> Create(const std::filesystem::path& root,
                                                   const ViewerOptions& options);
  virtual ~ViewerApi() = default;
  virtual Response Handle(const Request& request) = 0;
  /// The object "Embedded data" of docs/viewer-api.md for one file; waits for its loading. What
  /// is left out stands in its notes. Errors: also LimitExceeded.
  virtual Result<std::string> ExportData(std::string_view file, const ExportLimits& limits) = 0;
  /// Ends all loading, so that requests that wait for it come back. Handle() answers errors then.
  virtual void Shutdown() = 0;
};

}  // namespace msprobe::viewer
