#include "base/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/file.h"

namespace msprobe::base {

ScratchFile::Mapping& ScratchFile::Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

ScratchFile::Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(const_cast<void*>(data_), size_);
}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(shown_, other.shown_);
  return *this;
}

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<ScratchFile> ScratchFile::Create(const std::filesystem::path& directory,
                                        const std::filesystem::path& shown) {
  ScratchFile file;
  file.shown_ = shown;
  const std::filesystem::path place = directory.empty() ? "." : directory;
  file.fd_ = ::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file.fd_ < 0) {  // not every file system has files without a name
    std::string name = (place / ".msprobe-XXXXXX").string();
    file.fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (file.fd_ >= 0) ::unlink(name.c_str());
  }
  if (file.fd_ < 0) return IoError("cannot create a temporary file", errno, shown.string());
  return file;
}

Status ScratchFile::Append(std::string_view data) {
  Status status = WriteFully(fd_, data.data(), data.size(), shown_);
  if (status.ok()) {
    size_ += data.size();
  } else {  // a part may be there, and what is mapped must be there: to read past the end kills
    [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(size_));
    ::lseek(fd_, static_cast<off_t>(size_), SEEK_SET);
  }
  return status;
}

Result<ScratchFile::Mapping> ScratchFile::Map() const {
  if (size_ == 0) return Mapping();
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0);
  if (mapped == MAP_FAILED) {
    return IoError("cannot read a temporary file", errno, shown_.string());
  }
  return Mapping(mapped, size_);
}

}  // namespace msprobe::base
