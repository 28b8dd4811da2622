#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "msprobe/status.h"

namespace msprobe::visfile {

/// Appends pages to a SQLite file that nobody has open meanwhile. Page numbers count from 1.
class PageFile {
 public:
  static constexpr size_t kPageSize = 65536;  ///< the file's "PRAGMA page_size"

  PageFile() = default;
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  PageFile(PageFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), pages_(other.pages_), shown_(std::move(other.shown_)) {}
  PageFile& operator=(PageFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(pages_, other.pages_);
    std::swap(shown_, other.shown_);
    return *this;
  }
  ~PageFile();

  /// `path` holds whole pages, at least one. Errors name `shown`.
  static Result<PageFile> Open(const std::filesystem::path& path,
                               const std::filesystem::path& shown);

  /// Writes a page behind all others and returns its number.
  Result<uint32_t> Append(const char* page);
  Status Overwrite(uint32_t number, const char* page);
  /// Tells the file's header how many pages there are. Nothing may be appended afterwards.
  Status Finish();

 private:
  Status Write(uint64_t offset, const char* data, size_t size);

  int fd_ = -1;
  uint32_t pages_ = 0;
  std::filesystem::path shown_;
};

}  // namespace msprobe::visfile
