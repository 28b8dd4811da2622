// The tape and the scanner must agree on every text that the tape accepts.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/json/json_scanner.h"
#include "formats/json/json_string.h"
#include "formats/json/json_tape.h"

namespace {

using msprobe::formats::JsonKind;
using msprobe::formats::JsonScanner;
using msprobe::formats::JsonTape;

void Require(bool holds) {
  if (!holds) std::abort();
}

void Compare(std::string_view text, size_t begin, const JsonTape& tape) {
  const bool is_object = tape[0].kind == JsonKind::kObject;
  JsonScanner scanner(text, begin);
  uint32_t index = 1;
  JsonScanner::Step step = scanner.Next();
  for (; step == JsonScanner::Step::kMember; step = scanner.Next()) {
    Require(index < tape[0].end);
    if (is_object) Require(tape[index++].raw() == scanner.raw_key());
    std::string_view value;
    Require(scanner.TakeValue(&value) == JsonScanner::Step::kMember);
    const size_t quote = tape[index].kind == JsonKind::kString ? 1 : 0;
    Require(tape[index].begin - quote == value.data());
    index = tape[index].end;
  }
  Require(step == JsonScanner::Step::kEnd);
  Require(index == tape[0].end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string padded(reinterpret_cast<const char*>(data), size);
  padded.append(64, '"');
  const std::string_view text(padded.data(), size);
  static JsonTape tape;
  const size_t begin = msprobe::formats::SkipJsonSpace(text, 0);
  if (tape.Parse(text).ok()) {
    Require(tape[0].end == tape.tokens().size());
    if (tape[0].kind == JsonKind::kObject || tape[0].kind == JsonKind::kArray) {
      Compare(text, begin, tape);
    }
  } else if (begin < size && (text[begin] == '{' || text[begin] == '[')) {
    JsonScanner scanner(text, begin);
    std::string_view value;
    while (scanner.Next() == JsonScanner::Step::kMember &&
           scanner.TakeValue(&value) == JsonScanner::Step::kMember) {
    }
    Require(scanner.position() <= size && scanner.whole_end() <= size);
  }
  return 0;
}
