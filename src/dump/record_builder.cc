#include "msprobe/record_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/numbers.h"
#include "dump/record_tensor_file.h"
#include "formats/json/json_escape.h"
#include "formats/json/json_tape.h"
#include "formats/json/json_writer.h"
#include "tensor/gather.h"

namespace msprobe {

namespace {

// Records resemble the ones before: room for the last one spares growing step by step.
constexpr size_t kLeastReserve = 1024;
constexpr size_t kMostReserve = size_t{64} << 10;
// An entry of "data" stands two levels deep in dump.json.
constexpr int kEntryDepth = 2;
constexpr int kIndentMax = 128;
static_assert(RecordBuilder::kMaxDepth + 8 < kIndentMax);
// What is written can be read: a tensor is an object with a list inside.
static_assert(RecordBuilder::kMaxDepth + 2 <= formats::JsonTape::kMaxDepth);

constexpr auto kCommaNewLine = [] {
  std::array<char, kIndentMax + 2> text{};
  text.fill(' ');
  text[0] = ',';
  text[1] = '\n';
  return text;
}();

// With the longest extension, ".npy", a name has at most 255 bytes.
constexpr size_t kMaxFileName = 251;
constexpr size_t kHashedPrefix = 200;

std::string_view CommaNewLine(int depth) {
  return {kCommaNewLine.data(), static_cast<size_t>(kEntryDepth + depth) + 2};
}

template <class Integer>
void AppendInteger(Integer value, std::string* out) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out->append(digits.data(), end);
}

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

/// A name that every file system takes: itself if possible, else its beginning and a hash.
std::string FileName(std::string_view name) {
  const bool plain = name.size() <= kMaxFileName &&
                     name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
  if (plain && name != "." && name != "..") return std::string(name);
  size_t size = std::min(name.size(), kHashedPrefix);
  // Not in the middle of a UTF-8 character.
  while (size < name.size() && size > 0 && (name[size] & 0xC0) == 0x80) --size;
  std::string file(name.substr(0, size));
  for (char& c : file) {
    if (c == '/' || c == '\0') c = '_';
  }
  std::array<char, 20> hash;
  std::snprintf(hash.data(), hash.size(), "_%016" PRIx64, Fnv1a(name));
  return file + hash.data();
}

std::string_view SectionPlace(std::string_view key) {
  return key == "input_args" || key == "input_kwargs" ? "input" : key;
}

}  // namespace

RecordBuilder::RecordBuilder() = default;
RecordBuilder::RecordBuilder(RecordBuilder&&) noexcept = default;
RecordBuilder& RecordBuilder::operator=(RecordBuilder&&) noexcept = default;
RecordBuilder::~RecordBuilder() = default;

void RecordBuilder::Begin(std::string_view name) {
  Reset();
  name_ = name;
  text_.reserve(std::clamp(last_size_ + 128, kLeastReserve, kMostReserve));
  formats::AppendJsonString(name, &text_);
  name_size_ = text_.size();
  text_.append(": ");
}

void RecordBuilder::Reset() {
  text_.clear();
  place_.clear();
  name_.clear();
  levels_.clear();
  files_.clear();
  later_.clear();
  name_size_ = 0;
  skipped_depth_ = 0;
  has_value_ = false;
  complete_ = false;
  file_bytes_ = 0;
}

std::string_view RecordBuilder::name() const { return name_; }

void RecordBuilder::Line(int depth) { text_.append(CommaNewLine(depth).substr(1)); }

/// Writes what stands before a value; false if there is no place for one.
bool RecordBuilder::Key(std::string_view key) {
  if (skipped_depth_ > 0 || complete_ || name_size_ == 0) return false;
  if (levels_.empty()) return !std::exchange(has_value_, true);
  Level& level = levels_.back();
  if (!std::exchange(level.empty, false)) text_.push_back(',');
  Line(static_cast<int>(levels_.size()));
  if (level.is_list) {
    ++level.index;
  } else {
    formats::AppendJsonString(key, &text_);
    text_.append(": ");
  }
  return true;
}

