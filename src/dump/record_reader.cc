#include "dump/record_reader.h"

#include <array>
#include <charconv>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/numbers.h"
#include "dump/python_text.h"
#include "formats/json/json_string.h"
#include "tensor/dtype.h"

namespace msprobe::dump {

namespace {

using formats::JsonKind;
using formats::JsonTape;
using formats::JsonToken;

constexpr uint32_t kNone = UINT32_MAX;
/// Every value below a long key repeats it: a small file must not claim all memory.
constexpr size_t kMaxKeyBytes = size_t{64} << 20;

bool IsContainer(const JsonToken& token) {
  return token.kind == JsonKind::kObject || token.kind == JsonKind::kArray;
}

/// Where in the tape the values of an object's known keys stand; of equal keys the last.
struct Fields {
  uint32_t type = kNone, value = kNone, dtype = kNone, shape = kNone;
  uint32_t max = kNone, min = kNone, mean = kNone, norm = kNone;
  uint32_t requires_grad = kNone, data_name = kNone, md5 = kNone;
  uint32_t nan_count = kNone, inf_count = kNone;
  bool others = false;  ///< there are further keys

  uint32_t* Find(std::string_view key) {
    switch (key.size()) {
      case 3: return key == "Max" ? &max : key == "Min" ? &min : key == "md5" ? &md5 : nullptr;
      case 4:
        return key == "type" ? &type : key == "Mean" ? &mean : key == "Norm" ? &norm : nullptr;
      case 5:
        return key == "value"   ? &value
               : key == "dtype" ? &dtype
               : key == "shape" ? &shape
                                : nullptr;
      case 9: return key == "data_name" ? &data_name : nullptr;
      case 13: return key == "requires_grad" ? &requires_grad : nullptr;
      default: return nullptr;
    }
  }
  /// Of tensors only: elsewhere these are names as any other.
  uint32_t* FindCount(std::string_view key) {
    return key == "nan_count" ? &nan_count : key == "inf_count" ? &inf_count : nullptr;
  }
};

class RecordBuilder {
 public:
  RecordBuilder(const JsonTape& tape, Record* record) : tape_(tape), record_(*record) {}

  Status Build();
  Status BuildValue();

 private:
  Status Sections();
  Status ParametersGrad();
  Status List(uint32_t index);
  Status Object(uint32_t index);
  Status Any(uint32_t index);
  Status Below(std::string_view name, uint32_t index);
  Status Tensor(const Fields& fields);
  Status Shape(uint32_t index, Value* value);
  Status Scalar(std::string_view type, uint32_t index);
  Status Members(uint32_t index, bool described);
  Statistic ReadStatistic(uint32_t index);
  uint64_t Count(uint32_t index) const;
  Status Text(uint32_t index, std::string_view* text);
  std::string_view PlainKey(uint32_t index) const { return tape_[index].raw(); }
  bool OnlyPlainScalars(uint32_t index) const;
  void NumberEqualKeys();
  Value& Add(ValueKind kind);

