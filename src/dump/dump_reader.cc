#include "msprobe/dump_reader.h"

#include <utility>

#include "base/diagnostics.h"
#include "dump/rank_dump.h"
#include "formats/tensor_file.h"

namespace msprobe {

namespace {

std::optional<double> Number(const dump::Statistic& statistic) {
  return statistic.has_number() ? std::optional(statistic.number) : std::nullopt;
}

DumpValue::Section SectionOf(dump::Section section) {
  switch (section) {
    case dump::Section::kInput: return DumpValue::Section::kInput;
    case dump::Section::kOutput: return DumpValue::Section::kOutput;
    case dump::Section::kParameter: return DumpValue::Section::kParameter;
  }
  return DumpValue::Section::kInput;
}

DumpValue Convert(const dump::Record& record, const dump::Value& from) {
  DumpValue value;
  value.section = SectionOf(from.section);
  value.key = from.key;
  value.type = from.type;
  value.value = from.value_text;
  if (from.kind != dump::ValueKind::kTensor) return value;
  value.is_tensor = true;
  value.dtype = from.dtype;
  value.dtype_text = from.dtype_text;
  const auto* shape = record.extents.data() + from.shape_begin;
  value.shape.assign(shape, shape + from.shape_size);
  value.max = Number(from.max);
  value.min = Number(from.min);
  value.mean = Number(from.mean);
  value.norm = Number(from.norm);
  value.md5 = from.md5;
  value.data_name = from.data_name;
  return value;
}

}  // namespace

class DumpReader::Impl {
 public:
  Impl(std::unique_ptr<dump::RankDump> opened, const base::Diagnostics& diagnostics)
      : dump(std::move(opened)) {
    for (base::Diagnostic& entry : diagnostics.entries()) {
      warnings.push_back(std::move(entry.status));
    }
  }
  std::unique_ptr<dump::RankDump> dump;
  std::vector<Status> warnings;
};

struct DumpReader::SavedTensor::Impl {
  formats::StoredTensor stored;
};

DumpReader::SavedTensor::SavedTensor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DumpReader::SavedTensor::SavedTensor(SavedTensor&&) noexcept = default;
DumpReader::SavedTensor& DumpReader::SavedTensor::operator=(SavedTensor&&) noexcept = default;
DumpReader::SavedTensor::~SavedTensor() = default;

TensorView DumpReader::SavedTensor::view() const { return impl_->stored.view(); }

DumpReader::DumpReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DumpReader::~DumpReader() = default;

Result<std::unique_ptr<DumpReader>> DumpReader::Open(const std::string& directory) {
  dump::OpenOptions options;
  options.need_construct = false;
  options.need_stack = false;
  base::Diagnostics diagnostics;
  MSPROBE_ASSIGN_OR_RETURN(auto opened, dump::RankDump::Open(directory, options, &diagnostics));
  return std::unique_ptr<DumpReader>(
      new DumpReader(std::make_unique<Impl>(std::move(opened), diagnostics)));
}

const std::vector<Status>& DumpReader::warnings() const { return impl_->warnings; }

std::string_view DumpReader::task() const { return impl_->dump->task_text(); }
std::string_view DumpReader::level() const { return impl_->dump->level(); }
std::string_view DumpReader::framework() const { return impl_->dump->framework(); }

size_t DumpReader::size() const { return impl_->dump->entry_count(); }

std::string_view DumpReader::name(size_t entry) const {
  return impl_->dump->entry_name(static_cast<dump::EntryId>(entry));
}

size_t DumpReader::Find(std::string_view name) const {
  const dump::EntryId entry = impl_->dump->Find(name);
  return entry == dump::kNoEntry ? kNone : entry;
}

Result<DumpEntry> DumpReader::Read(size_t entry) const {
  if (entry >= size()) return InvalidArgumentError("there is no such entry");
  dump::Record record;
  MSPROBE_RETURN_IF_ERROR(impl_->dump->Read(static_cast<dump::EntryId>(entry), &record));
  DumpEntry result;
  result.name = name(entry);
  for (const dump::Value& value : record.values) result.values.push_back(Convert(record, value));
  const dump::StackId stack = impl_->dump->FindStack(result.name);
  if (stack != dump::kNoStack) result.stack = impl_->dump->StackFrames(stack);
  return result;
}

Result<DumpReader::SavedTensor> DumpReader::OpenTensor(const DumpValue& value) const {
  if (value.data_name.empty()) {
    return NotFoundError("the values of " + value.key + " were not saved",
                         "collect with task tensor");
  }
  MSPROBE_ASSIGN_OR_RETURN(const auto path, impl_->dump->TensorPath(value.data_name));
  auto stored = formats::OpenTensorFile(path);
  if (!stored.ok()) return std::move(stored).status().WithPath(path.string());
  return SavedTensor(std::make_unique<SavedTensor::Impl>(std::move(stored).value()));
}

}  // namespace msprobe
