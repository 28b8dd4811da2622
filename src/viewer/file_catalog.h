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
  size_t members = 1;    ///< `.vis` files of one run that the entry stands for
};

struct ResolvedFile {
  std::filesystem::path path;  ///< of a group: its name, which is no file
  FileKind kind = FileKind::kVis;
  std::vector<std::filesystem::path> members;  ///< kVis: the files, in the order of the units

  const std::filesystem::path& MemberOf(size_t unit) const {
    return unit < members.size() ? members[unit] : path;
  }
};

/// The files below one directory that can be shown. Nothing outside is ever opened: symbolic links
/// are not followed, and every part of a name is checked. `.vis` files of one run in one directory
/// are one entry, named with stars for step and rank; each can be named by itself too.
class FileCatalog {
 public:
  static constexpr size_t kMaxFiles = 10'000;
  static constexpr int kMaxDepth = 4;

  /// Errors: NotFound, InvalidArgument.
  static Result<FileCatalog> Create(const std::filesystem::path& root);

  /// What lies there now, sorted by name; `truncated` if there was more than kMaxFiles.
  std::vector<CatalogEntry> List(bool* truncated) const;

  /// Errors: InvalidArgument, NotFound.
  Result<ResolvedFile> Resolve(std::string_view file) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
  std::string only_;  ///< set if the root was a single file
};

}  // namespace msprobe::viewer
