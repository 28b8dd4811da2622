#include "dump/rank_dump.h"

#include <sys/stat.h>

#include <string>
#include <utility>

#include "dump/construct_json_reader.h"
#include "dump/dump_json_reader.h"
#include "dump/plain_record.h"
#include "dump/record_reader.h"
#include "dump/stack_json_reader.h"
#include "formats/json/json_tape.h"

namespace msprobe::dump {

namespace {

/// What one needs to know about the first tensors to say what all of them carry.
constexpr size_t kTensorSample = 256;

bool IsRegularFile(const std::filesystem::path& path, bool* exists) {
  struct stat info{};
  // lstat: the directories may be links, a tensor file that is one could point anywhere.
  *exists = ::lstat(path.c_str(), &info) == 0;
  return *exists && S_ISREG(info.st_mode);
}

Status CheckDirectory(const std::filesystem::path& directory) {
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) {
    return NotFoundError("directory does not exist", "check the path", directory.string());
  }
  if (!S_ISDIR(info.st_mode)) {
    return InvalidArgumentError("a dump is a directory, this is a file",
                                "give the directory that holds dump.json", directory.string());
  }
  return Status::Ok();
}

class MappedRankDump : public RankDump {
 public:
  MappedRankDump(std::filesystem::path directory, DumpJsonReader dump)
      : directory_(std::move(directory)), dump_(std::move(dump)) {}

  Status OpenConstruct(const OpenOptions& options, base::Diagnostics* diagnostics);
  Status OpenStack(bool needed, base::Diagnostics* diagnostics);
  bool is_flat() const { return is_flat_; }
  void MakeFlat(base::Diagnostics* diagnostics);
  void SampleTensors();

  const std::filesystem::path& directory() const override { return directory_; }
  Task task() const override { return dump_.task(); }
  std::string_view task_text() const override { return dump_.task_text(); }
  std::string_view level() const override { return dump_.level(); }
  std::string_view framework() const override { return dump_.framework(); }
  std::string_view dump_data_dir() const override { return dump_.dump_data_dir(); }
  bool has_checksums() const override { return has_checksums_; }
  bool has_statistics() const override { return has_statistics_; }
  uint64_t bytes() const override { return dump_.size() + stack_.size() + construct_.size(); }

  bool is_cut_off() const override { return dump_.is_cut_off(); }
  size_t entry_count() const override { return dump_.entry_count(); }
  std::string_view entry_name(EntryId entry) const override { return dump_.name(entry); }
  EntryId Find(std::string_view name) const override { return dump_.Find(name); }
  Status Read(EntryId entry, Record* record) const override;

  std::span<const ConstructEdge> construct() const override {
    return is_flat_ ? flat_ : construct_.edges();
  }
  bool has_micro_steps() const override { return construct_.has_micro_steps(); }
  void ForgetConstruct() override {
    construct_.ForgetEdges();
    flat_ = std::vector<ConstructEdge>();
  }

  size_t stack_name_count() const override { return stack_.name_count(); }
  std::string_view stack_name(size_t index) const override { return stack_.name(index); }
  StackId FindStack(std::string_view name) const override { return stack_.Find(name); }
  std::vector<std::string> StackFrames(StackId stack) const override {
    return stack_.Frames(stack);
  }
  std::string InnermostFrame(StackId stack) const override { return stack_.InnermostFrame(stack); }
  Result<std::filesystem::path> TensorPath(std::string_view data_name) const override;

 private:
  Status ReadError(EntryId entry, const Status& cause, size_t offset) const;

