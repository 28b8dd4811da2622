#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/open_descriptor.h"

namespace msprobe::base {

namespace {

constexpr size_t kWriteBuffer = 1 << 20;
constexpr size_t kHugePage = size_t{2} << 20;

size_t RoundUpToPage(size_t size) {
  static const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Status OpenError(const std::filesystem::path& path) {
  const int error_number = errno;
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return NotFoundError("file does not exist", "check the path", path.string());
  }
  return ReadError("cannot open the file", error_number, path);
}

Status CheckRegular(int fd, const std::filesystem::path& path, size_t* size) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return IoError("cannot read the file's size", errno, path.string());
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgumentError("not a regular file", "give the path of an ordinary file",
                                path.string());
  }
  *size = static_cast<size_t>(info.st_size);
  return Status::Ok();
}

/// Gives `from` the name `to` unless something has that name; 0 or an errno value.
int NameUnlessTaken(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return 0;
  }
  const int error_number = errno;
  if (error_number != EPERM && error_number != EOPNOTSUPP && error_number != ENOSYS) {
    return error_number;
  }
  // Mounted object stores have no hard links: an empty file keeps the name for a moment.
  const FileDescriptor reserved(
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (reserved.get() < 0) return errno;
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  const int rename_error = errno;
  ::unlink(to.c_str());
  return rename_error;
}

/// Address space without memory; `huge`: it begins at the border of a huge page.
void* ReserveAddresses(size_t size, bool huge) {
  const size_t reserved = huge ? size + kHugePage : size;
  void* base = ::mmap(nullptr, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || !huge) return base;
  auto* const begin = static_cast<std::byte*>(base);
  const size_t head = kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage;
  ::munmap(begin, head);
  if (head < kHugePage) ::munmap(begin + head + size, kHugePage - head);
  return begin + head;
}

}  // namespace

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_size_(std::exchange(other.mapped_size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_size_, other.mapped_size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), mapped_size_);
}

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer before we can refuse it.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return OpenError(path);
  MappedFile file;
  MSPROBE_RETURN_IF_ERROR(CheckRegular(fd.get(), path, &file.size_));
  // Anonymous zero pages first, the file over their beginning: the padding is readable even if
  // the file fills its last page. Untouched anonymous pages cost no memory.
  const size_t mapped_size = RoundUpToPage(file.size_ + kPadding);
  void* base = ReserveAddresses(mapped_size, file.size_ >= kHugePage);
  if (base == MAP_FAILED) return IoError("cannot reserve address space", errno, path.string());
  file.data_ = static_cast<const std::byte*>(base);
  file.mapped_size_ = mapped_size;
  if (file.size_ > 0 &&
      ::mmap(base, file.size_, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd.get(), 0) == MAP_FAILED) {
    return IoError("cannot map the file", errno, path.string());
  }
  // What is read from the disk then lies in huge pages where the file system can do that, and is
  // mapped by the 2 MB: page by page, mapping a file in the cache takes longer than reading it.
  if (file.size_ >= kHugePage) ::madvise(base, file.size_, MADV_HUGEPAGE);
  return file;
}

