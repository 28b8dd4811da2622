#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_arena.h"
#include "dump/dump_contents.h"
#include "dump/json_file.h"
#include "dump/name_index.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// dump.json, or the debug.json that level debug writes instead, mapped: its header, and where each
/// entry of "data" stands.
class DumpJsonReader {
 public:
  static Result<DumpJsonReader> Open(const std::filesystem::path& directory,
                                     base::Diagnostics* diagnostics);

  /// It is a debug.json: an entry is a value that somebody saved, not a call.
  bool holds_values() const { return holds_values_; }
  /// It ends inside "data", or before the braces that close it: records are lost.
  bool is_cut_off() const { return is_cut_off_; }
  Task task() const { return task_; }
  std::string_view task_text() const { return task_text_; }
  std::string_view level() const { return level_; }
  std::string_view framework() const { return framework_; }
  std::string_view dump_data_dir() const { return dump_data_dir_; }

  uint64_t size() const { return file_.size(); }
  std::string path() const { return file_.path(); }
  size_t entry_count() const { return entries_.size(); }
  /// Of a saved value without the ".debug" at its end.
  std::string_view name(EntryId id) const { return {entries_[id].name, entries_[id].name_size}; }
  std::string_view value(EntryId id) const { return {entries_[id].value, entries_[id].value_size}; }
  uint64_t value_offset(EntryId id) const {
    return static_cast<uint64_t>(entries_[id].value - file_.text().data());
  }
  EntryId Find(std::string_view name) const;

 private:
  struct Entry {
    const char* name;
    const char* value;
    uint32_t name_size;
    uint32_t value_size;  ///< UINT32_MAX for anything longer, which no parser takes
  };

  Status ReadTopLevel(base::Diagnostics* diagnostics);
  Status ReadData(formats::JsonScanner* scanner, bool* torn);
  Status AddEntry(std::string_view raw_name, std::string_view value);
  void TakeHeaderValue(std::string_view key, std::string_view value);
  void IndexNames(base::Diagnostics* diagnostics);
  void ReportRepeated(EntryId first, size_t left_out, base::Diagnostics* diagnostics) const;
  Status CheckTask();

  JsonFile file_;
  Task task_ = Task::kOther;
  std::string_view task_text_;
  std::string_view level_;
  std::string_view framework_;
  std::string_view dump_data_dir_;
  bool holds_values_ = false;
  bool is_cut_off_ = false;
  bool has_data_ = false;
  std::vector<Entry> entries_;
  NameIndex index_;
  base::StringArena arena_;
};

}  // namespace msprobe::dump
