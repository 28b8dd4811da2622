#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "msprobe/status.h"

namespace msprobe::base {

/// A file without a name, gone with this object: for what would take too much memory.
class ScratchFile {
 public:
  /// What was appended before it was made. Goes away with this object, not with the file.
  class Mapping {
   public:
    Mapping() = default;
    Mapping(const void* data, size_t size) : data_(data), size_(size) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping(Mapping&& other) noexcept { *this = std::move(other); }
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();
    std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

   private:
    const void* data_ = nullptr;
    size_t size_ = 0;
  };

  ScratchFile() = default;
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ScratchFile(ScratchFile&& other) noexcept { *this = std::move(other); }
  ScratchFile& operator=(ScratchFile&& other) noexcept;
  ~ScratchFile();

  /// On the disk that holds `directory`. Errors name `shown`.
  static Result<ScratchFile> Create(const std::filesystem::path& directory,
                                    const std::filesystem::path& shown);

  /// All of it or, with an error, nothing.
  Status Append(std::string_view data);
  uint64_t size() const { return size_; }
  Result<Mapping> Map() const;

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
  std::filesystem::path shown_;
};

}  // namespace msprobe::base
