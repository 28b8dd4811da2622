#include "viewer/file_catalog.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"
#include "visfile/vis_name.h"

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

/// Calls take(entry), until it says false. A directory that cannot be read, or vanishes meanwhile,
/// has no further entries.
template <class Take>
void ForEachEntry(const fs::path& directory, const Take& take) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (!take(*it)) return;
  }
}

bool IsDump(const fs::path& directory) {
  struct stat info{};
  return Lookup(directory / "dump.json", &info) && S_ISREG(info.st_mode);
}

/// Folders as collectors name them: step<N>, rank<N>, proc<PID>, "rank".
bool IsDumpTreeEntry(const std::string& name) {
  for (const std::string_view word : {"step", "rank", "proc"}) {
    if (!name.starts_with(word)) continue;
    const std::string_view rest = std::string_view(name).substr(word.size());
    if (rest.find_first_not_of("0123456789") == std::string_view::npos) return true;
  }
  return false;
}

/// Steps and ranks are shown as one dump by their root.
bool HoldsDumpTree(const fs::path& directory, int depth) {
  if (depth > 1) return false;  // step<N>/rank<N>
  bool found = false;
  ForEachEntry(directory, [&](const fs::directory_entry& entry) {
    struct stat info{};
    found = IsDumpTreeEntry(entry.path().filename().string()) && Lookup(entry.path(), &info) &&
            S_ISDIR(info.st_mode) &&
            (IsDump(entry.path()) || HoldsDumpTree(entry.path(), depth + 1));
    return !found;
  });
  return found;
}

bool IsPartOfDump(const std::string& name) {
  return IsDumpTreeEntry(name) || name == "dump_tensor_data";
}

class Lister {
 public:
  Lister(const fs::path& root, std::vector<CatalogEntry>* entries)
      : root_(root), entries_(entries) {}

  bool truncated() const { return truncated_; }

  void Visit(const fs::path& directory, int depth) {
    const bool dump = IsDump(directory) || HoldsDumpTree(directory, 0);
    struct stat own{};
    if (dump && Lookup(directory, &own)) Add(directory, own, FileKind::kDump);
    std::map<std::string, size_t> groups;  // by name, into entries_
    ForEachEntry(directory, [&](const fs::directory_entry& entry) {
      struct stat info{};
      if (!Lookup(entry.path(), &info)) return true;
      if (S_ISREG(info.st_mode)) {
        AddFile(entry.path(), info, &groups);
      } else if (S_ISDIR(info.st_mode) && !truncated_ && depth < FileCatalog::kMaxDepth &&
                 !(dump && IsPartOfDump(entry.path().filename().string()))) {
        Visit(entry.path(), depth + 1);
      }
      return true;  // also when truncated: groups that are listed have members here
    });
  }

 private:
  void AddFile(const fs::path& path, const struct stat& info,
               std::map<std::string, size_t>* groups) {
    const std::string name = path.filename().string();
    const std::optional<FileKind> kind = KindOfFile(name);
    if (!kind) return;
    if (*kind == FileKind::kVis) {
      const std::string group = visfile::ParseVisName(name).group;
      if (!group.empty()) {
        const auto known = groups->find(group);
        if (known != groups->end()) return Join(path, info, group, &(*entries_)[known->second]);
        if (entries_->size() < FileCatalog::kMaxFiles) groups->emplace(group, entries_->size());
      }
    }
    Add(path, info, *kind);
  }

  /// A run's second and later files make an entry of their group.
  void Join(const fs::path& path, const struct stat& info, const std::string& group,
            CatalogEntry* entry) {
    entry->file = (path.parent_path() / group).lexically_relative(root_).string();
    entry->bytes += static_cast<uint64_t>(info.st_size);
    entry->modified = std::max(entry->modified, static_cast<int64_t>(info.st_mtime));
    ++entry->members;
  }

  void Add(const fs::path& path, const struct stat& info, FileKind kind) {
    if (entries_->size() >= FileCatalog::kMaxFiles) {
      truncated_ = true;
      return;
    }
    entries_->push_back({path.lexically_relative(root_).string(), kind,
                         kind == FileKind::kDump ? 0 : static_cast<uint64_t>(info.st_size),
                         static_cast<int64_t>(info.st_mtime), 1});
  }

  const fs::path& root_;
  std::vector<CatalogEntry>* entries_;
  bool truncated_ = false;
};

