#include "dump/record_tape.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "formats/json/json_escape.h"
#include "formats/json/json_tape.h"
#include "formats/json/json_writer.h"

namespace msprobe::dump {

namespace {

// An entry of "data" stands two levels deep in dump.json.
constexpr int kEntryDepth = 2;
constexpr int kIndentMax = 128;
constexpr uint32_t kNoFile = UINT32_MAX;
static_assert(RecordBuilder::kMaxDepth + 8 < kIndentMax);
// What is written can be read: a tensor is an object with a list inside.
static_assert(RecordBuilder::kMaxDepth + 2 <= formats::JsonTape::kMaxDepth);
static_assert(std::is_trivially_copyable_v<TensorSummary>);

constexpr auto kCommaNewLine = [] {
  std::array<char, kIndentMax + 2> text{};
  text.fill(' ');
  text[0] = ',';
  text[1] = '\n';
  return text;
}();

std::string_view CommaNewLine(int depth) {
  return {kCommaNewLine.data(), static_cast<size_t>(kEntryDepth + depth) + 2};
}

}  // namespace

struct TapeWriter::TensorHead {
  uint32_t rank;
  uint32_t file;
  SummaryMode mode;
  bool structure_only;
  bool has_summary;
  bool has_requires_grad;
  bool requires_grad;
};

void TapeWriter::Begin(bool is_list, std::string_view key) {
  Put(is_list ? Op::kBeginList : Op::kBeginObject);
  Text(key);
}

void TapeWriter::End() { Put(Op::kEnd); }

void TapeWriter::Json(std::string_view key, std::string_view json) {
  Put(Op::kJson);
  Text(key);
  Text(json);
}

void TapeWriter::Int(std::string_view key, std::string_view type, int64_t value) {
  Put(Op::kInt);
  Text(key);
  Text(type);
  Put(value);
}

void TapeWriter::Double(std::string_view key, std::string_view type, double value) {
  Put(Op::kDouble);
  Text(key);
  Text(type);
  Put(value);
}

void TapeWriter::String(std::string_view key, std::string_view type, std::string_view value) {
  Put(Op::kString);
  Text(key);
  Text(type);
  Text(value);
}

void TapeWriter::Scalar(std::string_view key, std::string_view type, std::string_view json) {
  Put(Op::kScalar);
  Text(key);
  Text(type);
  Text(json);
}

void TapeWriter::Object(std::string_view key, std::string_view type) {
  Put(Op::kObject);
  Text(key);
  Text(type);
}

void TapeWriter::Tensor(std::string_view key, const TensorDescription& tensor,
                        std::optional<uint32_t> file) {
  Put(Op::kTensor);
  Text(key);
  Text(tensor.type);
  Text(tensor.dtype);
  Text(tensor.reason);
  TensorHead head{};
  head.rank = static_cast<uint32_t>(tensor.shape.size());
  head.file = file.value_or(kNoFile);
  head.mode = tensor.mode;
  head.structure_only = tensor.structure_only;
  head.has_summary = tensor.summary != nullptr && !tensor.structure_only;
  head.has_requires_grad = tensor.requires_grad.has_value();
  head.requires_grad = tensor.requires_grad.value_or(false);
  Put(head);
  tape_.append(reinterpret_cast<const char*>(tensor.shape.data()), tensor.shape.size_bytes());
  if (head.has_summary) Put(*tensor.summary);
}

/// Makes text of a tape.
class TapeReader {
 public:
  TapeReader(std::string_view tape, std::span<const TensorFile> files, std::string* out)
      : tape_(tape), files_(files), out_(*out) {}

  size_t Render() {
    const size_t begin = out_.size();
    formats::AppendJsonString(Text(), &out_);
    const size_t name_size = out_.size() - begin;
    out_.append(": ");
    if (tape_.empty()) out_.append("null");
    while (!tape_.empty()) Next();
    while (!levels_.empty()) End();
    return name_size;
  }

 private:
  using Op = TapeWriter::Op;
  struct Level {
    bool is_list;
    bool empty = true;
  };

  template <class T>
  T Get() {
    T value;
    std::memcpy(&value, tape_.data(), sizeof(value));
    tape_.remove_prefix(sizeof(value));
    return value;
  }
  std::string_view Text() {
    const auto size = Get<uint32_t>();
    const std::string_view text = tape_.substr(0, size);
    tape_.remove_prefix(size);
    return text;
  }

  void Next();
  void Key();
  void End();
  void Line(int depth) { out_.append(CommaNewLine(depth).substr(1)); }
  void Field(std::string_view name, bool first = false) {
    out_.append(CommaNewLine(static_cast<int>(levels_.size()) + 1).substr(first ? 1 : 0));
    out_.append(name);
  }
  void Type() {
    out_.push_back('{');
    Field(R"("type": )", true);
    formats::AppendJsonString(Text(), &out_);
  }
  void CloseValue() {
    Line(static_cast<int>(levels_.size()));
    out_.push_back('}');
  }
  template <class Value>
  void Typed(Value value) {
    Type();
    Field(R"("value": )");
    value();
    CloseValue();
  }
  void Tensor();
  void Shape(uint32_t rank);
  void Values(const TensorSummary* summary);
  void Extreme(const Statistics& statistics, double value, int64_t integer);
  void Checksum(SummaryMode mode, const TensorSummary& summary);