/// Adds the value that Key() has just begun to place_; the caller cuts it off again.
void RecordBuilder::EnterPlace(std::string_view key) {
  if (levels_.empty()) return;
  place_.push_back('.');
  const Level& level = levels_.back();
  if (level.is_list) {
    AppendInteger(level.index - 1, &place_);
  } else {
    place_.append(levels_.size() == 1 ? SectionPlace(key) : key);
  }
}

void RecordBuilder::BeginContainer(std::string_view key, bool is_list) {
  if (skipped_depth_ > 0) {
    ++skipped_depth_;
    return;
  }
  if (!Key(key)) {
    skipped_depth_ = 1;
    return;
  }
  if (levels_.size() >= kMaxDepth) {
    text_.append("null");
    skipped_depth_ = 1;
    return;
  }
  const auto place_begin = static_cast<uint32_t>(place_.size());
  EnterPlace(key);
  text_.push_back(is_list ? '[' : '{');
  levels_.push_back({is_list, true, 0, place_begin});
}

void RecordBuilder::BeginObject(std::string_view key) { BeginContainer(key, false); }

void RecordBuilder::BeginList(std::string_view key) { BeginContainer(key, true); }

void RecordBuilder::End() {
  if (skipped_depth_ > 0) {
    --skipped_depth_;
    return;
  }
  if (levels_.empty() || complete_) return;
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty) Line(static_cast<int>(levels_.size()));
  text_.push_back(level.is_list ? ']' : '}');
  place_.resize(level.place_begin);
}

void RecordBuilder::Null(std::string_view key) {
  if (Key(key)) text_.append("null");
}

void RecordBuilder::Json(std::string_view key, std::string_view json) {
  if (Key(key)) text_.append(json);
}

/// A line inside the object of one value; `name` comes with quotes and colon: this is the hot path.
void RecordBuilder::Field(std::string_view name, bool first) {
  text_.append(CommaNewLine(static_cast<int>(levels_.size()) + 1).substr(first ? 1 : 0));
  text_.append(name);
}

void RecordBuilder::TypedValue(std::string_view type) {
  text_.push_back('{');
  Field(R"("type": )", true);
  formats::AppendJsonString(type, &text_);
  Field(R"("value": )");
}

void RecordBuilder::CloseValue() {
  Line(static_cast<int>(levels_.size()));
  text_.push_back('}');
}

void RecordBuilder::Int(std::string_view key, int64_t value, std::string_view type) {
  if (!Key(key)) return;
  TypedValue(type);
  AppendInteger(value, &text_);
  CloseValue();
}

void RecordBuilder::Double(std::string_view key, double value, std::string_view type) {
  if (!Key(key)) return;
  TypedValue(type);
  base::AppendDouble(value, &text_);
  CloseValue();
}

void RecordBuilder::Bool(std::string_view key, bool value, std::string_view type) {
  Scalar(key, type, value ? "true" : "false");
}

void RecordBuilder::String(std::string_view key, std::string_view value, std::string_view type) {
  if (!Key(key)) return;
  TypedValue(type);
  formats::AppendJsonString(value, &text_);
  CloseValue();
}

void RecordBuilder::Scalar(std::string_view key, std::string_view type, std::string_view json) {
  if (!Key(key)) return;
  TypedValue(type);
  text_.append(json);
  CloseValue();
}

void RecordBuilder::Object(std::string_view key, std::string_view type) {
  if (!Key(key)) return;
  text_.push_back('{');
  Field(R"("type": )", true);
  formats::AppendJsonString(type, &text_);
  CloseValue();
}

