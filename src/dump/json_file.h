#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/file.h"
#include "base/string_arena.h"
#include "base/truncation_guard.h"
#include "formats/json/json_scanner.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// One of a dump's json files, mapped: text whose first value is an object.
class JsonFile {
 public:
  JsonFile() = default;

  /// Errors: NotFound ("<name> is missing"), Corrupt (empty, no JSON), InvalidArgument (JSON of
  /// another type, not a regular file), Io.
  static Result<JsonFile> Open(const std::filesystem::path& directory, std::string_view name);

  std::string_view text() const { return mapping_.text(); }
  uint64_t size() const { return mapping_.size(); }
  formats::JsonScanner Scan() const { return {text(), begin_}; }

  /// The name that a string, without its quotes, stands for. A bad escape stays as it is written,
  /// bytes that are not UTF-8 become U+FFFD, so that whatever shows names gets text.
  std::string_view Name(std::string_view raw, base::StringArena* arena);
  /// Notes how many names were not UTF-8, if any.
  void ReportBrokenNames(base::Diagnostics* diagnostics) const;

  /// What a scanner's kGarbage at `offset` means, as an error.
  Status GarbageError(size_t offset) const;
  /// Reports that the file ends inside a record and was read up to `whole_end`.
  void ReportTorn(size_t whole_end, base::Diagnostics* diagnostics) const;
  /// Error if anything but white space follows the object, which ended at `end`.
  Status CheckEnd(size_t end) const;
  /// Adds name and path of the file to the fact of an error.
  Status Corrupt(std::string_view fact) const;
  const std::string& name() const { return name_; }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  std::string name_;
  base::MappedFile mapping_;
  base::TruncationGuard guard_;  ///< a viewer reads records long after it was opened
  size_t begin_ = 0;
  uint64_t broken_names_ = 0;
};

}  // namespace msprobe::dump
