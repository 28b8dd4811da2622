#include "dump/plain_record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "dump/python_text.h"
#include "formats/json/plain_json.h"
#include "tensor/dtype.h"

namespace msprobe::dump {

namespace {

using State = Statistic::State;

// What is larger than any usual record is read with all the limits of the other reader.
constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxNames = 16;
constexpr size_t kMaxValues = 64;
constexpr int kMaxDepth = 8;
constexpr size_t kMaxRank = 8;
constexpr size_t kMaxShapeText = kMaxRank * 22;
constexpr size_t kExtentDigits = std::numeric_limits<int64_t>::digits10;

/// The members of a described value.
enum Member : uint32_t {
  kType = 1 << 0,
  kValue = 1 << 1,
  kDType = 1 << 2,
  kShape = 1 << 3,
  kMax = 1 << 4,
  kMin = 1 << 5,
  kMean = 1 << 6,
  kNorm = 1 << 7,
  kRequiresGrad = 1 << 8,
  kDataName = 1 << 9,
  kMd5 = 1 << 10,
  kNoMember = 0,
};
constexpr size_t kMembers = 11;

Member MemberOf(std::string_view key) {
  switch (key.size()) {
    case 3: return key == "Max" ? kMax : key == "Min" ? kMin : key == "md5" ? kMd5 : kNoMember;
    case 4:
      return key == "type" ? kType : key == "Mean" ? kMean : key == "Norm" ? kNorm : kNoMember;
    case 5:
      return key == "dtype"   ? kDType
             : key == "shape" ? kShape
             : key == "value" ? kValue
                              : kNoMember;
    case 9: return key == "data_name" ? kDataName : kNoMember;
    case 13: return key == "requires_grad" ? kRequiresGrad : kNoMember;
    default: return kNoMember;
  }
}

/// How tensors were written that have been read: most of those to come are written alike.
struct Habits {
  /// The members in their order, each with the text between the value before it and its own.
  struct Layout {
    struct Step {
      formats::KnownText before;
      Member member;
    };
    std::array<Step, kMembers> steps;
    size_t size = 0;
    formats::KnownText end;
  };
  struct Shape {
    formats::KnownText json;
    std::array<int64_t, kMaxRank> extents;
    uint32_t rank;
    std::array<char, kMaxShapeText> text;
    size_t text_size;
  };

  Layout layout;
  Layout learning;
  std::array<Shape, 4> shapes;
  size_t next_shape = 0;
};

class PlainReader {
 public:
  PlainReader(std::string_view text, Habits* habits, Record* record)
      : json_(text), habits_(*habits), record_(*record) {}

  bool Read() {
    const bool gradients = record_.direction == Direction::kParametersGrad;
    return (gradients ? Gradients() : Sections()) && json_.AtEnd() && !HasEqualKeys();
  }

 private:
  bool Sections();
  bool Part(std::string_view key);
  bool Named(std::string_view prefix);
  bool Gradients();
  bool Any(std::string_view key, int depth);
  bool List(std::string_view key, int depth);
  bool Described(std::string_view key);
  bool Members(Value* value, uint32_t* members, bool* others);
  bool Fill(Member member, Value* value);
  bool Shape(Value* value);
  bool ListOfSizes(Value* value);
  bool Number(Statistic* statistic);
  bool Scalar(Value* value);
  bool Flagged(Flag* flag);
  bool Other(std::string_view key, Value* value);
  bool PassScalar();
  bool HasEqualKeys() const;
  Value* Add(std::string_view key);
  std::string_view Below(std::string_view key, std::string_view name);
  std::string_view Below(std::string_view key, size_t position);