/// The files, by step and rank, of a group "…/compare_step*_rank*_2026.vis".
std::vector<fs::path> MembersOf(const fs::path& group) {
  std::vector<fs::path> members;
  const std::string pattern = group.filename().string();
  const fs::path directory = group.has_parent_path() ? group.parent_path() : fs::path(".");
  ForEachEntry(directory, [&](const fs::directory_entry& entry) {
    struct stat info{};
    if (visfile::ParseVisName(entry.path().filename().string()).group == pattern &&
        Lookup(entry.path(), &info) && S_ISREG(info.st_mode)) {
      members.push_back(entry.path());
    }
    return true;
  });
  std::ranges::sort(members, {}, [](const fs::path& path) {
    const visfile::VisName name = visfile::ParseVisName(path.filename().string());
    return std::tuple(name.step, name.rank, path);
  });
  return members;
}

}  // namespace

Result<FileCatalog> FileCatalog::Create(const fs::path& root) {
  std::error_code error;
  FileCatalog catalog;
  // The root itself may be reached by a link: the user named it.
  catalog.root_ = fs::canonical(root, error);
  if (error && !MembersOf(root).empty()) {
    // The name of a run's files, as the list shows it.
    catalog.only_ = root.filename().string();
    catalog.root_ = fs::canonical(fs::absolute(root).parent_path(), error);
    if (!error) return catalog;
  }
  if (error) {
    return NotFoundError("there is nothing to view", "check the path", root.string());
  }
  if (fs::is_directory(catalog.root_, error)) {
    const fs::directory_iterator readable(catalog.root_, error);
    if (!error) return catalog;
    return base::ReadError("cannot list the directory", error.value(), root.string());
  }
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
  *truncated = false;
  if (!only_.empty()) {
    const Result<ResolvedFile> file = Resolve(only_);
    if (!file.ok()) return entries;
    CatalogEntry& entry = entries.emplace_back();
    entry.file = only_;
    entry.kind = file->kind;
    entry.members = file->members.size();
    const std::vector<fs::path> one = {file->path};
    for (const fs::path& path : file->members.empty() ? one : file->members) {
      struct stat info{};
      if (!Lookup(path, &info)) continue;
      entry.bytes += static_cast<uint64_t>(info.st_size);
      entry.modified = std::max(entry.modified, static_cast<int64_t>(info.st_mtime));
    }
    return entries;
  }
  Lister lister(root_, &entries);
  lister.Visit(root_, 0);
  *truncated = lister.truncated();
  std::ranges::sort(entries, {}, &CatalogEntry::file);
  return entries;
}

Result<ResolvedFile> FileCatalog::Resolve(std::string_view file) const {
  constexpr const char* kChoose = "choose one of the list of files";
  if (file.find('\0') != std::string_view::npos || file.empty()) {
    return InvalidArgumentError("the file's name is not valid", kChoose);
  }
  const fs::path relative(file);
  const Status outside =
      InvalidArgumentError("the file does not lie below the viewed directory",
                           "view the directory that holds it", std::string(file));
  if (relative.is_absolute() || (!only_.empty() && file != only_)) return outside;
  ResolvedFile resolved{root_, FileKind::kDump, {}};
  const Status gone =
      NotFoundError("the file is no longer there", "reload the list of files", std::string(file));
  struct stat info{};
  if (!Lookup(root_, &info)) return gone;
  for (const fs::path& part : relative) {
    if (part == "..") return outside;
    if (part == "." || part.empty()) continue;
    if (!S_ISDIR(info.st_mode)) return gone;
    resolved.path /= part;
    if (!Lookup(resolved.path, &info)) {
      resolved.kind = FileKind::kVis;
      resolved.members = MembersOf(resolved.path);
      if (resolved.members.empty()) return gone;
      info.st_mode = S_IFREG;
      continue;
    }
    if (S_ISLNK(info.st_mode)) {
      return InvalidArgumentError("symbolic links are not followed", "view the directory itself",
                                  std::string(file));
    }
  }
  if (!resolved.members.empty()) return resolved;
  const auto file_kind = KindOfFile(resolved.path.filename().string());
  if (S_ISREG(info.st_mode) && file_kind) {
    resolved.kind = *file_kind;
    if (*file_kind == FileKind::kVis) resolved.members = {resolved.path};
  } else if (!S_ISDIR(info.st_mode) ||
             !(IsDump(resolved.path) || HoldsDumpTree(resolved.path, 0))) {
    return InvalidArgumentError("neither a .vis, a .vis.db nor a dump", kChoose, std::string(file));
  }
  return resolved;
}

}  // namespace msprobe::viewer