  const JsonTape& tape_;
  Record& record_;
  size_t key_bytes_ = 0;  // of all values so far
  Section section_ = Section::kInput;
  std::string key_;
  std::string scratch_;
};

Status RecordBuilder::Build() {
  if (tape_[0].kind != JsonKind::kObject) return CorruptError("the record is not an object");
  MSPROBE_RETURN_IF_ERROR(record_.direction == Direction::kParametersGrad ? ParametersGrad()
                                                                          : Sections());
  NumberEqualKeys();
  return Status::Ok();
}

Status RecordBuilder::BuildValue() {
  section_ = Section::kOutput;
  key_ = "value";
  MSPROBE_RETURN_IF_ERROR(Any(0));
  NumberEqualKeys();
  return Status::Ok();
}

/// {"a.b": x, "a": {"b": y}} gives two values one key: the second becomes "a.b_1".
void RecordBuilder::NumberEqualKeys() {
  std::vector<Value>& values = record_.values;
  // Comparing all with all is cheapest for the few values there usually are.
  constexpr size_t kFew = 16;
  bool equal = values.size() > kFew;
  for (size_t i = 1; i < values.size() && !equal; ++i) {
    for (size_t j = 0; j < i; ++j) equal |= values[i].key == values[j].key;
  }
  if (!equal) return;
  std::unordered_map<std::string_view, size_t> numbers;  // the last one given, by key
  numbers.reserve(values.size());
  for (Value& value : values) {
    const auto [known, fresh] = numbers.try_emplace(value.key, 0);
    if (fresh) continue;
    size_t& number = known->second;
    const std::string original = std::string(value.key) + "_";
    do {
      value.key = record_.arena.Copy(original + std::to_string(++number));
    } while (!numbers.try_emplace(value.key, 0).second);
  }
}

Status RecordBuilder::Sections() {
  struct Place {
    std::string_view key;
    Section section;
    std::string_view prefix;
  };
  static constexpr std::array<Place, 5> kPlaces = {
      {{"input_args", Section::kInput, "input"},
       {"input", Section::kInput, "input"},
       {"input_kwargs", Section::kInput, "input"},
       {"output", Section::kOutput, "output"},
       {"parameters", Section::kParameter, "parameters"}}};
  std::array<uint32_t, kPlaces.size()> found;
  found.fill(kNone);
  for (uint32_t i = 1; i < tape_[0].end; i = tape_[i + 1].end) {
    for (size_t place = 0; place < kPlaces.size(); ++place) {
      if (PlainKey(i) == kPlaces[place].key) found[place] = i + 1;
    }
  }
  for (size_t place = 0; place < kPlaces.size(); ++place) {
    if (found[place] == kNone) continue;
    const JsonToken& token = tape_[found[place]];
    if (token.kind == JsonKind::kNull) continue;
    section_ = kPlaces[place].section;
    key_ = kPlaces[place].prefix;
    if (token.kind == JsonKind::kArray) {
      MSPROBE_RETURN_IF_ERROR(List(found[place]));
    } else if (kPlaces[place].key == "input_kwargs" || kPlaces[place].key == "parameters") {
      // Names that the user chose: one of them may be "type".
      if (token.kind != JsonKind::kObject) {
        return CorruptError(std::string(kPlaces[place].key) + " is not an object");
      }
      MSPROBE_RETURN_IF_ERROR(Members(found[place], false));
    } else {
      MSPROBE_RETURN_IF_ERROR(Below("0", found[place]));  // one value without its list
    }
  }
  return Status::Ok();
}

/// {"weight": [tensor]}: the list is left out of the key where it holds one tensor only.
Status RecordBuilder::ParametersGrad() {
  section_ = Section::kParameter;
  for (uint32_t i = 1; i < tape_[0].end; i = tape_[i + 1].end) {
    std::string_view name;
    MSPROBE_RETURN_IF_ERROR(Text(i, &name));
    key_ = name;
    uint32_t value = i + 1;
    const JsonToken& token = tape_[value];
    const bool single = token.kind == JsonKind::kArray && value + 1 < token.end &&
                        tape_[value + 1].end == token.end;
    if (single) ++value;
    MSPROBE_RETURN_IF_ERROR(Any(value));
  }
  return Status::Ok();
}

Status RecordBuilder::Below(std::string_view name, uint32_t index) {
  if (key_bytes_ > kMaxKeyBytes) {
    return LimitExceededError("the names of its values have more than " +
                              std::to_string(kMaxKeyBytes) + " bytes");
  }
  const size_t length = key_.size();
  key_.push_back('.');
  key_.append(name);
  Status status = Any(index);
  key_.resize(length);
  return status;
}

Status RecordBuilder::Any(uint32_t index) {
  switch (tape_[index].kind) {
    case JsonKind::kNull: Add(ValueKind::kNull); return Status::Ok();
    case JsonKind::kArray: return List(index);
    case JsonKind::kObject: return Object(index);
    case JsonKind::kString: return Scalar("str", index);
    case JsonKind::kTrue:
    case JsonKind::kFalse: return Scalar("bool", index);
    case JsonKind::kNumber: break;
  }
  const bool whole = tape_[index].raw().find_first_not_of("-0123456789") == std::string_view::npos;
  return Scalar(whole ? "int" : "float", index);
}

bool RecordBuilder::OnlyPlainScalars(uint32_t index) const {
  const uint32_t end = tape_[index].end;
  if (index + 1 == end) return false;
  for (uint32_t i = index + 1; i < end; ++i) {
    if (IsContainer(tape_[i]) || tape_[i].kind == JsonKind::kNull) return false;
  }
  return true;
}

Status RecordBuilder::List(uint32_t index) {
  // Bare numbers, as a process group's ranks: no values of their own.
  if (OnlyPlainScalars(index)) return Scalar("list", index);
  uint32_t position = 0;
  std::array<char, 12> digits;
  for (uint32_t i = index + 1; i < tape_[index].end; i = tape_[i].end) {
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), position++);
    MSPROBE_RETURN_IF_ERROR(Below({digits.data(), static_cast<size_t>(end - digits.data())}, i));
  }
  return Status::Ok();
}