void MappedFile::Release(size_t offset, size_t length) const {
  if (offset >= size_) return;
  const size_t begin = RoundUpToPage(offset);
  const size_t end = std::min(offset + length, size_);
  if (end <= begin) return;
  ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  std::swap(temporary_path_, other.temporary_path_);
  std::swap(temporary_slot_, other.temporary_slot_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

AtomicFile::~AtomicFile() { Discard(); }

int CreateBeside(const std::filesystem::path& path, mode_t mode, std::filesystem::path* temporary,
                 size_t* slot) {
  static std::atomic<uint32_t> serial{0};
  std::filesystem::path prefix = path;
  // A name may be as long as the file system takes: the suffix then needs room.
  constexpr size_t kLongestPrefix = 200;
  const std::string name = path.filename().string();
  if (name.size() > kLongestPrefix) prefix.replace_filename(name.substr(0, kLongestPrefix));
  prefix += ".tmp" + std::to_string(::getpid()) + "_";
  for (;;) {
    *temporary = prefix;
    *temporary += std::to_string(serial++);
    // An earlier process with this number, as containers give them, may have left one.
    if (::access(temporary->c_str(), F_OK) == 0) continue;
    // Remembered before it is there: a signal may end the process right after open().
    if (slot != nullptr) *slot = RememberTemporaryFile(*temporary);
    int fd = -1;
    if (slot != nullptr && TemporaryFilesEnd()) {
      errno = EINTR;
    } else {
      fd = OpenAboveStreams(temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    if (fd >= 0) return fd;
    const int error = errno;
    if (slot != nullptr) ForgetTemporaryFile(std::exchange(*slot, kNoTemporaryFile));
    errno = error;
    if (error != EEXIST) return -1;
  }
}

Result<AtomicFile> AtomicFile::Create(const std::filesystem::path& path, mode_t mode) {
  AtomicFile file;
  file.path_ = path;
  file.fd_ = CreateBeside(path, mode, &file.temporary_path_, &file.temporary_slot_);
  if (file.fd_ < 0) {
    const int error = errno;
    file.temporary_path_.clear();  // whatever has that name is not ours
    return IoError("cannot create the file", error, path.string());
  }
  // The process's umask must not decide who can read the result.
  if (::fchmod(file.fd_, mode) != 0) {
    return IoError("cannot set the file's mode", errno, path.string());
  }
  return file;
}

Status AtomicFile::Append(std::string_view data) {
  size_ += data.size();
  if (buffer_.size() + data.size() > kWriteBuffer) {
    MSPROBE_RETURN_IF_ERROR(Flush());
    if (data.size() >= kWriteBuffer) return WriteFully(fd_, data.data(), data.size(), path_);
  }
  buffer_.append(data);
  return Status::Ok();
}

Status AtomicFile::Append(std::span<const std::byte> data) {
  return Append(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
}

Status AtomicFile::Flush() {
  const Status status = WriteFully(fd_, buffer_.data(), buffer_.size(), path_);
  buffer_.clear();
  return status;
}

Status AtomicFile::Commit(bool replace) {
  MSPROBE_RETURN_IF_ERROR(Flush());
  if (::close(std::exchange(fd_, -1)) != 0) {
    return IoError("cannot write the file", errno, path_.string());
  }
  if (replace) {
    if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
      return IoError("cannot give the file its name", errno, path_.string());
    }
  } else {
    const int error_number = NameUnlessTaken(temporary_path_, path_);
    if (error_number == EEXIST) {
      return InvalidArgumentError("the file exists already", "choose another name", path_.string());
    }
    if (error_number != 0) {
      return IoError("cannot give the file its name", error_number, path_.string());
    }
  }
  ForgetTemporary();
  return Status::Ok();
}

Result<std::filesystem::path> AtomicFile::CommitUnique(std::string_view suffix) {
  MSPROBE_RETURN_IF_ERROR(Flush());
  if (::close(std::exchange(fd_, -1)) != 0) {
    return IoError("cannot write the file", errno, path_.string());
  }
  const std::string name = path_.string();
  if (!name.ends_with(suffix)) suffix = {};
  const std::string stem = name.substr(0, name.size() - suffix.size());
  std::filesystem::path target = path_;
  for (uint64_t number = 1;; ++number) {
    const int error_number = NameUnlessTaken(temporary_path_, target);
    if (error_number == 0) break;
    if (error_number != EEXIST) {
      return IoError("cannot give the file its name", error_number, target.string());
    }
    target = stem + "_" + std::to_string(number);
    target += suffix;
  }
  ForgetTemporary();
  return target;
}

void AtomicFile::Discard() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  ForgetTemporary();
}

void AtomicFile::ForgetTemporary() {
  temporary_path_.clear();
  ForgetTemporaryFile(std::exchange(temporary_slot_, kNoTemporaryFile));
}

Status ReadError(std::string fact, int error_number, const std::filesystem::path& path) {
  Status error = IoError(std::move(fact), error_number, path.string());
  switch (error_number) {
    case EACCES:
    case EPERM: return InvalidArgumentError(error.fact(), "allow reading it", path.string());
    case ELOOP:
    case ENAMETOOLONG: return InvalidArgumentError(error.fact(), "check the path", path.string());
    default: return error;
  }
}

Result<std::string> ReadSmallFile(const std::filesystem::path& path, size_t limit) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return OpenError(path);
  size_t size = 0;
  MSPROBE_RETURN_IF_ERROR(CheckRegular(fd.get(), path, &size));
  if (size > limit) {
    return LimitExceededError(
        "file of " + std::to_string(size) + " bytes, the limit is " + std::to_string(limit),
        "check that this is the right file", path.string());
  }
  std::string text(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(fd.get(), text.data() + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError("cannot read the file", errno, path.string());
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  text.resize(done);
  return text;
}

Status CreateDirectories(const std::filesystem::path& path,
                         std::vector<std::filesystem::path>* made) {
  std::filesystem::path built;
  for (const std::filesystem::path& part : path) {
    if (part.empty()) continue;  // behind a last '/'
    built /= part;
    if (::mkdir(built.c_str(), kDirectoryMode) == 0) {
      ::chmod(built.c_str(), kDirectoryMode);
      if (made != nullptr) made->push_back(built);
      continue;
    }
    const int error_number = errno;
    struct stat info{};
    if (::stat(built.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) continue;
      return InvalidArgumentError("a file stands where a directory is needed",
                                  "choose another path or move the file away", built.string());
    }
    const bool refused = errno == EACCES;  // what the link leads to may be there
    if (!refused && ::lstat(built.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
      return InvalidArgumentError(
          "a link that leads nowhere stands where a directory is needed",
          "make the directory that it leads to, remove the link or choose another path",
          built.string());
    }
    return IoError("cannot create the directory", error_number, built.string());
  }
  return Status::Ok();
}

namespace {

/// `write(done)` writes some of what is left after `done` bytes. Returns errno, or 0.
template <class Write>
int RepeatWrite(size_t size, const Write& write) {
  for (size_t done = 0; done < size;) {
    const ssize_t written = write(done);
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

Status WriteResult(int error_number, const std::filesystem::path& path) {
  return error_number == 0 ? Status::Ok()
                           : IoError("cannot write the file", error_number, path.string());
}

}  // namespace

Status WriteFully(int fd, const void* data, size_t size, const std::filesystem::path& path) {
  const char* bytes = static_cast<const char*>(data);
  const auto write = [&](size_t done) { return ::write(fd, bytes + done, size - done); };
  return WriteResult(RepeatWrite(size, write), path);
}

int TryWriteFullyAt(int fd, std::string_view data, uint64_t offset) {
  return RepeatWrite(data.size(), [&](size_t done) {
    return ::pwrite(fd, data.data() + done, data.size() - done, static_cast<off_t>(offset + done));
  });
}

Status WriteFullyAt(int fd, const void* data, size_t size, uint64_t offset,
                    const std::filesystem::path& path) {
  return WriteResult(TryWriteFullyAt(fd, {static_cast<const char*>(data), size}, offset), path);
}

}  // namespace msprobe::base
