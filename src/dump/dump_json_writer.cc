#include "dump/dump_json_writer.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "formats/json/json_escape.h"
#include "formats/json/json_writer.h"

namespace msprobe::dump {

namespace {

constexpr int kAttempts = 3;

/// Whoever looks whether the file is locked holds a lock for a moment; nobody is waited for longer.
void LockWhatIsOurs(int fd) {
  for (int tries = 0; tries < 100 && ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK) return;  // the file system has no locks
    ::usleep(1000);
  }
}

/// Moves the file to its name; with `exclusive` nothing may be there. Returns errno, or 0.
int GiveName(const std::filesystem::path& temporary, const std::filesystem::path& path,
             bool exclusive) {
  if (exclusive && ::link(temporary.c_str(), path.c_str()) == 0) {
    ::unlink(temporary.c_str());
    return 0;
  }
  struct stat info{};
  if (exclusive && (errno == EEXIST || ::lstat(path.c_str(), &info) == 0)) return EEXIST;
  // Also where the file system has no hard links.
  return ::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace

GrowingJson::~GrowingJson() { Close(); }

void GrowingJson::Close() {
  if (fd_ < 0) return;
  ::flock(fd_, LOCK_UN);  // a forked child may hold the file open for longer
  ::close(std::exchange(fd_, -1));
}

Status GrowingJson::Create(const std::filesystem::path& path, std::string_view head,
                           std::string_view tail, bool exclusive) {
  path_ = path;
  tail_ = tail;
  // Without members the brackets close on the same line.
  const size_t bracket = tail.find_first_of("}]");
  const std::string text = std::string(head).append(tail.substr(bracket));
  end_ = head.size();
  int unwritten = 0;
  int unnamed = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // Under a name of its own until its head is there: a kill in between leaves no empty file.
    std::filesystem::path temporary;
    fd_ = base::CreateBeside(path, base::kFileMode, &temporary);
    if (fd_ < 0) return IoError("cannot create the file", errno, path.string());
    // From here on no memory is needed, but for saying what went wrong.
    LockWhatIsOurs(fd_);
    unwritten = base::TryWriteFullyAt(fd_, text, 0);
    unnamed = unwritten == 0 ? GiveName(temporary, path, exclusive) : 0;
    if (unwritten == 0 && unnamed == 0) return Status::Ok();
    ::unlink(temporary.c_str());
    Close();
    if (unnamed != ENOENT)
      break;  // else one that begins took it, not locked yet, for what a kill has left
  }
  if (unwritten != 0) return IoError("cannot write the file", unwritten, path.string());
  if (!exclusive || unnamed != EEXIST) {
    return IoError("cannot create the file", unnamed, path.string());
  }
  return InvalidArgumentError("a dump is being written here already",
                              "choose another dump_path or set overwrite: true",
                              path.parent_path().string());
}

Status GrowingJson::Append(std::string* members) {
  if (members->empty()) return Status::Ok();
  const size_t members_size = members->size();
  members->append(tail_);
  const std::string_view text = std::string_view(*members).substr(empty_ ? kSeparator.size() : 0);
  const int error_number = base::TryWriteFullyAt(fd_, text, end_);
  const size_t added = text.size() - tail_.size();
  members->resize(members_size);
  if (error_number == 0) {
    empty_ = false;
    end_ += added;
    return Status::Ok();
  }
  const std::string_view tail =
      empty_ ? std::string_view(tail_).substr(tail_.find_first_of("}]")) : tail_;
  // These bytes have their place on the disk already: a full disk does not refuse them.
  if (base::TryWriteFullyAt(fd_, tail, end_) == 0) {
    [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(end_ + tail.size()));
  }
  return IoError("cannot write the file", error_number, path_.string());
}

Status GrowingJson::ReplaceHead(std::string_view head) {
  return base::WriteFullyAt(fd_, head.data(), head.size(), 0, path_);
}

std::string DumpHead(const DumpWriterOptions& options, std::string_view dump_data_dir) {
  std::string head;
  formats::JsonWriter json(&head, formats::JsonLayout::kIndented);
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
