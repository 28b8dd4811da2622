#include "dump/ledger.h"

#include <algorithm>

#include "formats/json/json_writer.h"

namespace msprobe::dump {

namespace {

// Reasons may hold text of the program; they must not fill the memory.
constexpr size_t kMaxReasons = 1000;
constexpr size_t kMaxNotes = 1000;

using Counts = std::map<std::string, uint64_t, std::less<>>;

void Count(std::string_view what, uint64_t count, Counts* counts) {
  auto place = counts->find(what);
  if (place == counts->end()) {
    const std::string_view key = counts->size() < kMaxReasons ? what : "other";
    place = counts->try_emplace(std::string(key), 0).first;
  }
  place->second += count;
}

void Write(std::string_view key, const Counts& counts, formats::JsonWriter* json) {
  json->Key(key).BeginObject();
  for (const auto& [what, count] : counts) json->Key(what).UInt(count);
  json->EndObject();
}

}  // namespace

void Ledger::CountSeen(uint64_t count) {
  const std::lock_guard lock(mutex_);
  seen_counted_ = true;
  counts_.seen += count;
}

void Ledger::CountSkipped(std::string_view filter, uint64_t count) {
  const std::lock_guard lock(mutex_);
  counts_.skipped += count;
  Count(filter, count, &skipped_);
}

void Ledger::CountNotRecordable(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  ++counts_.not_recordable;
  Count(reason, 1, &not_recordable_);
}

void Ledger::CountRecorded(uint64_t entries, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  counts_.recorded += entries;
  counts_.json_bytes += bytes;
}

void Ledger::CountLost(uint64_t entries) {
  const std::lock_guard lock(mutex_);
  counts_.lost += entries;
}

void Ledger::CountTensorWritten(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++counts_.tensors_written;
  counts_.tensor_bytes += bytes;
}

void Ledger::CountTensorLost(uint64_t tensors) {
  const std::lock_guard lock(mutex_);
  counts_.tensors_lost += tensors;
}

void Ledger::CountTensorOverBudget() {
  const std::lock_guard lock(mutex_);
  ++counts_.tensors_over_budget;
}

void Ledger::CountProblem() {
  const std::lock_guard lock(mutex_);
  ++problems_;
}

void Ledger::AddNote(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (notes_.size() < kMaxNotes) notes_.emplace_back(text);
}

DumpCounts Ledger::CountsLocked() const {
  DumpCounts counts = counts_;
  if (!seen_counted_) {
    counts.seen = counts.recorded + counts.lost + counts.skipped + counts.not_recordable;
  }
  return counts;
}

DumpCounts Ledger::counts() const {
  const std::lock_guard lock(mutex_);
  return CountsLocked();
}

std::string Ledger::Text() const {
  const std::lock_guard lock(mutex_);
  const DumpCounts counts = CountsLocked();
  const uint64_t accounted = counts.recorded + counts.lost + counts.skipped + counts.not_recordable;
  std::string text;
  formats::JsonWriter json(&text, formats::JsonLayout::kIndented);
  json.BeginObject();
  json.Key("entries").BeginObject();
  json.Key("seen").UInt(counts.seen);
  json.Key("recorded").UInt(counts.recorded);
  json.Key("lost").UInt(counts.lost);
  Write("skipped", skipped_, &json);
  Write("not_recordable", not_recordable_, &json);
  // What was seen and never came: 0 unless the collector has a fault.
  json.Key("unaccounted").Int(static_cast<int64_t>(counts.seen - accounted));
  json.EndObject();
  json.Key("tensors").BeginObject();
  json.Key("written").UInt(counts.tensors_written);
  json.Key("lost").UInt(counts.tensors_lost);
  json.Key("over_budget").UInt(counts.tensors_over_budget);
  json.EndObject();
  json.Key("bytes").BeginObject();
  json.Key("json").UInt(counts.json_bytes);
  json.Key("tensors").UInt(counts.tensor_bytes);
  json.EndObject();
  json.Key("problems").UInt(problems_);
  json.Key("notes").BeginArray();
  for (const std::string& note : notes_) json.String(note);
  json.EndArray();
  json.EndObject();
  text.push_back('\n');
  return text;
}

}  // namespace msprobe::dump
