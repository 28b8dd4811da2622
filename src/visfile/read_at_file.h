#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "msprobe/status.h"

namespace msprobe::visfile {

/// An open file that is read piece by piece. Unlike with a mapping, a file that shrinks meanwhile
/// is an error instead of a crash. Thread-safe.
class ReadAtFile {
 public:
  ReadAtFile() = default;
  ReadAtFile(const ReadAtFile&) = delete;
  ReadAtFile& operator=(const ReadAtFile&) = delete;
  ReadAtFile(ReadAtFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  ReadAtFile& operator=(ReadAtFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~ReadAtFile();

  static Result<ReadAtFile> Open(const std::filesystem::path& path);
  /// Exactly `size` bytes. Errors: Corrupt (the file has become shorter), Io.
  Result<std::string> Read(uint64_t offset, size_t size) const;

 private:
  int fd_ = -1;
  std::filesystem::path path_;
};

}  // namespace msprobe::visfile
