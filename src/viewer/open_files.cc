#include "viewer/open_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "viewer/dump_source.h"
#include "viewer/vis_group.h"

namespace msprobe::viewer {

namespace {

OpenFile::Opener OpenerOf(const ResolvedFile& file, app::UnitJob dumps) {
  dumps.target = file.path;
  return [file, dumps = std::move(dumps)](const visfile::ReadOptions& options) {
    switch (file.kind) {
      case FileKind::kVis: return OpenVisGroup(file.members, options);
      case FileKind::kVisDb: return visfile::OpenVisDb(file.path, options);
      case FileKind::kDump: break;
    }
    return OpenDump(dumps, options);
  };
}

/// Puts the matches that were saved beside the file into its units.
OpenFile::Finisher RestoreMatches(const ResolvedFile& file,
                                  std::vector<std::filesystem::path> readable) {
  return [file, readable = std::move(readable)](const visfile::VisSource& source, size_t number,
                                                LoadedUnit* unit) {
    if (!source.is_comparison()) return;
    unit->hand.MayRead(readable);
    auto saved = LoadMatches(file.MemberOf(number), source.units()[number]);
    if (!saved.ok()) {
      unit->note = "the saved matches cannot be read: " + saved.status().ToString();
      return;
    }
    const size_t left_out = unit->hand.Restore(*saved, unit->source.get(), source.mode());
    if (left_out == 0) return;
    size_t count = 0;
    for (const HandMatches::NamePairs& action : *saved) count += action.size();
    unit->note = std::to_string(left_out) + " of " + std::to_string(count) +
                 " saved matches do not apply here, as their nodes are missing or have partners "
                 "already; they stay saved";
  };
}

/// A number that changes when one of the files does. A dump is known by its directory alone:
/// looking at all its files would cost more than the answer.
uint64_t VersionOf(const ResolvedFile& file) {
  uint64_t version = file.members.size();
  const auto mix = [&version](uint64_t number) {
    version = (version ^ number) * 0x9E3779B97F4A7C15;
  };
  const auto add = [&mix](const std::filesystem::path& path) {
    struct stat info{};
    (void)::stat(path.c_str(), &info);
    mix(info.st_ino);
    mix(static_cast<uint64_t>(info.st_size));
    mix(static_cast<uint64_t>(info.st_mtim.tv_sec));
    mix(static_cast<uint64_t>(info.st_mtim.tv_nsec));
  };
  add(file.path);
  for (const std::filesystem::path& member : file.members) add(member);
  return version;
}

}  // namespace

std::shared_ptr<OpenFile> OpenFiles::Start(const ResolvedFile& file) const {
  OpenFile::Options options;
  options.threads = options_.threads;
  options.keep_bytes = options_.max_bytes / 2;
  std::vector<std::filesystem::path> readable = options_.readable;
  if (file.kind == FileKind::kDump) {
    readable.push_back(file.path);
    readable.push_back(options_.dumps.golden);
  }
  return std::make_shared<OpenFile>(OpenerOf(file, options_.dumps),
                                    RestoreMatches(file, std::move(readable)), options);
}

std::shared_ptr<OpenFile> OpenFiles::Open(const ResolvedFile& file) {
  const uint64_t version = VersionOf(file);
  std::list<Entry> dropped;  // freed after the lock: a file waits for its thread
  const std::lock_guard lock(mutex_);
  const auto entry =
      std::ranges::find_if(entries_, [&file](const Entry& e) { return e.file.path == file.path; });
  if (entry != entries_.end()) {
    if (entry->version == version && entry->open->state() != OpenFile::State::kFailed) {
      entries_.splice(entries_.begin(), entries_, entry);
      return entries_.front().open;
    }
    entry->open->Cancel();
    dropped.splice(dropped.begin(), entries_, entry);
  }
  entries_.push_front({file, version, Start(file)});
  while (entries_.size() > kMaxOpen) {
    entries_.back().open->Cancel();
    dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  }
  return entries_.front().open;
}

void OpenFiles::Close(const ResolvedFile& file) {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  const auto entry =
      std::ranges::find_if(entries_, [&file](const Entry& e) { return e.file.path == file.path; });
  if (entry == entries_.end()) return;
  entry->open->Cancel();
  dropped.splice(dropped.begin(), entries_, entry);
}

void OpenFiles::Trim() {
  const std::lock_guard lock(mutex_);
  std::vector<OpenFile::Held> held;
  for (const Entry& entry : entries_) entry.open->AppendHeld(&held);
  uint64_t bytes = 0;
  for (const OpenFile::Held& unit : held) bytes += unit.bytes;
  if (bytes <= options_.max_bytes) return;
  std::ranges::sort(held, {}, &OpenFile::Held::last_used);
  for (const OpenFile::Held& unit : held) {
    if (bytes <= options_.max_bytes) return;
    unit.file->Drop(unit.unit);
    bytes -= unit.bytes;
  }
}

void OpenFiles::CancelAll() {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) entry.open->Cancel();
}

}  // namespace msprobe::viewer
