#include "viewer/open_files.h"

#include <sys/stat.h>

#include <utility>

#include "viewer/dump_source.h"

namespace msprobe::viewer {

OpenFile::OpenFile(Opener opener, size_t threads) : threads_(threads) {
  thread_ = std::thread([this, opener = std::move(opener)] { Load(opener); });
}

OpenFile::~OpenFile() {
  cancel_.Cancel();
  thread_.join();
}

visfile::ReadOptions OpenFile::Options() {
  visfile::ReadOptions options;
  options.threads = threads_;
  options.cancel = &cancel_;
  options.progress = [this](uint64_t done, uint64_t total) {
    done_.store(done, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  };
  return options;
}

void OpenFile::Load(const Opener& opener) {
  Result<std::unique_ptr<visfile::VisSource>> opened = opener(Options());
  Status status = opened.ok() ? Status::Ok() : opened.status();
  if (status.ok()) {
    {
      const std::lock_guard lock(mutex_);
      source_ = std::move(*opened);
      units_.resize(source_->units().size());
    }
    // The first unit is what is looked at first; a file that cannot show it is of no use.
    if (!units_.empty()) {
      const auto first = source_->LoadUnit(0, Options());
      if (first.ok()) {
        units_[0] = std::make_shared<LoadedUnit>(*first);
      } else {
        status = first.status();
      }
    }
  }
  const std::lock_guard lock(mutex_);
  state_ = status.ok() ? State::kReady : State::kFailed;
  status_ = std::move(status);
  changed_.notify_all();
}

OpenFile::State OpenFile::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Status OpenFile::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void OpenFile::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return state_ != State::kLoading; });
}

Result<std::shared_ptr<LoadedUnit>> OpenFile::Unit(size_t unit) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kFailed) return status_;
    if (state_ == State::kLoading) {
      return InvalidArgumentError("the file is still being loaded", "ask 'open' until it is ready");
    }
    if (unit >= units_.size()) return InvalidArgumentError("the file has no such step and rank");
    if (units_[unit] != nullptr) return units_[unit];
  }
  const std::lock_guard loading(loading_unit_);
  {
    const std::lock_guard lock(mutex_);
    if (units_[unit] != nullptr) return units_[unit];
  }
  MSPROBE_ASSIGN_OR_RETURN(auto source, source_->LoadUnit(unit, Options()));
  auto loaded = std::make_shared<LoadedUnit>(std::move(source));
  const std::lock_guard lock(mutex_);
  units_[unit] = loaded;
  return loaded;
}

uint64_t OpenFile::bytes() const {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kReady) return 0;
  uint64_t bytes = 0;
  for (const auto& unit : units_) {
    if (unit != nullptr) bytes += unit->source->bytes();
  }
  return bytes;
}

void OpenFile::DropUnits() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kReady) return;
  for (auto& unit : units_) {
    if (unit.use_count() == 1) unit.reset();
  }
}

namespace {

OpenFile::Opener OpenerOf(const std::filesystem::path& path, FileKind kind) {
  return [path, kind](const visfile::ReadOptions& options) {
    switch (kind) {
      case FileKind::kVis: return visfile::OpenVis(path, options);
      case FileKind::kVisDb: return visfile::OpenVisDb(path, options);
      case FileKind::kDump: break;
    }
    return OpenDump(path, options);
  };
}

}  // namespace

std::shared_ptr<OpenFile> OpenFiles::Open(const std::filesystem::path& path, FileKind kind) {
  struct stat info{};
  (void)::stat(path.c_str(), &info);
  const auto modified = static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                        static_cast<int64_t>(info.st_mtim.tv_nsec);
  const auto size = static_cast<uint64_t>(info.st_size);
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->path != path) continue;
    const bool same = entry->modified == modified && entry->size == size;
    if (same && entry->file->state() != OpenFile::State::kFailed) {
      entries_.splice(entries_.begin(), entries_, entry);
      return entries_.front().file;
    }
    entries_.erase(entry);
    break;
  }
  entries_.push_front(
      {path, modified, size, std::make_shared<OpenFile>(OpenerOf(path, kind), threads_)});
  return entries_.front().file;
}

void OpenFiles::Close(const std::filesystem::path& path) {
  std::shared_ptr<OpenFile> closed;
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->path != path) continue;
    entry->file->Cancel();
    closed = entry->file;
    entries_.erase(entry);
    return;
  }
}

void OpenFiles::Trim() {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const Entry& entry : entries_) {
    bytes += entry.file->bytes();
    if (bytes > max_bytes_ && &entry != &entries_.front()) entry.file->DropUnits();
  }
}

}  // namespace msprobe::viewer
