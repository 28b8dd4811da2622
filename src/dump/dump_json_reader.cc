#include "dump/dump_json_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace msprobe::dump {

namespace {

using Step = formats::JsonScanner::Step;

constexpr size_t kMaxNameBytes = size_t{1} << 20;
/// Ends the names in a debug.json, but for those that msprobe wrote before it took this over.
constexpr std::string_view kSavedValue = ".debug";

struct TaskName {
  std::string_view text;
  Task task;
};
constexpr std::array<TaskName, 6> kTasks = {{{"statistics", Task::kStatistics},
                                             {"tensor", Task::kTensor},
                                             {"structure", Task::kStructure},
                                             {"tensor_list", Task::kTensor},
                                             {"overflow_check", Task::kOther},
                                             {"exception_dump", Task::kOther}}};

}  // namespace

Result<DumpJsonReader> DumpJsonReader::Open(const std::filesystem::path& directory,
                                            base::Diagnostics* diagnostics) {
  DumpJsonReader reader;
  auto file = JsonFile::Open(directory, "dump.json");
  if (file.status().code() == StatusCode::kNotFound) {
    auto debug = JsonFile::Open(directory, "debug.json");
    reader.holds_values_ = debug.status().code() != StatusCode::kNotFound;
    if (reader.holds_values_) file = std::move(debug);
  }
  MSPROBE_ASSIGN_OR_RETURN(reader.file_, std::move(file));
  MSPROBE_RETURN_IF_ERROR(reader.ReadTopLevel(diagnostics));
  MSPROBE_RETURN_IF_ERROR(reader.CheckTask());
  reader.IndexNames(diagnostics);
  reader.file_.ReportBrokenNames(diagnostics);
  return reader;
}

Status DumpJsonReader::ReadTopLevel(base::Diagnostics* diagnostics) {
  formats::JsonScanner scanner = file_.Scan();
  bool torn = false;
  Step step = scanner.Next();
  for (; step == Step::kMember; step = scanner.Next()) {
    if (scanner.raw_key() == "data") {
      if (scanner.value_start() != '{') {
        return InvalidArgumentError("this is not a " + file_.name() + ": \"data\" is not an object",
                                    "give a directory that the collection has written",
                                    file_.path());
      }
      if (has_data_) {
        diagnostics->Add(base::DiagnosticKind::kNote,
                         file_.Corrupt("has \"data\" more than once: the last one counts"));
      }
      has_data_ = true;
      MSPROBE_RETURN_IF_ERROR(ReadData(&scanner, &torn));
      if (torn) break;
      continue;
    }
    std::string_view value;
    const std::string_view key = scanner.raw_key();
    step = scanner.TakeValue(&value);
    if (step != Step::kMember) break;
    TakeHeaderValue(key, value);
  }
  if (step == Step::kGarbage) return file_.GarbageError(scanner.position());
  if (step == Step::kEnd) {
    MSPROBE_RETURN_IF_ERROR(file_.CheckEnd(scanner.position()));
    if (!has_data_) {
      return file_.Corrupt("has no \"data\": it is not the dump of a model");
    }
    return Status::Ok();
  }
  is_cut_off_ = true;
  file_.ReportTorn(scanner.whole_end(), diagnostics);
  return Status::Ok();
}

Status DumpJsonReader::ReadData(formats::JsonScanner* scanner, bool* torn) {
  entries_.clear();
  formats::JsonScanner data = scanner->Enter();
  Step step = data.Next();
  for (; step == Step::kMember; step = data.Next()) {
    const std::string_view name = data.raw_key();
    std::string_view value;
    step = data.TakeValue(&value);
    if (step != Step::kMember) break;
    MSPROBE_RETURN_IF_ERROR(AddEntry(name, value));
  }
  if (step == Step::kGarbage) return file_.GarbageError(data.position());
  *torn = step == Step::kTorn;
  scanner->Leave(data);
  return Status::Ok();
}

Status DumpJsonReader::AddEntry(std::string_view raw_name, std::string_view value) {
  if (raw_name.size() > kMaxNameBytes || entries_.size() == kNoEntry) {
    return LimitExceededError(file_.name() + " has a name of " + std::to_string(raw_name.size()) +
                                  " bytes, or more records than can be counted",
                              "check that this is the right file", file_.path());
  }
  std::string_view name = file_.Name(raw_name, &arena_);
  if (holds_values_ && name.ends_with(kSavedValue)) name.remove_suffix(kSavedValue.size());
  // Their sizes follow. NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
  entries_.push_back({name.data(), value.data(), static_cast<uint32_t>(name.size()),
                      static_cast<uint32_t>(std::min<size_t>(value.size(), UINT32_MAX))});
  return Status::Ok();
}

void DumpJsonReader::TakeHeaderValue(std::string_view key, std::string_view value) {
  if (value.front() != '"') return;  // dump_data_dir may be null
  const std::string_view text = file_.Name(value.substr(1, value.size() - 2), &arena_);
  if (key == "task") task_text_ = text;
  if (key == "level") level_ = text;
  if (key == "framework") framework_ = text;
  if (key == "dump_data_dir") dump_data_dir_ = text;
}

Status DumpJsonReader::CheckTask() {
  if (task_text_.empty()) return file_.Corrupt("does not say its \"task\"");
  std::string known;
  for (const TaskName& name : kTasks) {
    if (name.text == task_text_) {
      task_ = name.task;
      return Status::Ok();
    }
    known.append(known.empty() ? "" : ", ").append(name.text);
  }
  return UnsupportedError(
      file_.name() + " has the unknown task \"" + std::string(task_text_) + "\"",
      "known tasks: " + known, file_.path());
}

void DumpJsonReader::IndexNames(base::Diagnostics* diagnostics) {
  index_ = NameIndex(entries_.size());
  const auto name_of = [this](EntryId id) { return name(id); };
  EntryId kept = 0;
  EntryId first_repeated = kNoEntry;
  for (const Entry& entry : entries_) {
    entries_[kept] = entry;
    const EntryId earlier = index_.Insert(name(kept), kept, name_of);
    if (earlier == NameIndex::kNone) {
      ++kept;
      continue;
    }
    // As Python reads it: the place of the first, the value of the last.
    entries_[earlier] = entry;
    if (first_repeated == kNoEntry) first_repeated = earlier;
  }
  const size_t left_out = entries_.size() - kept;
  entries_.resize(kept);
  entries_.shrink_to_fit();
  if (left_out > 0) ReportRepeated(first_repeated, left_out, diagnostics);
}

void DumpJsonReader::ReportRepeated(EntryId first, size_t left_out,
                                    base::Diagnostics* diagnostics) const {
  diagnostics->Add(
      base::DiagnosticKind::kNote,
      file_.Corrupt("records " + std::string(name(first)) +
                    " more than once: the last record of a name counts, " +
                    std::to_string(left_out) + (left_out == 1 ? " is left out" : " are left out")));
}

EntryId DumpJsonReader::Find(std::string_view name) const {
  return index_.Find(name, [this](EntryId id) { return this->name(id); });
}

}  // namespace msprobe::dump
