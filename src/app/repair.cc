#include "app/repair.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/file.h"
#include "dump/json_file.h"
#include "formats/json/json_scanner.h"

namespace msprobe::app {

namespace {

using formats::JsonScanner;
using Step = JsonScanner::Step;

/// Where a torn file is cut, and what closes it again.
struct Cut {
  bool torn = false;
  size_t garbage = 0;  ///< kGarbage: where
  size_t position = 0;
  std::string_view closing;
};

/// Walks one object. On kTorn `cut` is set.
Step WalkMembers(JsonScanner* scanner, std::string_view closing, Cut* cut) {
  for (;;) {
    Step step = scanner->Next();
    std::string_view value;
    if (step == Step::kMember) step = scanner->TakeValue(&value);
    if (step == Step::kMember) continue;
    if (step == Step::kTorn) *cut = {true, 0, scanner->whole_end(), closing};
    if (step == Step::kGarbage) cut->garbage = scanner->position();
    return step;
  }
}

/// dump.json, debug.json: the records are the members of "data".
Step WalkDump(JsonScanner* scanner, Cut* cut) {
  bool has_data = false;
  bool empty = true;
  for (;;) {
    Step step = scanner->Next();
    if (step == Step::kMember && scanner->raw_key() == "data" && scanner->value_start() == '{') {
      has_data = true;
      JsonScanner records = scanner->Enter();
      step = WalkMembers(&records, "\n }\n}", cut);
      if (step != Step::kEnd) return step;
      scanner->Leave(records);
      empty = false;
      continue;
    }
    std::string_view value;
    if (step == Step::kMember) step = scanner->TakeValue(&value);
    if (step == Step::kMember) {
      empty = false;
      continue;
    }
    if (step == Step::kTorn) {
      *cut = {true, 0, scanner->whole_end(),
              has_data ? "\n}" : (empty ? "\n \"data\": {}\n}" : ",\n \"data\": {}\n}")};
    }
    if (step == Step::kGarbage) cut->garbage = scanner->position();
    return step;
  }
}

/// A hard link keeps the bytes under the new name while the repaired file takes the old one.
Result<std::filesystem::path> KeepCopy(const std::filesystem::path& path) {
  for (int serial = 0;; ++serial) {
    std::filesystem::path copy = path;
    copy += serial == 0 ? ".torn" : ".torn_" + std::to_string(serial);
    int error_number = ::link(path.c_str(), copy.c_str()) == 0 ? 0 : errno;
    // Mounted object stores have no hard links.
    if (error_number == EPERM || error_number == EOPNOTSUPP || error_number == ENOSYS) {
      std::error_code error;
      std::filesystem::copy_file(path, copy, error);
      error_number = error.value();
    }
    if (error_number == 0) return copy;
    if (error_number != EEXIST) {
      return IoError("cannot keep the torn file", error_number, copy.string());
    }
  }
}

}  // namespace

Result<RepairResult> RepairJsonFile(const std::filesystem::path& directory, std::string_view name) {
  MSPROBE_ASSIGN_OR_RETURN(const dump::JsonFile file, dump::JsonFile::Open(directory, name));
  JsonScanner scanner = file.Scan();
  Cut cut;
  const Step step = name == "dump.json" || name == "debug.json"
                        ? WalkDump(&scanner, &cut)
                        : WalkMembers(&scanner, "\n}", &cut);
  if (step == Step::kGarbage) return file.GarbageError(cut.garbage);
  RepairResult result;
  if (!cut.torn) return result;

  const std::filesystem::path path = directory / name;
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile repaired, base::AtomicFile::Create(path));
  MSPROBE_RETURN_IF_ERROR(repaired.Append(file.text().substr(0, cut.position)));
  MSPROBE_RETURN_IF_ERROR(repaired.Append(cut.closing));
  MSPROBE_ASSIGN_OR_RETURN(result.kept_copy, KeepCopy(path));
  MSPROBE_RETURN_IF_ERROR(repaired.Commit());
  result.was_torn = true;
  result.bytes_cut = file.text().size() - cut.position;
  return result;
}

}  // namespace msprobe::app
