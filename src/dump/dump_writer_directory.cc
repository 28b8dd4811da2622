#include "dump/dump_writer_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/numbers.h"
#include "dump/layout.h"
#include "msprobe/dump_writer.h"

namespace msprobe::dump {

namespace {

namespace fs = std::filesystem;

/// What collecting has left in the directory of a unit.
Result<std::vector<fs::path>> UnitFiles(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (IsUnitFile(entry->path().filename().string())) files.push_back(entry->path());
  }
  if (!error || error == std::errc::no_such_file_or_directory) return files;
  return IoError("cannot list the files of the earlier run", error.value(), directory.string());
}

bool IsBeingWritten(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

Status CheckEarlierRun(const fs::path& directory, bool overwrite) {
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<fs::path> files, UnitFiles(directory));
  if (files.empty()) return Status::Ok();
  if (IsBeingWritten(directory / "dump.json") || IsBeingWritten(directory / "debug.json")) {
    return InvalidArgumentError("another dump is being written to this directory",
                                "give each process its own rank or dump_path", directory.string());
  }
  if (!overwrite) {
    return InvalidArgumentError("the directory holds files of an earlier run",
                                "choose another dump_path or set overwrite: true",
                                directory.string());
  }
  for (const fs::path& file : files) {
    std::error_code error;
    fs::remove_all(file, error);
    if (error) {
      return IoError("cannot remove a file of the earlier run", error.value(), file.string());
    }
  }
  return Status::Ok();
}

std::string UnitName(std::optional<int64_t> rank) {
  return rank ? "rank" + std::to_string(*rank) : "proc" + std::to_string(::getpid());
}

/// The step<N> directories in numeric order.
std::vector<fs::path> StepDirectories(const fs::path& root) {
  constexpr std::string_view kPrefix = "step";
  std::vector<std::pair<uint64_t, fs::path>> steps;
  std::error_code error;
  for (fs::directory_iterator entry(root, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    if (const auto step = base::ParseUnsigned(std::string_view(name).substr(kPrefix.size()))) {
      steps.emplace_back(*step, entry->path());
    }
  }
  std::sort(steps.begin(), steps.end());
  std::vector<fs::path> paths;
  paths.reserve(steps.size());
  for (auto& [step, path] : steps) paths.push_back(std::move(path));
  return paths;
}

size_t CountProcesses(const fs::path& step) {
  constexpr std::string_view kPrefix = "proc";
  size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(step, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    if (!base::ParseUnsigned(std::string_view(name).substr(kPrefix.size()))) continue;
    const auto files = UnitFiles(entry->path());
    count += files.ok() && !files->empty();
  }
  return count;
}

}  // namespace

fs::path UnitDirectory(const std::string& dump_path, int64_t step, std::optional<int64_t> rank) {
  return fs::path(dump_path) / ("step" + std::to_string(step)) / UnitName(rank);
}

Status ClaimDirectory(const fs::path& directory, bool overwrite) {
  MSPROBE_RETURN_IF_ERROR(base::CreateDirectories(directory.parent_path()));
  if (::mkdir(directory.c_str(), base::kDirectoryMode) == 0) {
    ::chmod(directory.c_str(), base::kDirectoryMode);
    return Status::Ok();  // it is new: nothing lies there
  }
  MSPROBE_RETURN_IF_ERROR(base::CreateDirectories(directory));
  return CheckEarlierRun(directory, overwrite);
}

}  // namespace msprobe::dump

namespace msprobe {

Status PrepareDumpPath(const std::string& dump_path, std::optional<int64_t> rank, bool overwrite,
                       std::string* warning) {
  size_t processes = 0;
  for (const auto& step : dump::StepDirectories(dump_path)) {
    MSPROBE_RETURN_IF_ERROR(dump::CheckEarlierRun(step / dump::UnitName(rank), overwrite));
    if (!rank) processes += dump::CountProcesses(step);
  }
  warning->clear();
  if (processes > 0) {
    *warning = "dump_path holds " + std::to_string(processes) +
               " proc<PID> dumps of earlier runs; they stay beside the new one: " + dump_path;
  }
  return Status::Ok();
}

}  // namespace msprobe