  formats::PlainJson json_;
  Habits& habits_;
  Record& record_;
  std::array<std::string_view, 4> shape_texts_;  ///< of Habits::shapes, in the record's arena
  Section section_ = Section::kInput;
  std::array<size_t, 5> sections_begin_{};
  std::string scratch_;
};

Value* PlainReader::Add(std::string_view key) {
  if (record_.values.size() == kMaxValues) return nullptr;
  Value& value = record_.values.emplace_back();
  value.section = section_;
  value.key = key;
  return &value;
}

std::string_view PlainReader::Below(std::string_view key, std::string_view name) {
  char* const text = record_.arena.Reserve(key.size() + 1 + name.size());
  char* const dot = std::copy(key.begin(), key.end(), text);
  *dot = '.';
  char* const end = std::copy(name.begin(), name.end(), dot + 1);
  return {text, static_cast<size_t>(end - text)};
}

std::string_view PlainReader::Below(std::string_view key, size_t position) {
  static constexpr std::array<std::string_view, 8> kInputs = {
      "input.0", "input.1", "input.2", "input.3", "input.4", "input.5", "input.6", "input.7"};
  static constexpr std::array<std::string_view, 4> kOutputs = {"output.0", "output.1", "output.2",
                                                               "output.3"};
  if (position < kInputs.size() && key == "input") return kInputs[position];
  if (position < kOutputs.size() && key == "output") return kOutputs[position];
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), position);
  return Below(key, std::string_view(digits.data(), end));
}

/// Comparing all with all is cheapest for the few values there usually are.
bool PlainReader::HasEqualKeys() const {
  const std::vector<Value>& values = record_.values;
  for (size_t i = 1; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (values[i].key == values[j].key) return true;
    }
  }
  return false;
}

/// The parts of the record stand in any order; their values in the record do not.
bool PlainReader::Sections() {
  static constexpr std::array<std::string_view, 5> kParts = {"input_args", "input", "input_kwargs",
                                                             "output", "parameters"};
  uint32_t seen = 0;
  return json_.Object([&](std::string_view key) {
    const auto place = static_cast<size_t>(std::ranges::find(kParts, key) - kParts.begin());
    if (place == kParts.size()) return PassScalar();
    if ((seen >> place & 1) != 0) return false;
    seen |= uint32_t{1} << place;
    const size_t begin = record_.values.size();
    if (!Part(key)) return false;
    // What comes later in the record and was there earlier moves behind this part.
    size_t later = begin;
    for (size_t other = place + 1; other < kParts.size(); ++other) {
      if ((seen >> other & 1) != 0) later = std::min(later, sections_begin_[other]);
    }
    const size_t size = record_.values.size() - begin;
    std::rotate(record_.values.begin() + static_cast<ptrdiff_t>(later),
                record_.values.begin() + static_cast<ptrdiff_t>(begin), record_.values.end());
    for (size_t other = place + 1; other < kParts.size(); ++other) sections_begin_[other] += size;
    sections_begin_[place] = later;
    return true;
  });
}

bool PlainReader::Part(std::string_view key) {
  section_ = key == "output"       ? Section::kOutput
             : key == "parameters" ? Section::kParameter
                                   : Section::kInput;
  const std::string_view prefix = section_ == Section::kOutput      ? "output"
                                  : section_ == Section::kParameter ? "parameters"
                                                                    : "input";
  const char next = json_.Next();
  if (next == '[') return List(prefix, 0);
  if (next == 'n') return json_.Take("null");
  return (key == "input_kwargs" || key == "parameters") && Named(prefix);
}

/// Keyword arguments or parameters.
bool PlainReader::Named(std::string_view prefix) {
  std::array<std::string_view, kMaxNames> names;
  size_t count = 0;
  return json_.Object([&](std::string_view name) {
    const auto end = names.begin() + static_cast<ptrdiff_t>(count);
    if (count == kMaxNames || name.size() > kMaxNameBytes) return false;
    if (std::find(names.begin(), end, name) != end) return false;  // the last of them counts
    names[count++] = name;
    return Any(Below(prefix, name), 0);
  });
}

/// {"weight": [tensor]}
bool PlainReader::Gradients() {
  section_ = Section::kParameter;
  return json_.Object([&](std::string_view name) {
    size_t elements = 0;
    return name.size() <= kMaxNameBytes && json_.Next() == '[' &&
           json_.List([&] { return elements++ == 0 && json_.Next() != '[' && Any(name, 0); });
  });
}

bool PlainReader::Any(std::string_view key, int depth) {
  switch (json_.Next()) {
    case '{': return Described(key);
    case '[': return depth < kMaxDepth && List(key, depth);
    case 'n': return json_.Take("null") && Add(key) != nullptr;
    default: return false;
  }
}

