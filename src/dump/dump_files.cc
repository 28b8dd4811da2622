#include "dump/dump_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <functional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/open_descriptor.h"
#include "dump/dump_writer_directory.h"
#include "dump/record_tape.h"
#include "formats/npy/npy_writer.h"
#include "formats/torch_pt/torch_pt_writer.h"

namespace msprobe::dump {

namespace {

constexpr size_t kFlushBytes = size_t{512} << 10;
constexpr size_t kMaxProblemBytes = size_t{1} << 20;
constexpr uint64_t kMaxProblems = 10'000;
constexpr off_t kReserveBytes = 64 << 10;
constexpr std::string_view kDataDirectory = "dump_tensor_data";

/// A long run has many writers; one full disk is said once.
void LogOnce(std::atomic<bool>* said, const std::string& text) {
  if (!said->exchange(true)) base::Log(base::LogLevel::kWarning, text);
}

/// The reserve of a finished step, for the next one: file systems search past what was deleted
/// lately, so that a file deleted in each step would make the creation of files slower and slower.
std::atomic<int> spare_reserve{-1};

bool OnSameFileSystem(int fd, const std::string& directory) {
  struct stat file{};
  struct stat parent{};
  return ::fstat(fd, &file) == 0 && ::stat(directory.c_str(), &parent) == 0 &&
         file.st_dev == parent.st_dev;
}

std::atomic<bool> json_error_said{false};
std::atomic<bool> tensor_error_said{false};

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> text;
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), size};
}

/// Of all that decides what is in the tensor's file.
stats::ContentHash FileHash(const TensorFile& file) {
  std::vector<uint64_t> parts = {file.contents->hash.low, file.contents->hash.high,
                                 static_cast<uint64_t>(file.dtype)};
  parts.insert(parts.end(), file.shape.begin(), file.shape.end());
  const auto bytes = std::as_bytes(std::span(parts));
  return stats::HashContents(bytes.data(), bytes.size());
}

/// "x.npy" → "x_2.npy", no longer than a file system takes.
std::string NumberedName(std::string_view name, uint64_t number) {
  constexpr size_t kLongest = 255;
  const std::string end = "_" + std::to_string(number) + std::string(name.substr(name.rfind('.')));
  size_t size = std::min(name.rfind('.'), kLongest - end.size());
  while (size > 0 && (name[size] & 0xC0) == 0x80) --size;  // not inside of a UTF-8 character
  return std::string(name.substr(0, size)) + end;
}

void AppendOneLine(std::string_view text, std::string* out) {
  for (const char c : text) out->push_back(c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
}

}  // namespace

DumpFiles::DumpFiles(DumpWriterOptions options, Ledger* ledger)
    : options_(std::move(options)),
      ledger_(*ledger),
      directory_(UnitDirectory(options_.dump_path, options_.step, options_.rank)),
      last_flush_(std::chrono::steady_clock::now()) {
  options_.saves_tensors |= options_.task == "tensor";
  std::error_code error;
  const auto absolute = std::filesystem::absolute(directory_, error);
  if (!error) directory_ = absolute.lexically_normal();
}

DumpFiles::~DumpFiles() {
  if (reserve_fd_ >= 0) ::close(reserve_fd_);
}

Status DumpFiles::Create() {
  const std::lock_guard lock(mutex_);
  created_ = true;
  MSPROBE_RETURN_IF_ERROR(ClaimDirectory(directory_, options_.overwrite));
  const char* name = options_.level == "debug" ? "debug.json" : "dump.json";
  // Exclusive: of two processes with one rank, the second is refused.
  return dump_.Create(directory_ / name, DumpHead(options_, DataDirectory()), kDumpTail, true);
}

std::string DumpFiles::DataDirectory() const {
  return options_.saves_tensors ? (directory_ / kDataDirectory).string() : std::string();
}

/// Off the collecting thread: creating files takes longer than recording a call.
void DumpFiles::CreateCompanions() {
  if (companions_made_) return;
  if (reserve_fd_ < 0) Reserve();
  const bool has_companions = options_.extra_info && options_.level != "debug";
  for (const auto& [file, name] :
       {std::pair(&stack_, "stack.json"), std::pair(&construct_, "construct.json")}) {
    if (!has_companions || file->is_open()) continue;
    const Status status = file->Create(directory_ / name, "{", "\n}", false);
    if (!status.ok()) AddProblem(name, status.ToString());
  }
  companions_made_ = true;  // not where memory was short: then again
}

void DumpFiles::Reserve() {
  reserve_fd_ = spare_reserve.exchange(-1);
  if (reserve_fd_ >= 0 && OnSameFileSystem(reserve_fd_, directory_.string())) return;
  if (reserve_fd_ >= 0) ::close(reserve_fd_);
  reserve_fd_ = ::open(directory_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, base::kFileMode);
  if (reserve_fd_ >= 0) {
    [[maybe_unused]] const int got = ::fallocate(reserve_fd_, 0, 0, kReserveBytes);
  }
}

