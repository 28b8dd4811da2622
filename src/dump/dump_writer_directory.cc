#include "dump/dump_writer_directory.h"

#include <fcntl.h>
#include <signal.h>
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

struct UnitFiles {
  std::vector<fs::path> recorded;
  std::vector<fs::path> temporary;
};

/// What collecting has left in the directory of a unit. Copies that a repair has kept stay.
Result<UnitFiles> FindFiles(const fs::path& directory) {
  UnitFiles files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const UnitFile kind = KindOfUnitFile(entry->path().filename().string());
    std::error_code unknown;
    if (kind == UnitFile::kRecorded) files.recorded.push_back(entry->path());
    if (kind == UnitFile::kTemporary && entry->is_regular_file(unknown)) {
      files.temporary.push_back(entry->path());
    }
  }
  if (!error || error == std::errc::no_such_file_or_directory ||
      error == std::errc::not_a_directory) {
    return files;
  }
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
  MSPROBE_ASSIGN_OR_RETURN(UnitFiles files, FindFiles(directory));
  if (IsBeingWritten(directory / "dump.json") || IsBeingWritten(directory / "debug.json") ||
      std::ranges::any_of(files.temporary, IsBeingWritten)) {
    return InvalidArgumentError("another dump is being written to this directory",
                                "give each process its own rank or dump_path", directory.string());
  }
  if (!files.recorded.empty() && !overwrite) {
    return InvalidArgumentError("the directory holds files of an earlier run",
                                "choose another dump_path or set overwrite: true",
                                directory.string());
  }
  std::vector<fs::path> removed = std::move(files.recorded);
  // Nothing is recorded there. Another process that begins may have named one meanwhile.
  removed.insert(removed.end(), files.temporary.begin(), files.temporary.end());
  for (const fs::path& file : removed) {
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

/// Also true where it is another's by now: then its dump stays.
bool IsRunning(uint64_t process) {
  return process <= INT32_MAX && (::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
}

/// How many dumps of other processes lie in the directory of a step. Those of ended ones are
/// removed where the user wants earlier runs replaced.
Result<size_t> OtherProcesses(const fs::path& step, bool overwrite) {
  constexpr std::string_view kPrefix = "proc";
  size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(step, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const auto process = base::ParseUnsigned(std::string_view(name).substr(kPrefix.size()));
    if (!process) continue;
    const auto files = FindFiles(entry->path());
    if (!files.ok() || files->recorded.empty()) continue;
    if (!overwrite || IsRunning(*process)) {
      ++count;
      continue;
    }
    MSPROBE_RETURN_IF_ERROR(CheckEarlierRun(entry->path(), true));
    std::error_code not_empty;
    fs::remove(entry->path(), not_empty);  // what the user has put there stays
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
    Status checked = dump::CheckEarlierRun(step / dump::UnitName(rank), overwrite);
    // What cannot be read, of another user, matters only when this run comes to that step.
    const bool may_wait = !overwrite && checked.code() == StatusCode::kIo;
    if (!checked.ok() && !may_wait) return checked;
    if (rank) continue;
    MSPROBE_ASSIGN_OR_RETURN(const size_t others, dump::OtherProcesses(step, overwrite));
    processes += others;
  }
  warning->clear();
  if (processes > 0) {
    *warning = "dump_path holds " + std::to_string(processes) +
               (overwrite ? " proc<PID> dumps of other processes that still run: "
                          : " proc<PID> dumps of other runs, and dumps side by side cannot be "
                            "compared as one; set overwrite: true to replace them: ") +
               dump_path;
  }
  return Status::Ok();
}

}  // namespace msprobe
