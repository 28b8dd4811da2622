#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_files.h"
#include "msprobe/status.h"

namespace msprobe::base {

inline constexpr mode_t kDirectoryMode = 0750;
inline constexpr mode_t kFileMode = 0640;

/// A regular file mapped read-only. At least kPadding readable zero bytes follow the contents, as
/// SIMD parsers need. The mapping does not count as anonymous memory. A file that shrinks while it
/// is mapped is the reader's risk; sizes are taken once, at opening.
class MappedFile {
 public:
  static constexpr size_t kPadding = 64;

  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// Errors: NotFound, InvalidArgument (not a regular file), Io.
  static Result<MappedFile> Open(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  size_t size() const { return size_; }
  /// Tells the kernel that the pages of [offset, offset + length) are not needed any more.
  void Release(size_t offset, size_t length) const;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_size_ = 0;
};

/// Creates a file of its own beside `path`; `temporary` gets its name. Returns the descriptor, or
/// -1 with errno. `slot`, if given, is where it is remembered (temporary_files.h): EINTR once the
/// process ends.
int CreateBeside(const std::filesystem::path& path, mode_t mode, std::filesystem::path* temporary,
                 size_t* slot = nullptr);

/// Writes a file under a temporary name in the same directory and gives it its name in Commit():
/// readers see the whole file or none. Without Commit() the temporary file is removed.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  static Result<AtomicFile> Create(const std::filesystem::path& path, mode_t mode = kFileMode);

  /// Buffered.
  Status Append(std::string_view data);
  Status Append(std::span<const std::byte> data);
  /// Flushes and renames. With `replace` false an existing file is an error (kInvalidArgument).
  Status Commit(bool replace = true);
  /// Commit(false) that takes the next free name on a clash: "_1", "_2" … goes before `suffix`
  /// (which ends the name). Returns the name taken.
  Result<std::filesystem::path> CommitUnique(std::string_view suffix);
  uint64_t size() const { return size_; }
  /// Where the contents lie until Commit(), for libraries that write files by themselves.
  const std::filesystem::path& temporary_path() const { return temporary_path_; }

 private:
  Status Flush();
  void ForgetTemporary();
  void Discard();

  int fd_ = -1;
  uint64_t size_ = 0;
  std::filesystem::path path_;
  std::filesystem::path temporary_path_;
  size_t temporary_slot_ = kNoTemporaryFile;
  std::string buffer_;
};

/// Why something that the user names could not be read: InvalidArgument where its path or its
/// permissions are at fault, else Io.
Status ReadError(std::string fact, int error_number, const std::filesystem::path& path);

/// Reads at most `limit` bytes; a larger file is LimitExceeded. For small files.
Result<std::string> ReadSmallFile(const std::filesystem::path& path, size_t limit);

/// Creates `path` and missing parents with kDirectoryMode; existing directories stay as they are.
/// `made`, if given, gets those that were created, parents first.
Status CreateDirectories(const std::filesystem::path& path,
                         std::vector<std::filesystem::path>* made = nullptr);

/// write(2) until everything is out, repeating after EINTR and short writes.
Status WriteFully(int fd, const void* data, size_t size, const std::filesystem::path& path);
/// The same with pwrite(2); returns errno, or 0. Takes no memory.
int TryWriteFullyAt(int fd, std::string_view data, uint64_t offset);
Status WriteFullyAt(int fd, const void* data, size_t size, uint64_t offset,
                    const std::filesystem::path& path);

}  // namespace msprobe::base
