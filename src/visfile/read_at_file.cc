#include "visfile/read_at_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace msprobe::visfile {

ReadAtFile::~ReadAtFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<ReadAtFile> ReadAtFile::Open(const std::filesystem::path& path) {
  ReadAtFile file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd_ < 0) return IoError("cannot open the file", errno, path.string());
  return file;
}

Result<std::string> ReadAtFile::Read(uint64_t offset, size_t size) const {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError("cannot read the file", errno, path_.string());
    if (got == 0) {
      return CorruptError("the file has changed since it was opened", "open it again",
                          path_.string());
    }
    done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace msprobe::visfile