Status RecordBuilder::Object(uint32_t index) {
  Fields fields;
  for (uint32_t i = index + 1; i < tape_[index].end; i = tape_[i + 1].end) {
    uint32_t* field = fields.Find(PlainKey(i));
    if (field != nullptr) {
      *field = i + 1;
    } else {
      fields.others = true;
      if (uint32_t* count = fields.FindCount(PlainKey(i))) *count = i + 1;
    }
  }
  // In a dict of the user's a key "type" holds a described value, not a bare string.
  if (fields.type == kNone || tape_[fields.type].kind != JsonKind::kString) {
    return Members(index, false);
  }
  if (fields.dtype != kNone || fields.shape != kNone) return Tensor(fields);
  std::string_view type;
  MSPROBE_RETURN_IF_ERROR(Text(fields.type, &type));
  if (fields.value != kNone) {
    MSPROBE_RETURN_IF_ERROR(Scalar(type, fields.value));
    return fields.others ? Members(index, true) : Status::Ok();
  }
  Add(ValueKind::kObject).type = type;
  return fields.others ? Members(index, true) : Status::Ok();
}

/// The members of an object, each with its key; `described`: without "type" and "value".
Status RecordBuilder::Members(uint32_t index, bool described) {
  // Of equal keys the last counts. Looking ahead is cheapest for the few keys there usually are.
  constexpr uint32_t kFew = 16;
  const uint32_t end = tape_[index].end;
  uint32_t count = 0;
  for (uint32_t i = index + 1; i < end; i = tape_[i + 1].end) ++count;
  std::unordered_set<uint32_t> shadowed;
  if (count > kFew) {
    std::unordered_map<std::string_view, uint32_t> last;
    for (uint32_t i = index + 1; i < end; i = tape_[i + 1].end) {
      const auto [it, inserted] = last.try_emplace(PlainKey(i), i);
      if (!inserted) shadowed.insert(std::exchange(it->second, i));
    }
  } else {
    for (uint32_t i = index + 1; i < end; i = tape_[i + 1].end) {
      for (uint32_t j = tape_[i + 1].end; j < end; j = tape_[j + 1].end) {
        if (PlainKey(i) == PlainKey(j)) shadowed.insert(i);
      }
    }
  }
  for (uint32_t i = index + 1; i < end; i = tape_[i + 1].end) {
    const bool is_read = described && (PlainKey(i) == "type" || PlainKey(i) == "value");
    if (is_read || shadowed.contains(i)) continue;
    std::string_view name;
    MSPROBE_RETURN_IF_ERROR(Text(i, &name));
    MSPROBE_RETURN_IF_ERROR(Below(name, i + 1));
  }
  return Status::Ok();
}

Status RecordBuilder::Tensor(const Fields& fields) {
  Value& value = Add(ValueKind::kTensor);
  MSPROBE_RETURN_IF_ERROR(Text(fields.type, &value.type));
  MSPROBE_RETURN_IF_ERROR(Text(fields.dtype, &value.dtype_text));
  value.dtype = tensor::ParseDType(value.dtype_text);
  if (fields.shape != kNone) MSPROBE_RETURN_IF_ERROR(Shape(fields.shape, &value));
  value.max = ReadStatistic(fields.max);
  value.min = ReadStatistic(fields.min);
  value.mean = ReadStatistic(fields.mean);
  value.norm = ReadStatistic(fields.norm);
  value.nan_count = Count(fields.nan_count);
  value.inf_count = Count(fields.inf_count);
  if (fields.requires_grad != kNone) {
    const JsonKind kind = tape_[fields.requires_grad].kind;
    if (kind == JsonKind::kTrue) value.requires_grad = Flag::kTrue;
    if (kind == JsonKind::kFalse) value.requires_grad = Flag::kFalse;
  }
  MSPROBE_RETURN_IF_ERROR(Text(fields.data_name, &value.data_name));
  return Text(fields.md5, &value.md5);
}