void DumpFiles::AddRecord(std::string_view tape, std::vector<TensorFile>* files) {
  for (TensorFile& file : *files) {
    if (file.dropped) continue;
    TakeName(&file.name);
    const Status status = SaveTensor(file);
    file.contents = nullptr;
    if (status.ok()) {
      ledger_.CountTensorWritten(file.bytes);
    } else {
      file.dropped = true;
      TensorFailed(TapeName(tape), file.name, status);
    }
  }
  AppendRecord(tape, *files);
}

/// Two values may have one name, as under the keys 1 and "1" of a dictionary. A file is never
/// written over: a record names it, and others may be links to it.
void DumpFiles::TakeName(std::string* file_name) {
  const std::string wanted = *file_name;
  for (uint64_t number = 2; !taken_names_.insert(std::hash<std::string>()(*file_name)).second;) {
    *file_name = NumberedName(wanted, number++);
  }
}

void DumpFiles::AppendRecord(std::string_view tape, std::span<const TensorFile> files) {
  const size_t before = records_.size();
  try {
    records_.append(GrowingJson::kSeparator).append("\n  ");
    const size_t begin = records_.size();
    pending_.push_back({begin, RenderTape(tape, files, &records_)});
  } catch (...) {  // no memory: half a record would damage all that follow
    records_.resize(before);
    throw;
  }
}

Status DumpFiles::SaveTensor(const TensorFile& file) {
  const std::lock_guard lock(mutex_);
  if (tensor_error()) return Status(StatusCode::kIo, "no tensors are saved after a file error");
  const std::filesystem::path data = directory_ / kDataDirectory;
  if (!data_directory_made_) {
    MSPROBE_RETURN_IF_ERROR(base::CreateDirectories(data));
    data_directory_made_ = true;
  }
  CreateCompanions();
  const std::filesystem::path path = data / file.name;
  std::string* name = nullptr;  // of a file with the same in it
  if (file.contents != nullptr) {
    const auto [place, is_new] = written_.try_emplace(FileHash(file));
    name = &place->second;
    // Where it cannot be linked (another kind of file system, too many links), it is written.
    if (!is_new && ::link((data / *name).c_str(), path.c_str()) == 0) return Status::Ok();
  }
  MSPROBE_RETURN_IF_ERROR(WriteTensor(path, file));
  if (name != nullptr) *name = file.name;
  return Status::Ok();
}

Status DumpFiles::WriteTensor(const std::filesystem::path& path, const TensorFile& file) const {
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile output, base::AtomicFile::Create(path));
  const std::byte* values = file.contents != nullptr ? file.contents->values.data() : nullptr;
  const TensorView view{values, file.dtype, false, false, file.shape, {}};
  if (options_.tensor_format == TensorFormat::kNpy) {
    MSPROBE_RETURN_IF_ERROR(formats::WriteNpy(view, &output));
  } else {
    MSPROBE_RETURN_IF_ERROR(formats::WriteTorchPt(view, {}, &output));
  }
  return output.Commit();
}

void DumpFiles::TensorFailed(std::string_view record, const std::string& file,
                             const Status& status) {
  ledger_.CountTensorLost(1);
  AddProblem(record, "tensor file " + file + " not written: " + status.ToString());
  if (status.code() != StatusCode::kIo || tensor_error_.exchange(true)) return;
  LogOnce(&tensor_error_said,
          "tensors are not saved any more, statistics go on: " + status.ToString());
}

void DumpFiles::AddGathered(GatheredEntries* entries) {
  std::string_view rest = entries->tapes;
  const auto take = [&rest](size_t size) {
    const std::string_view part = rest.substr(0, size);
    rest.remove_prefix(size);
    return part;
  };
  for (const size_t size : entries->tape_sizes) AppendRecord(take(size), {});
  rest = entries->place_names;
  for (const auto& [name_size, parent_size] : entries->places) {
    const std::string_view name = take(name_size);
    AppendConstruct(name, take(parent_size), &construct_members_);
  }
  rest = entries->stack_names;
  for (auto& [size, frames] : entries->stacks) {
    stacks_.Add(std::string(take(size)), std::move(frames));
  }
  for (const auto& [name, reason] : entries->problems) AddProblem(name, reason);
}

void DumpFiles::AddProblem(std::string_view name, std::string_view reason) {
  ledger_.CountProblem();
  ++problem_count_;
  if (problem_count_ > kMaxProblems || problems_.size() > kMaxProblemBytes) return;
  problems_.append(Now()).push_back('\t');
  AppendOneLine(name, &problems_);
  problems_.push_back('\t');
  AppendOneLine(problem_count_ == kMaxProblems ? "further problems are only counted" : reason,
                &problems_);
  problems_.push_back('\n');
}