void RecordBuilder::Tensor(std::string_view key, const TensorDescription& tensor) {
  if (!Key(key)) return;
  text_.push_back('{');
  Field(R"("type": )", true);
  formats::AppendJsonString(tensor.type, &text_);
  Field(R"("dtype": )");
  formats::AppendJsonString(tensor.dtype, &text_);
  Field(R"("shape": )");
  text_.push_back('[');
  const int depth = static_cast<int>(levels_.size()) + 2;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0) text_.push_back(',');
    Line(depth);
    AppendInteger(tensor.shape[i], &text_);
  }
  if (!tensor.shape.empty()) Line(depth - 1);
  text_.push_back(']');
  if (tensor.later != nullptr) {
    Promise(key, tensor);
  } else if (!tensor.structure_only) {
    Values(tensor);
  }
  if (tensor.requires_grad) {
    Field(R"("requires_grad": )");
    text_.append(*tensor.requires_grad ? "true" : "false");
  }
  if (tensor.later != nullptr) {
    later_.back().rest_at = text_.size();
  } else {
    Rest(key, tensor);
  }
  CloseValue();
}

void RecordBuilder::Rest(std::string_view key, const TensorDescription& tensor) {
  if (tensor.contents != nullptr) Contents(key, tensor);
  if (!tensor.structure_only) Checksum(tensor);
  if (!tensor.reason.empty()) {
    Field(R"("reason": )");
    formats::AppendJsonString(tensor.reason, &text_);
  }
}

void RecordBuilder::Promise(std::string_view key, const TensorDescription& tensor) {
  std::string name(tensor.data_name);
  if (name.empty()) {
    const size_t place_size = place_.size();
    EnterPlace(key);
    name = name_ + place_;
    place_.resize(place_size);
  }
  later_.push_back({tensor.later,
                    tensor.mode,
                    levels_.size(),
                    text_.size(),
                    0,
                    std::move(name),
                    {tensor.shape.begin(), tensor.shape.end()}});
}

uint64_t RecordBuilder::later_bytes() const {
  uint64_t bytes = 0;
  for (const Later& later : later_) bytes += later.values->bytes();
  return bytes;
}

void RecordBuilder::Settle() {
  if (later_.empty()) return;
  const std::string before = std::exchange(text_, {});
  std::vector<dump::TensorFile> files = std::exchange(files_, {});
  const std::vector<Level> levels = levels_;
  text_.reserve(before.size() + later_.size() * 256);
  size_t copied = 0;
  size_t file = 0;
  const auto copy_until = [&](size_t end) {
    const auto moved = static_cast<uint32_t>(text_.size() - copied);
    for (; file < files.size() && files[file].line_begin < end; ++file) {
      files[file].line_begin += moved;
      files[file].line_end += moved;
      files[file].name_end += moved;
      files_.push_back(std::move(files[file]));
    }
    text_.append(before, copied, end - copied);
    copied = end;
  };
  for (const Later& later : std::exchange(later_, {})) {
    TensorSummary summary;
    std::string reason;
    TensorDescription tensor;
    tensor.mode = later.mode;
    if (later.values->Summary(&summary, &reason)) tensor.summary = &summary;
    tensor.reason = reason;
    levels_.resize(later.depth);  // for the indentation
    copy_until(later.statistics_at);
    Values(tensor);
    copy_until(later.rest_at);
    TensorView view;
    view.data = later.values->Contents();
    view.dtype = later.values->dtype();
    view.shape = later.shape;
    if (view.data != nullptr) tensor.contents = &view;
    tensor.data_name = later.data_name;
    Rest({}, tensor);
  }
  copy_until(before.size());
  levels_ = levels;
}

void RecordBuilder::Values(const TensorDescription& tensor) {
  if (tensor.mode == SummaryMode::kXor) return;
  constexpr std::array<std::string_view, 4> kNames = {R"("Max": )", R"("Min": )", R"("Mean": )",
                                                      R"("Norm": )"};
  if (tensor.summary == nullptr || !tensor.summary->statistics.defined) {
    for (const std::string_view name : kNames) {
      Field(name);
      text_.append("null");
    }
    return;
  }
  const Statistics& statistics = tensor.summary->statistics;
  Field(R"("Max": )");
  Extreme(statistics, statistics.max, statistics.max_int);
  Field(R"("Min": )");
  Extreme(statistics, statistics.min, statistics.min_int);
  Field(R"("Mean": )");
  base::AppendDouble(statistics.mean, &text_);
  Field(R"("Norm": )");
  base::AppendDouble(statistics.norm, &text_);
}