bool PlainReader::List(std::string_view key, int depth) {
  size_t position = 0;
  return json_.List([&] { return Any(Below(key, position++), depth + 1); });
}

bool PlainReader::Described(std::string_view key) {
  Value* const value = Add(key);
  if (value == nullptr) return false;
  uint32_t members = 0;
  bool others = false;
  if (!Members(value, &members, &others) || (members & kType) == 0) return false;
  if ((members & (kDType | kShape)) != 0) {
    value->kind = ValueKind::kTensor;
    return (members & kValue) == 0;
  }
  value->kind = members == kType ? ValueKind::kObject : ValueKind::kScalar;
  return !others && (members & ~(kType | kValue)) == 0;
}

/// As the last tensor was written, as far as that goes; then member by member.
bool PlainReader::Members(Value* value, uint32_t* members, bool* others) {
  const Habits::Layout& layout = habits_.layout;
  size_t step = 0;
  for (; step < layout.size && json_.Take(layout.steps[step].before); ++step) {
    if (!Fill(layout.steps[step].member, value)) return false;
    *members |= layout.steps[step].member;
  }
  if (step > 0 && step == layout.size && json_.Take(layout.end)) return true;

  Habits::Layout& learned = habits_.learning;
  std::copy_n(layout.steps.begin(), step, learned.steps.begin());
  const char* last_end = json_.position();
  if (!json_.Take(step == 0 ? '{' : ',')) return step > 0 && json_.Take('}');
  do {
    std::string_view key;
    if (!json_.String(&key) || !json_.Take(':') || json_.Next() == '\0') return false;
    const Member member = MemberOf(key);
    if ((*members & member) != 0) return false;
    *members |= member;
    if (member == kNoMember) {
      *others = true;
      if (!Other(key, value)) return false;
    } else {
      learned.steps[step++] = {{}, member};
      learned.steps[step - 1].before.Set({last_end, json_.position()});
      if (!Fill(member, value)) return false;
      last_end = json_.position();
    }
  } while (json_.Take(','));
  if (!json_.Take('}')) return false;
  if ((*members & kDType) != 0 && !*others) {
    learned.size = step;
    learned.end.Set({last_end, json_.position()});
    std::swap(habits_.layout, habits_.learning);
  }
  return true;
}

bool PlainReader::Fill(Member member, Value* value) {
  switch (member) {
    case kType: return json_.String(&value->type);
    case kValue: return Scalar(value);
    case kDType: {
      if (!json_.String(&value->dtype_text)) return false;
      const Value& first = record_.values.front();
      const bool known = &first != value && first.dtype_text == value->dtype_text;
      value->dtype = known ? first.dtype : tensor::ParseDType(value->dtype_text);
      return true;
    }
    case kShape: return Shape(value);
    case kMax: return Number(&value->max);
    case kMin: return Number(&value->min);
    case kMean: return Number(&value->mean);
    case kNorm: return Number(&value->norm);
    case kRequiresGrad: return Flagged(&value->requires_grad);
    case kDataName: return json_.String(&value->data_name);
    case kMd5: return json_.String(&value->md5);
    case kNoMember: return false;
  }
  return false;
}

bool PlainReader::Shape(Value* value) {
  value->shape_begin = static_cast<uint32_t>(record_.extents.size());
  for (size_t i = 0; i < habits_.shapes.size(); ++i) {
    const Habits::Shape& known = habits_.shapes[i];
    if (!json_.Take(known.json)) continue;
    record_.extents.insert(record_.extents.end(), known.extents.begin(),
                           known.extents.begin() + known.rank);
    value->shape_size = known.rank;
    if (shape_texts_[i].empty()) {
      shape_texts_[i] = record_.arena.Copy({known.text.data(), known.text_size});
    }
    value->shape_text = shape_texts_[i];
    return true;
  }
  return ListOfSizes(value);
}