  std::string_view tape_;
  std::span<const TensorFile> files_;
  std::string& out_;
  std::vector<Level> levels_;
};

void TapeReader::Next() {
  const Op op = Get<Op>();
  if (op == Op::kEnd) return End();
  Key();
  switch (op) {
    case Op::kBeginObject:
    case Op::kBeginList:
      out_.push_back(op == Op::kBeginList ? '[' : '{');
      levels_.push_back({op == Op::kBeginList});
      return;
    case Op::kEnd: return;
    case Op::kJson: out_.append(Text()); return;
    case Op::kInt: return Typed([this] { base::AppendInteger(Get<int64_t>(), &out_); });
    case Op::kDouble: return Typed([this] { base::AppendDouble(Get<double>(), &out_); });
    case Op::kString: return Typed([this] { formats::AppendJsonString(Text(), &out_); });
    case Op::kScalar: return Typed([this] { out_.append(Text()); });
    case Op::kObject:
      Type();
      CloseValue();
      return;
    case Op::kTensor: return Tensor();
  }
}

/// What stands before a value.
void TapeReader::Key() {
  const std::string_view key = Text();
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!std::exchange(level.empty, false)) out_.push_back(',');
  Line(static_cast<int>(levels_.size()));
  if (level.is_list) return;
  formats::AppendJsonString(key, &out_);
  out_.append(": ");
}

void TapeReader::End() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty) Line(static_cast<int>(levels_.size()));
  out_.push_back(level.is_list ? ']' : '}');
}

void TapeReader::Tensor() {
  Type();
  Field(R"("dtype": )");
  formats::AppendJsonString(Text(), &out_);
  const std::string_view reason = Text();
  const auto head = Get<TapeWriter::TensorHead>();
  Shape(head.rank);
  TensorSummary summary;
  if (head.has_summary) summary = Get<TensorSummary>();
  if (!head.structure_only && head.mode != SummaryMode::kXor) {
    Values(head.has_summary ? &summary : nullptr);
  }
  if (head.has_requires_grad) {
    Field(R"("requires_grad": )");
    out_.append(head.requires_grad ? "true" : "false");
  }
  if (head.file < files_.size() && !files_[head.file].dropped) {
    Field(R"("data_name": )");
    formats::AppendJsonString(files_[head.file].name, &out_);
  }
  if (head.has_summary) Checksum(head.mode, summary);
  if (!reason.empty()) {
    Field(R"("reason": )");
    formats::AppendJsonString(reason, &out_);
  }
  CloseValue();
}

void TapeReader::Shape(uint32_t rank) {
  Field(R"("shape": )");
  out_.push_back('[');
  const int depth = static_cast<int>(levels_.size()) + 2;
  for (uint32_t i = 0; i < rank; ++i) {
    if (i > 0) out_.push_back(',');
    Line(depth);
    base::AppendInteger(Get<int64_t>(), &out_);
  }
  if (rank > 0) Line(depth - 1);
  out_.push_back(']');
}

void TapeReader::Values(const TensorSummary* summary) {
  constexpr std::array<std::string_view, 4> kNames = {R"("Max": )", R"("Min": )", R"("Mean": )",
                                                      R"("Norm": )"};
  if (summary == nullptr || !summary->statistics.defined) {
    for (const std::string_view name : kNames) {
      Field(name);
      out_.append("null");
    }
    return;
  }
  const Statistics& statistics = summary->statistics;
  Field(kNames[0]);
  Extreme(statistics, statistics.max, statistics.max_int);
  Field(kNames[1]);
  Extreme(statistics, statistics.min, statistics.min_int);
  Field(kNames[2]);
  base::AppendDouble(statistics.mean, &out_);
  Field(kNames[3]);
  base::AppendDouble(statistics.norm, &out_);
}

void TapeReader::Extreme(const Statistics& statistics, double value, int64_t integer) {
  if (!statistics.is_integral) return base::AppendDouble(value, &out_);
  if (statistics.is_bool) {
    out_.append(integer != 0 ? "true" : "false");
  } else if (statistics.is_unsigned) {
    base::AppendInteger(static_cast<uint64_t>(integer), &out_);
  } else {
    base::AppendInteger(integer, &out_);
  }
}

void TapeReader::Checksum(SummaryMode mode, const TensorSummary& summary) {
  std::array<char, 24> text;
  if (mode == SummaryMode::kCrc32) {
    Field(R"("md5": )");
    std::snprintf(text.data(), text.size(), "\"%08" PRIx32 "\"", summary.crc32);
    out_.append(text.data());
  } else if (mode == SummaryMode::kXor) {
    Field(R"("md5": )");
    std::snprintf(text.data(), text.size(), "\"0x%016" PRIx64 "\"", summary.xor64);
    out_.append(text.data());
  }
  const Statistics& statistics = summary.statistics;
  if (statistics.nan_count > 0) {
    Field(R"("nan_count": )");
    base::AppendInteger(statistics.nan_count, &out_);
  }
  if (statistics.inf_count > 0) {
    Field(R"("inf_count": )");
    base::AppendInteger(statistics.inf_count, &out_);
  }
}

std::string_view TapeName(std::string_view tape) {
  uint32_t size = 0;
  std::memcpy(&size, tape.data(), sizeof(size));
  return tape.substr(sizeof(size), size);
}

size_t RenderTape(std::string_view tape, std::span<const TensorFile> files, std::string* out) {
  return TapeReader(tape, files, out).Render();
}

}  // namespace msprobe::dump