Status RecordBuilder::Shape(uint32_t index, Value* value) {
  const JsonToken& list = tape_[index];
  const auto bad = [this] {
    return CorruptError(key_ + " has a shape that is not a list of sizes");
  };
  if (list.kind == JsonKind::kNull) return Status::Ok();
  if (list.kind != JsonKind::kArray) return bad();
  value->shape_begin = static_cast<uint32_t>(record_.extents.size());
  value->shape_size = list.end - index - 1;
  scratch_.assign(1, '[');
  for (uint32_t i = index + 1; i < list.end; ++i) {
    const std::string_view raw = tape_[i].raw();
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), extent);
    if (tape_[i].kind != JsonKind::kNumber || error != std::errc() ||
        end != raw.data() + raw.size() || extent < 0) {
      return bad();
    }
    record_.extents.push_back(extent);
    if (i > index + 1) scratch_.append(", ");
    scratch_.append(raw);
  }
  scratch_.push_back(']');
  value->shape_text = record_.arena.Copy(scratch_);
  return Status::Ok();
}

Status RecordBuilder::Scalar(std::string_view type, uint32_t index) {
  Value& value = Add(ValueKind::kScalar);
  value.type = type;
  if (tape_[index].kind == JsonKind::kString) return Text(index, &value.value_text);
  scratch_.clear();
  MSPROBE_RETURN_IF_ERROR(AppendPythonText(tape_, index, &scratch_));
  value.value_text = record_.arena.Copy(scratch_);
  return Status::Ok();
}

Statistic RecordBuilder::ReadStatistic(uint32_t index) {
  Statistic statistic;
  if (index == kNone) return statistic;
  const JsonToken& token = tape_[index];
  statistic.state = Statistic::State::kNull;
  statistic.text = token.raw();
  if (token.kind == JsonKind::kTrue || token.kind == JsonKind::kFalse) {
    statistic.number = token.kind == JsonKind::kTrue ? 1 : 0;
    statistic.state = Statistic::State::kNumber;
  } else if (token.kind == JsonKind::kNumber && !record_.parse_numbers) {
    statistic.state = Statistic::State::kNumber;
  } else if (token.kind == JsonKind::kNumber || token.kind == JsonKind::kString) {
    // Some writers put NaN and infinities in quotes, as they print them.
    if (token.kind == JsonKind::kString) statistic.text = base::JsonNumberText(token.raw());
    if (const auto number = base::ParseDouble(statistic.text)) {
      statistic.number = *number;
      statistic.state = Statistic::State::kNumber;
    }
  }
  return statistic;
}

uint64_t RecordBuilder::Count(uint32_t index) const {
  if (index == kNone || tape_[index].kind != JsonKind::kNumber) return 0;
  return base::ParseUnsigned(tape_[index].raw()).value_or(0);
}

/// Of a string, unescaped; leaves *text alone for anything else.
Status RecordBuilder::Text(uint32_t index, std::string_view* text) {
  if (index == kNone || tape_[index].kind != JsonKind::kString) return Status::Ok();
  const JsonToken& token = tape_[index];
  bool valid = true;
  *text = token.escaped ? formats::UnescapedView(token.raw(), &record_.arena, &valid) : token.raw();
  return valid ? Status::Ok() : CorruptError("a bad escape in a string");
}

Value& RecordBuilder::Add(ValueKind kind) {
  Value& value = record_.values.emplace_back();
  value.kind = kind;
  value.section = section_;
  value.key = record_.arena.Copy(key_);
  key_bytes_ += key_.size();
  return value;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Direction DirectionOf(std::string_view entry_name) {
  const size_t dot = entry_name.rfind('.');
  if (dot != std::string_view::npos && IsNumber(entry_name.substr(dot + 1))) {
    entry_name = entry_name.substr(0, dot);
  }
  if (entry_name.ends_with(".forward")) return Direction::kForward;
  if (entry_name.ends_with(".backward")) return Direction::kBackward;
  if (entry_name.ends_with(".parameters_grad")) return Direction::kParametersGrad;
  return Direction::kOther;
}

void StartRecord(std::string_view entry_name, Record* record) {
  record->values.clear();
  record->extents.clear();
  record->arena.Clear();
  record->direction = DirectionOf(entry_name);
  record->is_distributed =
      entry_name.starts_with("Distributed.") || entry_name.starts_with("MintDistributed.");
}

Status ReadRecord(std::string_view entry_name, const JsonTape& tape, Record* record) {
  StartRecord(entry_name, record);
  return RecordBuilder(tape, record).Build();
}

Status ReadValueRecord(const JsonTape& tape, Record* record) {
  return RecordBuilder(tape, record).BuildValue();
}

}  // namespace msprobe::dump
