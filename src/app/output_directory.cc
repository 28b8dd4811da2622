#include "app/output_directory.h"

#include <unistd.h>

#include <cerrno>

#include "app/graph_plan.h"
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
  if (!created.ok()) return WithAdvice(std::move(created), "choose another directory with -o");
  // Hours of comparing must not end at a directory that was closed from the start.
  if (::access(output.c_str(), W_OK | X_OK) != 0) {
    return WithAdvice(IoError("cannot write to the output directory", errno, output.string()),
                      "choose another directory with -o");
  }
  return Status::Ok();
}

}  // namespace msprobe::app