bool PlainReader::ListOfSizes(Value* value) {
  const size_t place = habits_.next_shape++ % habits_.shapes.size();
  Habits::Shape& shape = habits_.shapes[place];
  const char* const begin = json_.position();
  shape.rank = 0;
  char* text = shape.text.data();
  *text++ = '[';
  const bool plain = json_.List([&] {
    std::string_view digits;
    bool whole = false;
    if (shape.rank == kMaxRank || !json_.Number(&digits, &whole) || !whole) return false;
    if (digits.front() == '-' || digits.size() > kExtentDigits) return false;
    int64_t extent = 0;
    for (const char digit : digits) extent = 10 * extent + (digit - '0');
    if (shape.rank > 0) text = std::copy_n(", ", 2, text);
    text = std::copy(digits.begin(), digits.end(), text);
    shape.extents[shape.rank++] = extent;
    return true;
  });
  *text++ = ']';
  shape.text_size = static_cast<size_t>(text - shape.text.data());
  shape.json.Set(plain ? std::string_view(begin, json_.position()) : std::string_view());
  record_.extents.insert(record_.extents.end(), shape.extents.begin(),
                         shape.extents.begin() + shape.rank);
  value->shape_size = shape.rank;
  value->shape_text = shape_texts_[place] =
      record_.arena.Copy({shape.text.data(), shape.text_size});
  return plain;
}

bool PlainReader::Number(Statistic* statistic) {
  static constexpr std::array<std::string_view, 3> kWords = {"NaN", "Infinity", "-Infinity"};
  bool whole = false;
  bool plain = json_.Number(&statistic->text, &whole);
  for (size_t i = 0; i < kWords.size() && !plain; ++i) {
    statistic->text = kWords[i];
    plain = json_.Take(kWords[i]);
  }
  if (plain) {
    statistic->state = State::kNumber;
    if (!record_.parse_numbers) return true;
    const auto number = base::ParseDouble(statistic->text);
    statistic->number = number.value_or(0);
    return number.has_value();
  }
  if (json_.Take("null")) {
    statistic->state = State::kNull;
    statistic->text = "null";
    return true;
  }
  Flag flag = Flag::kAbsent;
  if (!Flagged(&flag)) return false;
  statistic->state = State::kNumber;
  statistic->number = flag == Flag::kTrue ? 1 : 0;
  statistic->text = flag == Flag::kTrue ? "true" : "false";
  return true;
}

bool PlainReader::Flagged(Flag* flag) {
  *flag = json_.Next() == 't' ? Flag::kTrue : Flag::kFalse;
  return json_.Take(*flag == Flag::kTrue ? "true" : "false");
}

/// As Python shows it; whole numbers as they are written.
bool PlainReader::Scalar(Value* value) {
  switch (json_.Next()) {
    case '"': return json_.String(&value->value_text);
    case 't': value->value_text = "True"; return json_.Take("true");
    case 'f': value->value_text = "False"; return json_.Take("false");
    case 'n': value->value_text = "None"; return json_.Take("null");
    default: break;
  }
  bool whole = false;
  if (!json_.Number(&value->value_text, &whole)) return false;
  if (whole && value->value_text != "-0") return true;
  scratch_.clear();
  AppendPythonNumber(value->value_text, &scratch_);
  value->value_text = record_.arena.Copy(scratch_);
  return true;
}

/// A member of a tensor that few of them have: no habit is made of it.
bool PlainReader::Other(std::string_view key, Value* value) {
  uint64_t* const count = key == "nan_count"   ? &value->nan_count
                          : key == "inf_count" ? &value->inf_count
                                               : nullptr;
  if (count == nullptr) return PassScalar();
  std::string_view digits;
  bool whole = false;
  const bool is_number = json_.Number(&digits, &whole);
  *count = is_number ? base::ParseUnsigned(digits).value_or(0) : 0;
  return is_number || PassScalar();
}

/// Something that nobody asks for.
bool PlainReader::PassScalar() {
  std::string_view text;
  bool whole = false;
  switch (json_.Next()) {
    case '"': return json_.String(&text);
    case 't': return json_.Take("true");
    case 'f': return json_.Take("false");
    case 'n': return json_.Take("null");
    default: return json_.Number(&text, &whole);
  }
}

}  // namespace

bool ReadPlainRecord(std::string_view text, Record* record) {
  thread_local Habits habits;
  return text.size() <= kMaxBytes && PlainReader(text, &habits, record).Read();
}

}  // namespace msprobe::dump