bool DumpFiles::FlushIfDue() {
  const auto age = std::chrono::steady_clock::now() - last_flush_;
  if (records_.size() < kFlushBytes &&
      age < std::chrono::milliseconds(options_.flush_milliseconds)) {
    return false;
  }
  Flush();
  return true;
}

void DumpFiles::Flush() {
  const std::lock_guard lock(mutex_);
  CreateCompanions();
  // A record's place and stack first: whoever finds the record finds them as well.
  FlushCompanions();
  FlushRecords();
  FlushProblems();
  last_flush_ = std::chrono::steady_clock::now();
}

void DumpFiles::FlushCompanions() {
  std::string stack_members;
  stacks_.Take(&stack_members);
  for (const auto& [file, members, name] :
       {std::tuple(&construct_, &construct_members_, "construct.json"),
        std::tuple(&stack_, &stack_members, "stack.json")}) {
    const Status status = file->is_open() ? file->Append(members) : Status::Ok();
    members->clear();
    if (status.ok()) continue;
    AddProblem(name, "entries lost: " + status.ToString());
    LogOnce(&json_error_said, "records are lost: " + status.ToString());
  }
}

void DumpFiles::FlushRecords() {
  const Status status = dump_.Append(&records_);
  if (status.ok()) {
    ledger_.CountRecorded(pending_.size(), records_.size());
  } else {
    ledger_.CountLost(pending_.size());
    LogOnce(&json_error_said, "records are lost: " + status.ToString());
    for (const Name& entry : pending_) {
      AddProblem(std::string_view(records_).substr(entry.begin, entry.size),
                 "record lost: " + status.ToString());
    }
  }
  records_.clear();
  pending_.clear();
}

void DumpFiles::FlushProblems() {
  if (problems_.empty()) return;
  const auto path = directory_ / "dump_error_info.log";
  const int fd = base::OpenAboveStreams(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                                        base::kFileMode);
  if (fd < 0) return;
  // Not written for want of space: tried again at the next flush.
  while (!problems_.empty()) {
    const ssize_t written = ::write(fd, problems_.data(), problems_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    problems_.erase(0, static_cast<size_t>(written));
  }
  ::close(fd);
}

Status DumpFiles::WriteLedger() const {
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file,
                           base::AtomicFile::Create(directory_ / "ledger.json"));
  MSPROBE_RETURN_IF_ERROR(file.Append(ledger_.Text()));
  return file.Commit();
}

void DumpFiles::Finish() {
  Flush();
  const std::lock_guard lock(mutex_);
  Status status = WriteLedger();
  if (reserve_fd_ >= 0 && (!status.ok() || !problems_.empty())) {
    ::close(std::exchange(reserve_fd_, -1));
    if (!status.ok()) status = WriteLedger();
  }
  if (reserve_fd_ >= 0) {
    const int older = spare_reserve.exchange(std::exchange(reserve_fd_, -1));
    if (older >= 0) ::close(older);
  }
  if (!status.ok()) LogOnce(&json_error_said, "the ledger is lost: " + status.ToString());
  FlushProblems();
  dump_.Close();
  stack_.Close();
  construct_.Close();
}

void DumpFiles::Abandon() {
  const std::lock_guard lock(mutex_);
  ledger_.CountLost(pending_.size());
  pending_.clear();
  dump_.Close();
  stack_.Close();
  construct_.Close();
}

Status DumpFiles::BecomeRank(int64_t rank) {
  const std::lock_guard lock(mutex_);
  if (options_.rank) {
    return InvalidArgumentError("the dump belongs to rank " + std::to_string(*options_.rank) +
                                " already");
  }
  const auto target =
      UnitDirectory(directory_.parent_path().parent_path().string(), options_.step, rank);
  if (!created_) {
    options_.rank = rank;
    directory_ = target;
    return Status::Ok();
  }
  std::error_code exists;
  if (std::filesystem::exists(target, exists)) {
    MSPROBE_RETURN_IF_ERROR(ClaimDirectory(target, options_.overwrite));
  }
  const std::string old_data = DataDirectory();
  if (::rename(directory_.c_str(), target.c_str()) != 0) {
    return IoError("cannot rename the directory of this process", errno, target.string());
  }
  options_.rank = rank;
  directory_ = target;
  if (old_data.empty()) return Status::Ok();
  const std::string old_head = DumpHead(options_, old_data);
  std::string head = DumpHead(options_, DataDirectory());
  if (head.size() > old_head.size()) return Status::Ok();  // readers look beside dump.json as well
  if (!dump_.is_open()) return Status::Ok();
  // Blanks at the line's end keep the head's length.
  head.insert(head.rfind(",\n \"data\"") + 1, old_head.size() - head.size(), ' ');
  return dump_.ReplaceHead(head);
}

std::string DumpFiles::directory() const {
  const std::lock_guard lock(mutex_);
  return directory_.string();
}

}  // namespace msprobe::dump
