#include "visfile/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "visfile/big_endian.h"

namespace msprobe::visfile {

namespace {

/// SQLite locks bytes from here on, and keeps nothing in the page that holds them.
constexpr uint32_t kLockPage = (uint32_t{1} << 30) / PageFile::kPageSize + 1;
constexpr uint64_t kPageCountOffset = 28;

}  // namespace

PageFile::~PageFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<PageFile> PageFile::Open(const std::filesystem::path& path,
                                const std::filesystem::path& shown) {
  PageFile file;
  file.shown_ = shown;
  file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat info{};
  if (file.fd_ < 0 || ::fstat(file.fd_, &info) != 0) {
    return IoError("cannot open the file again", errno, shown.string());
  }
  file.pages_ = static_cast<uint32_t>(static_cast<uint64_t>(info.st_size) / kPageSize);
  return file;
}

Result<uint32_t> PageFile::Append(const char* page) {
  if (++pages_ == kLockPage) ++pages_;
  MSPROBE_RETURN_IF_ERROR(Overwrite(pages_, page));
  return pages_;
}

Status PageFile::Overwrite(uint32_t number, const char* page) {
  return Write(uint64_t{number - 1} * kPageSize, page, kPageSize);
}

Status PageFile::Finish() {
  char count[4];
  StoreBigEndian(pages_, 4, count);
  return Write(kPageCountOffset, count, sizeof(count));
}

Status PageFile::Write(uint64_t offset, const char* data, size_t size) {
  return base::WriteFullyAt(fd_, data, size, offset, shown_);
}

}  // namespace msprobe::visfile
