#include "viewer/file_catalog.h"

#include <sys/stat.h>

#include <algorithm>

namespace msprobe::viewer {

namespace fs = std::filesystem;

namespace {

std::optional<FileKind> KindOfFile(const std::string& name) {
  if (name.ends_with(".vis.db")) return FileKind::kVisDb;
  if (name.ends_with(".vis")) return FileKind::kVis;
  return std::nullopt;
}

/// lstat: links are never followed.
bool Lookup(const fs::path& path, struct stat* info) { return ::lstat(path.c_str(), info) == 0; }

bool IsDump(const fs::path& directory) {
  struct stat info{};
  return Lookup(directory / "dump.json", &info) && S_ISREG(info.st_mode);
}

/// step<N> and rank<N>/proc<N> folders are shown as one dump by their root.
bool IsDumpTreeEntry(const std::string& name) {
  return name.starts_with("step") || name.starts_with("rank") || name.starts_with("proc");
}

bool HoldsDumpTree(const fs::path& directory) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (!entry.is_directory(error) || entry.is_symlink(error)) continue;
    if (!IsDumpTreeEntry(entry.path().filename().string())) continue;
    if (IsDump(entry.path()) || HoldsDumpTree(entry.path())) return true;
  }
  return false;
}

class Lister {
 public:
  Lister(const fs::path& root, std::vector<CatalogEntry>* entries)
      : root_(root), entries_(entries) {}

  bool truncated() const { return truncated_; }

  void Visit(const fs::path& directory, int depth) {
    if (IsDump(directory) || HoldsDumpTree(directory)) {
      Add(directory, FileKind::kDump);
      return;
    }
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      struct stat info{};
      if (!Lookup(entry.path(), &info)) continue;
      if (S_ISREG(info.st_mode)) {
        if (const auto kind = KindOfFile(entry.path().filename().string())) {
          Add(entry.path(), *kind);
        }
      } else if (S_ISDIR(info.st_mode) && depth < FileCatalog::kMaxDepth) {
        Visit(entry.path(), depth + 1);
      }
    }
  }

 private:
  void Add(const fs::path& path, FileKind kind) {
    if (entries_->size() >= FileCatalog::kMaxFiles) {
      truncated_ = true;
      return;
    }
    struct stat info{};
    if (!Lookup(path, &info)) return;
    std::string file = path.lexically_relative(root_).string();
    entries_->push_back({std::move(file), kind,
                         kind == FileKind::kDump ? 0 : static_cast<uint64_t>(info.st_size),
                         static_cast<int64_t>(info.st_mtime)});
  }

  const fs::path& root_;
  std::vector<CatalogEntry>* entries_;
  bool truncated_ = false;
};

}  // namespace

Result<FileCatalog> FileCatalog::Create(const fs::path& root) {
  std::error_code error;
  FileCatalog catalog;
  // The root itself may be reached by a link: the user named it.
  catalog.root_ = fs::canonical(root, error);
  if (error) {
    return NotFoundError("there is nothing to view", "check the path", root.string());
  }
  if (fs::is_directory(catalog.root_)) return catalog;
  if (!KindOfFile(catalog.root_.filename().string())) {
    return InvalidArgumentError("not a .vis or .vis.db file",
                                "give such a file, or the directory that holds them",
                                root.string());
  }
  catalog.only_ = catalog.root_.filename().string();
  catalog.root_ = catalog.root_.parent_path();
  return catalog;
}

std::vector<CatalogEntry> FileCatalog::List(bool* truncated) const {
  std::vector<CatalogEntry> entries;
  Lister lister(root_, &entries);
  lister.Visit(root_, 0);
  *truncated = lister.truncated();
  if (!only_.empty()) std::erase_if(entries, [this](const auto& e) { return e.file != only_; });
  std::sort(entries.begin(), entries.end(),
            [](const CatalogEntry& a, const CatalogEntry& b) { return a.file < b.file; });
  return entries;
}

Result<fs::path> FileCatalog::Resolve(std::string_view file, FileKind* kind) const {
  if (file.find('\0') != std::string_view::npos || file.empty()) {
    return InvalidArgumentError("the file's name is not valid");
  }
  const fs::path relative(file);
  if (relative.is_absolute() || (!only_.empty() && file != only_)) {
    return InvalidArgumentError("the file does not lie below the viewed directory", {},
                                std::string(file));
  }
  fs::path path = root_;
  struct stat info{};
  for (const fs::path& part : relative) {
    if (part == "..") {
      return InvalidArgumentError("the file does not lie below the viewed directory", {},
                                  std::string(file));
    }
    if (part == ".") continue;
    path /= part;
    if (!Lookup(path, &info)) {
      return NotFoundError("the file is no longer there", "reload the list of files",
                           std::string(file));
    }
    if (S_ISLNK(info.st_mode)) {
      return InvalidArgumentError("symbolic links are not followed", "view the directory itself",
                                  std::string(file));
    }
  }
  const auto file_kind = KindOfFile(path.filename().string());
  struct stat last{};
  if (!Lookup(path, &last)) return NotFoundError("the file is no longer there");
  if (S_ISREG(last.st_mode) && file_kind) {
    *kind = *file_kind;
  } else if (S_ISDIR(last.st_mode) && (IsDump(path) || HoldsDumpTree(path))) {
    *kind = FileKind::kDump;
  } else {
    return InvalidArgumentError("neither a .vis, a .vis.db nor a dump", {}, std::string(file));
  }
  return path;
}

}  // namespace msprobe::viewer
