#include "viewer/open_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/diagnostics.h"
#include "dump/layout.h"
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

/// A number that changes when one of the files does, at least those that name the tensors.
class Version {
 public:
  void Add(const std::filesystem::path& path) {
    struct stat info{};
    (void)::stat(path.c_str(), &info);
    Mix(info.st_ino);
    Mix(static_cast<uint64_t>(info.st_size));
    Mix(static_cast<uint64_t>(info.st_mtim.tv_sec));
    Mix(static_cast<uint64_t>(info.st_mtim.tv_nsec));
  }
  /// A collection that overwrites an earlier one leaves the directories above as they were.
  void AddDump(const std::filesystem::path& root) {
    if (root.empty()) return;
    Add(root);
    base::Diagnostics foreign;
    const Result<dump::DumpTree> tree = dump::FindDumpUnits(root, &foreign);
    if (!tree.ok()) return;  // opening it will say why
    for (const dump::DumpUnit& unit : tree->units) {
      Add(unit.directory);
      for (const char* name : {"dump.json", "construct.json", "stack.json"}) {
        Add(unit.directory / name);
      }
    }
  }
  uint64_t number() const { return number_; }

 private:
  void Mix(uint64_t number) { number_ = (number_ ^ number) * 0x9E3779B97F4A7C15; }

  uint64_t number_ = 0;
};

uint64_t VersionOf(const ResolvedFile& file, const app::UnitJob& dumps) {
  Version version;
  if (file.kind == FileKind::kDump) {
    for (const auto& root : {file.path, dumps.golden, dumps.reference}) version.AddDump(root);
    for (const auto& options : {dumps.layer_mapping, dumps.tolerance}) version.Add(options);
  } else {
    version.Add(file.path);
    for (const std::filesystem::path& member : file.members) version.Add(member);
  }
  return version.number();
}

/// A page that waits for all units asks more often than this.
constexpr auto kLongestPause = std::chrono::seconds(10);

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

OpenFiles::Entries::iterator OpenFiles::Find(const ResolvedFile& file) {
  return std::ranges::find_if(
      entries_, [&file](const Entry& entry) { return entry.file.resolved.path == file.path; });
}

/// While a run is being collected its files change all the time: what has begun is finished, or
/// nobody would ever see it, and a page that waits for all units is not sent back to the beginning.
bool OpenFiles::MayBeReplaced(const Entry& entry, Freshness freshness) {
  const OpenFile& open = *entry.file.open;
  if (open.state() == OpenFile::State::kFailed) return true;
  if (freshness == Freshness::kAsOpened || !open.SummedUp()) return false;
  return open.told() || std::chrono::steady_clock::now() - entry.asked > kLongestPause;
}

FileContext OpenFiles::Open(const ResolvedFile& file, Freshness freshness) {
  const auto take = [&](Entries::iterator entry) {
    if (freshness == Freshness::kNewest) entry->asked = std::chrono::steady_clock::now();
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().file;
  };
  {
    const std::lock_guard lock(mutex_);
    const auto entry = Find(file);
    if (entry != entries_.end() && !MayBeReplaced(*entry, freshness)) return take(entry);
  }
  const uint64_t version = VersionOf(file, options_.dumps);  // of many ranks it takes a while
  Entries dropped;  // freed after the lock: a file waits for its thread
  const std::lock_guard lock(mutex_);
  const auto entry = Find(file);
  if (entry != entries_.end()) {
    const bool failed = entry->file.open->state() == OpenFile::State::kFailed;
    if (!MayBeReplaced(*entry, freshness) || (entry->file.version == version && !failed)) {
      return take(entry);
    }
    entry->file.open->Cancel();
    dropped.splice(dropped.begin(), entries_, entry);
  }
  entries_.push_front({{file, Start(file), version}, std::chrono::steady_clock::now()});
  while (entries_.size() > kMaxOpen) {
    entries_.back().file.open->Cancel();
    dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  }
  return entries_.front().file;
}

void OpenFiles::Close(const ResolvedFile& file) {
  Entries dropped;
  const std::lock_guard lock(mutex_);
  const auto entry = Find(file);
  if (entry == entries_.end()) return;
  entry->file.open->Cancel();
  dropped.splice(dropped.begin(), entries_, entry);
}

void OpenFiles::Trim() {
  const std::lock_guard lock(mutex_);
  std::vector<OpenFile::Held> held;
  for (const Entry& entry : entries_) entry.file.open->AppendHeld(&held);
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
  for (const Entry& entry : entries_) entry.file.open->Cancel();
}

}  // namespace msprobe::viewer