void RecordBuilder::Extreme(const Statistics& statistics, double value, int64_t integer) {
  if (!statistics.is_integral) return base::AppendDouble(value, &text_);
  if (statistics.is_bool) {
    text_.append(integer != 0 ? "true" : "false");
  } else if (statistics.is_unsigned) {
    AppendInteger(static_cast<uint64_t>(integer), &text_);
  } else {
    AppendInteger(integer, &text_);
  }
}

void RecordBuilder::Checksum(const TensorDescription& tensor) {
  if (tensor.summary == nullptr) return;
  std::array<char, 24> text;
  if (tensor.mode == SummaryMode::kCrc32) {
    Field(R"("md5": )");
    std::snprintf(text.data(), text.size(), "\"%08" PRIx32 "\"", tensor.summary->crc32);
    text_.append(text.data());
  } else if (tensor.mode == SummaryMode::kXor) {
    Field(R"("md5": )");
    std::snprintf(text.data(), text.size(), "\"0x%016" PRIx64 "\"", tensor.summary->xor64);
    text_.append(text.data());
  }
  const Statistics& statistics = tensor.summary->statistics;
  if (statistics.nan_count > 0) {
    Field(R"("nan_count": )");
    AppendInteger(statistics.nan_count, &text_);
  }
  if (statistics.inf_count > 0) {
    Field(R"("inf_count": )");
    AppendInteger(statistics.inf_count, &text_);
  }
}

void RecordBuilder::Contents(std::string_view key, const TensorDescription& tensor) {
  const TensorView& view = *tensor.contents;
  dump::TensorFile file;
  file.dtype = view.dtype;
  file.shape.assign(view.shape.begin(), view.shape.end());
  file.bytes = static_cast<uint64_t>(ElementCount(view.shape)) * ElementSize(view.dtype);
  if (file.bytes > 0) {
    if (view.data == nullptr) return;
    file.values = dump::StagingBuffer::Allocate(file.bytes);
    if (file.values.data() == nullptr) {
      ++files_without_memory_;
      return;
    }
    std::byte* to = file.values.data();
    tensor::BlockReader reader(view);
    for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
      std::memcpy(to, block.data(), block.size());
      to += block.size();
    }
  }
  if (tensor.data_name.empty()) {
    const size_t place_size = place_.size();
    EnterPlace(key);
    file.name = FileName(name_ + place_);
    place_.resize(place_size);
  } else {
    file.name = FileName(tensor.data_name);
  }
  file.line_begin = static_cast<uint32_t>(text_.size());
  Field(R"("data_name": )");
  formats::AppendJsonString(file.name, &text_);
  file.line_end = static_cast<uint32_t>(text_.size());
  file.name_end = file.line_end - 1;
  file_bytes_ += file.bytes;
  files_.push_back(std::move(file));
}

void RecordBuilder::Complete(std::string_view extension) {
  if (complete_) return;
  Settle();
  skipped_depth_ = 0;
  while (!levels_.empty()) End();
  if (!has_value_) text_.append("null");
  complete_ = true;
  last_size_ = text_.size();
  const auto grown = static_cast<uint32_t>(extension.size());
  for (size_t i = 0; i < files_.size(); ++i) {
    dump::TensorFile& file = files_[i];
    // The extensions of the files before have moved this one.
    const auto moved = static_cast<uint32_t>(i) * grown;
    text_.insert(file.name_end + moved, extension);
    file.name.append(extension);
    file.line_begin += moved;
    file.line_end += moved + grown;
  }
}

}  // namespace msprobe
