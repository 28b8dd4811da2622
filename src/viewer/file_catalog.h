#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::viewer {

enum class FileKind : uint8_t { kVis, kVisDb, kDump };

struct CatalogEntry {
  std::string file;  ///< relative to the root: the API's name for it
  FileKind kind = FileKind::kVis;
  uint64_t bytes = 0;
  int64_t modified = 0;  ///< seconds since the epoch
};

/// The files below one directory that can be shown. Nothing outside is ever opened: symbolic links
/// are not followed, and names are checked against the list.
class FileCatalog {
 public:
  static constexpr size_t kMaxFiles = 10'000;
  static constexpr int kMaxDepth = 4;

  /// Errors: NotFound, InvalidArgument.
  static Result<FileCatalog> Create(const std::filesystem::path& root);

  /// What lies there now, sorted by name; `truncated` if there was more than kMaxFiles.
  std::vector<CatalogEntry> List(bool* truncated) const;

  /// The path of a listed file. Errors: InvalidArgument, NotFound.
  Result<std::filesystem::path> Resolve(std::string_view file, FileKind* kind) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
  std::string only_;  ///< set if the root was a single file
};

}  // namespace msprobe::viewer
