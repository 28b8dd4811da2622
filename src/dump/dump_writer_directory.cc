#include "dump/dump_writer_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/numbers.h"
#include "msprobe/dump_writer.h"

namespace msprobe::dump {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kUnitFiles = {
    "dump.json",   "stack.json",          "construct.json",  "debug.json",
    "ledger.json", "dump_error_info.log", "dump_tensor_data"};

bool HoldsDump(const fs::path& directory) {
  return std::any_of(kUnitFiles.begin(), kUnitFiles.end(), [&](std::string_view name) {
    std::error_code error;
    return fs::exists(fs::symlink_status(directory / name, error));
  });
}

bool IsBeingWritten(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

/// Also what a kill has left of one, as "dump.json.tmp41_2".
bool IsUnitFile(std::string_view name) {
  return std::any_of(kUnitFiles.begin(), kUnitFiles.end(), [name](std::string_view file) {
    return name.starts_with(file) &&
           (name.size() == file.size() || name.substr(file.size()).starts_with(".tmp"));
  });
}

Status RemoveDump(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (IsUnitFile(entry->path().filename().string())) files.push_back(entry->path());
  }
  if (error) {
    return IoError("cannot list the files of the earlier run", error.value(), directory.string());
  }
  for (const fs::path& file : files) {
    fs::remove_all(file, error);
    if (error) {
      return IoError("cannot remove a file of the earlier run", error.value(), file.string());
    }
  }
  return Status::Ok();
}

Status CheckEarlierRun(const fs::path& directory, bool overwrite) {
  if (!HoldsDump(directory)) return Status::Ok();
  if (IsBeingWritten(directory / "dump.json") || IsBeingWritten(directory / "debug.json")) {
    return InvalidArgumentError("another dump is being written to this directory",
                                "give each process its own rank or dump_path", directory.string());
  }
  if (overwrite) return RemoveDump(directory);
  return InvalidArgumentError("the directory holds files of an earlier run",
                              "choose another dump_path or set overwrite: true",
                              directory.string());
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
    if (!name.starts_with(kPrefix) || !HoldsDump(entry->path())) continue;
    count += base::ParseUnsigned(std::string_view(name).substr(kPrefix.size())).has_value();
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
