#include "dump/dump_json_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/file.h"
#include "base/open_file.h"
#include "formats/json/json_escape.h"
#include "formats/json/json_writer.h"

namespace msprobe::dump {

namespace {

Status WriteAt(int fd, std::string_view text, uint64_t offset, const std::filesystem::path& path) {
  return base::WriteFullyAt(fd, text.data(), text.size(), offset, path);
}

/// Moves the file to its name; with `exclusive` nothing may be there.
Status GiveName(const std::string& temporary, const std::filesystem::path& path, bool exclusive) {
  if (exclusive && ::link(temporary.c_str(), path.c_str()) == 0) {
    ::unlink(temporary.c_str());
    return Status::Ok();
  }
  struct stat info{};
  if (exclusive && (errno == EEXIST || ::lstat(path.c_str(), &info) == 0)) {
    return InvalidArgumentError("a dump is being written here already",
                                "choose another dump_path or set overwrite: true",
                                path.parent_path().string());
  }
  // Also where the file system has no hard links.
  if (::rename(temporary.c_str(), path.c_str()) == 0) return Status::Ok();
  return IoError("cannot create the file", errno, path.string());
}

int CreateLocked(const std::string& path) {
  const int fd =
      base::OpenAboveStreams(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, base::kFileMode);
  if (fd >= 0) [[maybe_unused]]
    const int locked = ::flock(fd, LOCK_EX | LOCK_NB);
  return fd;
}

bool IsNamed(int fd, const std::filesystem::path& path) {
  struct stat file{};
  struct stat named{};
  return ::fstat(fd, &file) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

bool CopyRange(int from, int to, uint64_t begin, uint64_t end, const std::filesystem::path& path) {
  std::array<char, size_t{64} << 10> buffer;
  while (begin < end) {
    const ssize_t got = ::pread(from, buffer.data(), std::min<uint64_t>(buffer.size(), end - begin),
                                static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto size = static_cast<size_t>(got);
    if (!WriteAt(to, {buffer.data(), size}, begin, path).ok()) return false;
    begin += size;
  }
  return true;
}

}  // namespace

GrowingJson::~GrowingJson() {
  for (const int fd : {shown_.fd, beside_.fd}) {
    if (fd >= 0) ::close(fd);
  }
}

void GrowingJson::Close() {
  DropBeside();
  if (shown_.fd >= 0) ::close(std::exchange(shown_.fd, -1));
}

Status GrowingJson::Create(const std::filesystem::path& path, std::string_view head,
                           std::string_view tail, bool exclusive, std::string_view members) {
  path_ = path;
  tail_ = tail;
  static std::atomic<uint32_t> serial{0};
  for (std::string& beside : beside_paths_) {
    beside = path.string() + ".tmp" + std::to_string(::getpid()) + "_" + std::to_string(serial++);
  }
  empty_ = members.empty();
  if (!empty_) members.remove_prefix(kSeparator.size());
  // Without members the brackets close on the same line.
  const size_t bracket = empty_ ? tail.find_first_of("}]") : 0;
  const std::string text = std::string(head).append(members).append(tail.substr(bracket));
  // From here on no memory is needed, but for saying what went wrong. Under a name of its own until
  // its head is there: a kill in between leaves no empty file.
  const Turn created{CreateLocked(beside_path()), head.size() + members.size()};
  if (created.fd < 0) return IoError("cannot create the file", errno, path.string());
  Status status = WriteAt(created.fd, text, 0, path_);
  if (status.ok()) status = GiveName(beside_path(), path, exclusive);
  if (status.ok()) {
    shown_ = created;
  } else {
    ::unlink(beside_path().c_str());
    ::close(created.fd);
  }
  return status;
}

Status GrowingJson::Append(std::string* members) {
  if (members->empty()) return Status::Ok();
  const size_t members_size = members->size();
  members->append(tail_);
  const std::string_view text = std::string_view(*members).substr(empty_ ? kSeparator.size() : 0);
  const uint64_t members_end = shown_.end + text.size() - tail_.size();
  Status status;
  if (!AppendBeside(text, members_end)) status = AppendInPlace(text, members_end);
  members->resize(members_size);
  if (status.ok()) empty_ = false;
  return status;
}

bool GrowingJson::AppendBeside(std::string_view text, uint64_t members_end) {
  if (!takes_turns_) return false;
  if (FillBeside() && WriteAt(beside_.fd, text, shown_.end, path_).ok() && GiveNameToBeside()) {
    beside_.end = members_end;
    std::swap(shown_, beside_);
    return true;
  }
  DropBeside();  // also for the sake of its space on the disk
  takes_turns_ = false;
  return false;
}

/// What was written since its last turn.
bool GrowingJson::FillBeside() {
  if (beside_.fd < 0) beside_ = {CreateLocked(beside_path()), 0};
  return beside_.fd >= 0 && CopyRange(shown_.fd, beside_.fd, beside_.end, shown_.end, path_);
}

/// The one that has borne the name gets the other's of two names beside.
bool GrowingJson::GiveNameToBeside() {
  if (!IsNamed(shown_.fd, path_)) return false;  // it is not ours any more
  const std::string& name_of_shown = beside_paths_[1 - turn_];
  if (::link(path_.c_str(), name_of_shown.c_str()) != 0) return false;
  if (::rename(beside_path().c_str(), path_.c_str()) != 0) {
    ::unlink(name_of_shown.c_str());
    return false;
  }
  turn_ = 1 - turn_;
  return true;
}

bool GrowingJson::LeaveBeside(std::string_view text, const std::filesystem::path& path) {
  takes_turns_ = false;
  if (beside_.fd < 0) return false;
  if (::ftruncate(beside_.fd, 0) != 0 || !WriteAt(beside_.fd, text, 0, path).ok() ||
      ::rename(beside_path().c_str(), path.c_str()) != 0) {
    DropBeside();
    return false;
  }
  ::close(std::exchange(beside_.fd, -1));
  return true;
}

void GrowingJson::DropBeside() {
  if (beside_.fd < 0) return;
  ::unlink(beside_path().c_str());
  ::close(std::exchange(beside_.fd, -1));
}

Status GrowingJson::AppendInPlace(std::string_view text, uint64_t members_end) {
  Status status = WriteAt(shown_.fd, text, shown_.end, path_);
  if (status.ok()) {
    shown_.end = members_end;
    return status;
  }
  const std::string_view tail =
      empty_ ? std::string_view(tail_).substr(tail_.find_first_of("}]")) : tail_;
  // These bytes have their place on the disk already: a full disk does not refuse them.
  if (WriteAt(shown_.fd, tail, shown_.end, path_).ok()) {
    [[maybe_unused]] const int cut =
        ::ftruncate(shown_.fd, static_cast<off_t>(shown_.end + tail.size()));
  }
  return status;
}

/// Within one page of the file, which a kill does not split.
Status GrowingJson::ReplaceHead(std::string_view head) {
  if (beside_.fd >= 0) MSPROBE_RETURN_IF_ERROR(WriteAt(beside_.fd, head, 0, path_));
  return WriteAt(shown_.fd, head, 0, path_);
}

void GrowingJson::MovedTo(const std::filesystem::path& directory) {
  if (path_.empty()) return;
  path_ = directory / path_.filename();
  for (std::string& beside : beside_paths_) {
    beside = (directory / std::filesystem::path(beside).filename()).string();
  }
}

std::string DumpHead(const DumpWriterOptions& options, std::string_view dump_data_dir) {
  std::string head;
  formats::JsonWriter json(&head, formats::JsonLayout::Indented(1));
  json.BeginObject();
  json.Key("task").String(options.task);
  json.Key("level").String(options.level);
  json.Key("framework").String(options.framework);
  json.Key("dump_data_dir");
  if (dump_data_dir.empty()) {
    json.Null();
  } else {
    json.String(dump_data_dir);
  }
  json.Key("data").BeginObject();
  return head;
}

void AppendConstruct(std::string_view name, std::string_view parent, std::string* out) {
  const size_t before = out->size();
  try {
    out->append(GrowingJson::kSeparator).append("\n ");
    formats::AppendJsonString(name, out);
    out->append(": ");
    if (parent.empty()) {
      out->append("null");
    } else {
      formats::AppendJsonString(parent, out);
    }
  } catch (...) {  // no memory: half a member would damage all that follow
    out->resize(before);
    throw;
  }
}

void StackGroups::Add(std::string name, StackFrames frames) {
  const auto [place, is_new] = index_.try_emplace(frames.get(), groups_.size());
  if (is_new) {
    try {
      groups_.push_back({std::move(frames), {}});
    } catch (...) {  // no memory
      index_.erase(place);
      throw;
    }
  }
  groups_[place->second].names.push_back(std::move(name));
}

void StackGroups::Take(std::string* out) {
  const auto append_list = [out](const std::vector<std::string>& texts) {
    out->append("\n  [");
    for (size_t i = 0; i < texts.size(); ++i) {
      out->append(i == 0 ? "\n   " : ",\n   ");
      formats::AppendJsonString(texts[i], out);
    }
    out->append(texts.empty() ? "]" : "\n  ]");
  };
  for (const Group& group : groups_) {
    out->append(GrowingJson::kSeparator).append("\n \"");
    out->append(std::to_string(next_key_++)).append("\": [");
    append_list(group.names);
    out->push_back(',');
    append_list(*group.frames);
    out->append("\n ]");
  }
  groups_.clear();
  index_.clear();
}

}  // namespace msprobe::dump
