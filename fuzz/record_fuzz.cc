// The reader of usual records and the one of all records must agree on what the first one takes.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "dump/plain_record.h"
#include "dump/record_reader.h"
#include "formats/json/json_tape.h"

namespace {

using msprobe::dump::Record;
using msprobe::dump::Statistic;
using msprobe::dump::Value;

bool Same(const Statistic& a, const Statistic& b) {
  return a.state == b.state && a.text == b.text &&
         std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number);
}

bool Same(const Value& a, const Value& b) {
  return a.section == b.section && a.kind == b.kind && a.key == b.key && a.type == b.type &&
         a.value_text == b.value_text && a.dtype_text == b.dtype_text && a.dtype == b.dtype &&
         a.shape_text == b.shape_text && Same(a.max, b.max) && Same(a.min, b.min) &&
         Same(a.mean, b.mean) && Same(a.norm, b.norm) && a.nan_count == b.nan_count &&
         a.inf_count == b.inf_count && a.requires_grad == b.requires_grad &&
         a.data_name == b.data_name && a.md5 == b.md5;
}

std::span<const int64_t> Extents(const Record& record, const Value& value) {
  return std::span(record.extents).subspan(value.shape_begin, value.shape_size);
}

bool Same(const Record& a, const Record& b) {
  if (a.values.size() != b.values.size() || a.direction != b.direction ||
      a.is_distributed != b.is_distributed) {
    return false;
  }
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (!Same(a.values[i], b.values[i]) ||
        !std::ranges::equal(Extents(a, a.values[i]), Extents(b, b.values[i]))) {
      return false;
    }
  }
  return true;
}

void Compare(std::string_view name, const std::string& padded, size_t size) {
  static msprobe::formats::JsonTape tape;
  for (const bool numbers : {true, false}) {
    Record plain;
    plain.parse_numbers = numbers;
    msprobe::dump::StartRecord(name, &plain);
    const std::string_view text(padded.data(), size);
    if (!msprobe::dump::ReadPlainRecord(text, &plain)) return;
    Record record;
    record.parse_numbers = numbers;
    const bool read = tape.Parse(text).ok() && msprobe::dump::ReadRecord(name, tape, &record).ok();
    if (!read || !Same(plain, record)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Behind a record stands what would go on with it.
  const std::string padded =
      std::string(reinterpret_cast<const char*>(data), size) + "}]}]}" + std::string(64, '}');
  for (const std::string_view name :
       {"Module.a.A.forward.0", "Functional.a.0.backward", "Module.a.A.parameters_grad"}) {
    Compare(name, padded, size);
  }
  return 0;
}
