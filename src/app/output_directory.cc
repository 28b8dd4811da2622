#include "app/output_directory.h"

#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/file.h"

namespace msprobe::app {

OutputDirectory::~OutputDirectory() {
  // rmdir(2) leaves alone what has something in it.
  for (auto directory = made_.rbegin(); directory != made_.rend(); ++directory) {
    if (::rmdir(directory->c_str()) != 0) return;
  }
}

Status OutputDirectory::Prepare(const std::filesystem::path& output) {
  Status created = base::CreateDirectories(output, &made_);
  if (!created.ok()) return std::move(created).WithAdvice("choose another directory with -o");
  // Hours of comparing must not end at a directory that was closed from the start.
  if (::access(output.c_str(), W_OK | X_OK) != 0) {
    return IoError("cannot write to the output directory", errno, output.string())
        .WithAdvice("choose another directory with -o");
  }
  return Status::Ok();
}

std::string TimeStamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d%H%M%S", &parts);
  return text;
}

}  // namespace msprobe::app
