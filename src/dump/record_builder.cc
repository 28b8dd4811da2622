#include "msprobe/record_builder.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "base/numbers.h"
#include "dump/record_tape.h"
#include "dump/record_tensor_file.h"

namespace msprobe {

namespace {

using dump::TapeWriter;

// With the longest extension, ".npy", a name has at most 255 bytes.
constexpr size_t kMaxFileName = 251;
constexpr size_t kHashedPrefix = 200;

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
  TapeWriter(&tape_).Name(name);
  begun_ = true;
}

void RecordBuilder::Reset() {
  tape_.clear();
  place_.clear();
  name_.clear();
  levels_.clear();
  files_.clear();
  later_.clear();
  skipped_depth_ = 0;
  begun_ = false;
  has_value_ = false;
  complete_ = false;
}

std::string_view RecordBuilder::name() const { return name_; }

size_t RecordBuilder::size() const { return dump::RenderedSize(tape_.size()); }

std::string RecordBuilder::text() const {
  std::string text;
  if (!begun_) return text;
  dump::RenderTape(tape_, files_, &text);
  return text;
}

/// False if there is no place for a value.
bool RecordBuilder::TakesValue() {
  if (skipped_depth_ > 0 || complete_ || !begun_) return false;
  if (levels_.empty()) return !std::exchange(has_value_, true);
  ++levels_.back().index;
  return true;
}

/// Adds the value that TakesValue() has just let in to place_; the caller cuts it off again.
void RecordBuilder::EnterPlace(std::string_view key) {
  if (levels_.empty()) return;
  place_.push_back('.');
  const Level& level = levels_.back();
  if (level.is_list) {
    base::AppendInteger(level.index - 1, &place_);
  } else {
    place_.append(levels_.size() == 1 ? SectionPlace(key) : key);
  }
}

void RecordBuilder::BeginContainer(std::string_view key, bool is_list) {
  if (skipped_depth_ > 0) {
    ++skipped_depth_;
    return;
  }
  if (!TakesValue()) {
    skipped_depth_ = 1;
    return;
  }
  if (levels_.size() >= kMaxDepth) {
    TapeWriter(&tape_).Json(key, "null");
    skipped_depth_ = 1;
    return;
  }
  const auto place_begin = static_cast<uint32_t>(place_.size());
  EnterPlace(key);
  TapeWriter(&tape_).Begin(is_list, key);
  levels_.push_back({is_list, 0, place_begin});
}

void RecordBuilder::BeginObject(std::string_view key) { BeginContainer(key, false); }

void RecordBuilder::BeginList(std::string_view key) { BeginContainer(key, true); }

void RecordBuilder::End() {
  if (skipped_depth_ > 0) {
    --skipped_depth_;
    return;
  }
  if (levels_.empty() || complete_) return;
  place_.resize(levels_.back().place_begin);
  levels_.pop_back();
  TapeWriter(&tape_).End();
}

void RecordBuilder::Null(std::string_view key) { Json(key, "null"); }

void RecordBuilder::Json(std::string_view key, std::string_view json) {
  if (TakesValue()) TapeWriter(&tape_).Json(key, json);
}

void RecordBuilder::Int(std::string_view key, int64_t value, std::string_view type) {
  if (TakesValue()) TapeWriter(&tape_).Int(key, type, value);
}

void RecordBuilder::Double(std::string_view key, double value, std::string_view type) {
  if (TakesValue()) TapeWriter(&tape_).Double(key, type, value);
}

void RecordBuilder::Bool(std::string_view key, bool value, std::string_view type) {
  Scalar(key, type, value ? "true" : "false");
}

void RecordBuilder::String(std::string_view key, std::string_view value, std::string_view type) {
  if (TakesValue()) TapeWriter(&tape_).String(key, type, value);
}

void RecordBuilder::Scalar(std::string_view key, std::string_view type, std::string_view json) {
  if (TakesValue()) TapeWriter(&tape_).Scalar(key, type, json);
}

void RecordBuilder::Object(std::string_view key, std::string_view type) {
  if (TakesValue()) TapeWriter(&tape_).Object(key, type);
}

void RecordBuilder::Tensor(std::string_view key, const TensorDescription& tensor) {
  if (!TakesValue()) return;
  if (tensor.later != nullptr) return Promise(key, tensor);
  std::optional<uint32_t> file;
  if (tensor.contents != nullptr && Contents(key, tensor)) {
    file = static_cast<uint32_t>(files_.size() - 1);
  }
  TapeWriter(&tape_).Tensor(key, tensor, file);
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
                    tape_.size(),
                    std::string(key),
                    std::string(tensor.type),
                    std::string(tensor.dtype),
                    {tensor.shape.begin(), tensor.shape.end()},
                    tensor.mode,
                    tensor.structure_only,
                    tensor.requires_grad,
                    std::move(name)});
}

uint64_t RecordBuilder::later_bytes() const {
  uint64_t bytes = 0;
  for (const Later& later : later_) bytes += later.values->bytes();
  return bytes;
}

void RecordBuilder::Settle() {
  if (later_.empty()) return;
  const std::string before = std::exchange(tape_, {});
  size_t copied = 0;
  for (const Later& later : std::exchange(later_, {})) {
    tape_.append(before, copied, later.at - copied);
    copied = later.at;
    TensorSummary summary;
    std::string reason;
    TensorDescription tensor;
    tensor.type = later.type;
    tensor.dtype = later.dtype;
    tensor.shape = later.shape;
    tensor.mode = later.mode;
    tensor.structure_only = later.structure_only;
    tensor.requires_grad = later.requires_grad;
    if (later.values->Summary(&summary, &reason)) tensor.summary = &summary;
    tensor.reason = reason;
    TensorView view;
    view.data = later.values->Contents();
    view.dtype = later.values->dtype();
    view.shape = later.shape;
    tensor.data_name = later.data_name;
    std::optional<uint32_t> file;
    if (view.data != nullptr) {
      tensor.contents = &view;
      if (Contents({}, tensor)) file = static_cast<uint32_t>(files_.size() - 1);
    }
    TapeWriter(&tape_).Tensor(later.key, tensor, file);
  }
  tape_.append(before, copied);
}

/// Copies the tensor's values; false if they are not to be had.
bool RecordBuilder::Contents(std::string_view key, const TensorDescription& tensor) {
  const TensorView& view = *tensor.contents;
  dump::TensorFile file;
  file.dtype = view.dtype;
  file.shape.assign(view.shape.begin(), view.shape.end());
  file.bytes = static_cast<uint64_t>(ElementCount(view.shape)) * ElementSize(view.dtype);
  if (file.bytes > 0) {
    if (view.data == nullptr && tensor.taken == nullptr) return false;
    file.contents = tensor.taken != nullptr ? tensor.taken : dump::TakeContents(view);
    if (file.contents == nullptr) {
      ++files_without_memory_;
      return false;
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
  files_.push_back(std::move(file));
  return true;
}

void RecordBuilder::Complete(std::string_view extension) {
  if (complete_) return;
  Settle();
  complete_ = true;  // what is still open is closed when the text is made
  for (dump::TensorFile& file : files_) file.name.append(extension);
}

}  // namespace msprobe