  std::filesystem::path directory_;
  DumpJsonReader dump_;
  StackJsonReader stack_;
  ConstructJsonReader construct_;
  bool is_flat_ = false;
  std::vector<ConstructEdge> flat_;  ///< in place of a hierarchy that was not collected
  bool has_checksums_ = false;
  bool has_statistics_ = false;
};

void MappedRankDump::MakeFlat(base::Diagnostics* diagnostics) {
  for (EntryId entry = 0; entry < entry_count(); ++entry) flat_.push_back({entry_name(entry), {}});
  // Calls without a record: those that recomputation begins and leaves early.
  for (size_t i = 0; i < stack_.name_count(); ++i) {
    if (dump_.Find(stack_.name(i)) == kNoEntry) flat_.push_back({stack_.name(i), {}});
  }
  diagnostics->Add(base::DiagnosticKind::kNote,
                   InvalidArgumentError("the dump has no hierarchy: its calls are compared side by "
                                        "side, without modules",
                                        "collect with level L0 or mix to see where they belong",
                                        directory_.string()));
}

Status MappedRankDump::OpenConstruct(const OpenOptions& options, base::Diagnostics* diagnostics) {
  const bool needed = options.need_construct;
  auto construct = ConstructJsonReader::Open(directory_, diagnostics);
  if (!construct.ok()) {
    const bool missing = construct.status().code() == StatusCode::kNotFound;
    is_flat_ = missing && options.flat_if_none && entry_count() > 0;
    return missing && (is_flat_ || !needed) ? Status::Ok() : std::move(construct).status();
  }
  construct_ = std::move(construct).value();
  const bool collects_none = level() == "L1" && !construct_.is_damaged();
  is_flat_ =
      options.flat_if_none && collects_none && construct_.edges().empty() && entry_count() > 0;
  if (!needed || is_flat_ || !construct_.edges().empty()) return Status::Ok();
  if (construct_.is_damaged()) {
    return CorruptError("construct.json has no whole record", "collect again", construct_.path());
  }
  const bool should_have_some = level() == "L0" || level() == "mix";
  return InvalidArgumentError(
      "construct.json is empty",
      should_have_some ? "collect again: nothing was recorded, or it is lost"
                       : "collect with level L0 or mix; msprobe compare takes it as it is",
      construct_.path());
}

Status MappedRankDump::OpenStack(bool needed, base::Diagnostics* diagnostics) {
  auto stack = StackJsonReader::Open(directory_, diagnostics);
  if (!stack.ok()) {
    const bool missing = stack.status().code() == StatusCode::kNotFound;
    return missing && !needed ? Status::Ok() : std::move(stack).status();
  }
  stack_ = std::move(stack).value();
  return Status::Ok();
}

/// All tensors of a dump carry the same kind of summary, but some (empty, meta) hold nulls: a
/// sample says enough once one of them has numbers or a checksum.
void MappedRankDump::SampleTensors() {
  if (dump_.task() == Task::kStructure) return;
  size_t tensors = 0;
  Record record;
  for (EntryId entry = 0; entry < dump_.entry_count(); ++entry) {
    if (has_checksums_ && has_statistics_) return;
    if (tensors >= kTensorSample && (has_checksums_ || has_statistics_)) return;
    if (!Read(entry, &record).ok()) continue;  // reported by whoever reads the record
    for (const Value& value : record.values) {
      if (value.kind != ValueKind::kTensor) continue;
      ++tensors;
      has_checksums_ |= !value.md5.empty();
      has_statistics_ |= value.max.has_number() || value.norm.has_number();
    }
  }
}

Status MappedRankDump::Read(EntryId entry, Record* record) const {
  thread_local formats::JsonTape tape;
  if (entry >= dump_.entry_count()) return InternalError("no such entry in dump.json");
  const std::string_view name = dump_.name(entry);
  const std::string_view value = dump_.value(entry);
  StartRecord(name, record);
  if (!dump_.holds_values() && ReadPlainRecord(value, record)) return Status::Ok();
  Status status = tape.Parse(value);
  if (!status.ok()) return ReadError(entry, status, tape.error_offset());
  status = dump_.holds_values() ? ReadValueRecord(tape, record) : ReadRecord(name, tape, record);
  return status.ok() ? Status::Ok() : ReadError(entry, status, 0);
}

Status MappedRankDump::ReadError(EntryId entry, const Status& cause, size_t offset) const {
  return Status(cause.code(),
                "the record of " + std::string(dump_.name(entry)) + " is damaged: " + cause.fact() +
                    " at byte " + std::to_string(dump_.value_offset(entry) + offset),
                cause.advice(), dump_.path());
}

Result<std::filesystem::path> MappedRankDump::TensorPath(std::string_view data_name) const {
  auto beside = TensorFileIn(directory_ / kTensorDirectory, data_name);
  if (beside.status().code() == StatusCode::kNotFound && !dump_.dump_data_dir().empty()) {
    auto recorded = TensorFileIn(dump_.dump_data_dir(), data_name);
    if (recorded.status().code() != StatusCode::kNotFound) return recorded;
  }
  return beside;
}

}  // namespace

Result<std::filesystem::path> TensorFileIn(const std::filesystem::path& directory,
                                           std::string_view data_name) {
  const bool refused = data_name.empty() || data_name == "." || data_name == ".." ||
                       data_name.find('/') != std::string_view::npos ||
                       data_name.find('\0') != std::string_view::npos;
  if (refused) {
    return InvalidArgumentError(std::string(data_name) + " cannot be the name of a tensor file",
                                "collect again", directory.string());
  }
  std::filesystem::path path = directory / data_name;
  bool exists = false;
  if (IsRegularFile(path, &exists)) return path;
  if (exists) {
    return InvalidArgumentError("not a regular file",
                                "put the tensor file itself there, no link and no directory",
                                path.string());
  }
  return NotFoundError("the tensor file is missing", "copy dump_tensor_data along with dump.json",
                       path.string());
}

Result<std::unique_ptr<RankDump>> RankDump::Open(const std::filesystem::path& directory,
                                                 const OpenOptions& options,
                                                 base::Diagnostics* diagnostics) {
  MSPROBE_RETURN_IF_ERROR(CheckDirectory(directory));
  MSPROBE_ASSIGN_OR_RETURN(DumpJsonReader reader, DumpJsonReader::Open(directory, diagnostics));
  // Who does without construct.json takes values, too.
  if (options.need_construct && reader.holds_values()) {
    return InvalidArgumentError("the dump is of level debug: it holds values, but no calls",
                                "collect with level L0 or mix; inspect and query read debug.json",
                                reader.path());
  }
  auto dump = std::make_unique<MappedRankDump>(directory, std::move(reader));
  MSPROBE_RETURN_IF_ERROR(dump->OpenConstruct(options, diagnostics));
  MSPROBE_RETURN_IF_ERROR(dump->OpenStack(options.need_stack && !dump->is_flat(), diagnostics));
  if (dump->is_flat()) dump->MakeFlat(diagnostics);
  dump->SampleTensors();
  return std::unique_ptr<RankDump>(std::move(dump));
}

}  // namespace msprobe::dump
