#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/rank_dump.h"

namespace msprobe::graph {

/// One value of a record in a test, with storage of its own.
struct FakeValue {
  dump::Section section = dump::Section::kInput;
  dump::ValueKind kind = dump::ValueKind::kTensor;
  std::string key = "input.0";
  std::string type = "torch.Tensor";
  std::string text = {};
  std::vector<int64_t> shape = {2};
  DType dtype = DType::kFloat32;
  double max = 1;
  double norm = 1;
};

inline FakeValue Input(std::vector<int64_t> shape = {2}) {
  FakeValue value;
  value.shape = std::move(shape);
  return value;
}
inline FakeValue Output(std::vector<int64_t> shape = {2}) {
  FakeValue value = Input(std::move(shape));
  value.section = dump::Section::kOutput;
  value.key = "output.0";
  return value;
}
inline FakeValue Scalar(std::string key, std::string type, std::string text) {
  FakeValue value;
  value.kind = dump::ValueKind::kScalar;
  value.key = std::move(key);
  value.type = std::move(type);
  value.text = std::move(text);
  value.shape = {};
  return value;
}

/// A dump in memory, for tests of what is built upon dumps.
class FakeRankDump : public dump::RankDump {
 public:
  std::filesystem::path place = "fake";  ///< its directory, which is not there
  std::string data_directory;

  FakeRankDump& Edge(std::string_view child, std::string_view parent = {}, int32_t step = -1) {
    edges_.push_back({Keep(child), Keep(parent), step});
    has_micro_steps_ = has_micro_steps_ || step >= 0;
    return *this;
  }
  FakeRankDump& Entry(std::string_view name,
                      const std::vector<FakeValue>& values = {Input(), Output()}) {
    FakeEntry& entry = entries_[Add(name, dump::Direction::kOther, {})];
    for (const FakeValue& fake : values) {
      dump::Value& value = entry.values.emplace_back();
      value.section = fake.section;
      value.kind = fake.kind;
      value.key = Keep(fake.key);
      value.type = Keep(fake.type);
      value.value_text = Keep(fake.text);
      if (fake.kind != dump::ValueKind::kTensor) continue;
      value.dtype = fake.dtype;
      value.shape_begin = static_cast<uint32_t>(entry.extents.size());
      value.shape_size = static_cast<uint32_t>(fake.shape.size());
      entry.extents.insert(entry.extents.end(), fake.shape.begin(), fake.shape.end());
      value.max = {dump::Statistic::State::kNumber, fake.max, {}};
      value.norm = {dump::Statistic::State::kNumber, fake.norm, {}};
    }
    return *this;
  }
  /// An entry with values as the reader makes them: the dump does not hold what they point to.
  dump::EntryId Add(std::string_view name, dump::Direction direction,
                    std::vector<dump::Value> values) {
    const auto id = static_cast<dump::EntryId>(entries_.size());
    by_name_.emplace(name, id);
    entries_.push_back({Keep(name), direction, std::move(values), {}});
    return id;
  }
  /// Of several names one line, as equal stacks share one id.
  FakeRankDump& Stack(std::string_view name, std::vector<std::string> frames) {
    stack_of_.emplace(name, static_cast<dump::StackId>(stacks_.size()));
    stack_names_.push_back(Keep(name));
    stacks_.push_back(std::move(frames));
    return *this;
  }
  FakeRankDump& Damage(std::string_view name) {
    damaged_ = Keep(name);
    return *this;
  }

  const std::filesystem::path& directory() const override { return place; }
  dump::Task task() const override { return dump::Task::kStatistics; }
  std::string_view task_text() const override { return "statistics"; }
  std::string_view level() const override { return "mix"; }
  std::string_view framework() const override { return "pytorch"; }
  std::string_view dump_data_dir() const override { return data_directory; }
  bool has_checksums() const override { return false; }
  bool has_statistics() const override { return true; }
  uint64_t bytes() const override { return 0; }
  size_t entry_count() const override { return entries_.size(); }
  std::string_view entry_name(dump::EntryId entry) const override { return entries_[entry].name; }
  dump::EntryId Find(std::string_view name) const override {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? dump::kNoEntry : it->second;
  }
  Status Read(dump::EntryId entry, dump::Record* record) const override {
    if (!damaged_.empty() && entries_[entry].name == damaged_) return CorruptError("damaged");
    const FakeEntry& read = entries_[entry];
    record->direction = read.direction;
    record->values = read.values;
    record->extents = read.extents;
    return Status::Ok();
  }
  std::span<const dump::ConstructEdge> construct() const override { return edges_; }
  bool has_micro_steps() const override { return has_micro_steps_; }
  size_t stack_name_count() const override { return stack_names_.size(); }
  std::string_view stack_name(size_t index) const override { return stack_names_[index]; }
  dump::StackId FindStack(std::string_view name) const override {
    const auto it = stack_of_.find(name);
    return it == stack_of_.end() ? dump::kNoStack : it->second;
  }
  std::vector<std::string> StackFrames(dump::StackId stack) const override {
    return stacks_[stack];
  }
  Result<std::filesystem::path> TensorPath(std::string_view) const override {
    return NotFoundError("no tensors here");
  }

 private:
  struct FakeEntry {
    std::string_view name;
    dump::Direction direction;
    std::vector<dump::Value> values;
    std::vector<int64_t> extents;
  };

  std::string_view Keep(std::string_view text) { return texts_.emplace_back(text); }

  std::deque<std::string> texts_;
  std::vector<dump::ConstructEdge> edges_;
  bool has_micro_steps_ = false;
  std::vector<FakeEntry> entries_;
  std::map<std::string, dump::EntryId, std::less<>> by_name_;
  std::map<std::string, dump::StackId, std::less<>> stack_of_;
  std::vector<std::vector<std::string>> stacks_;
  std::vector<std::string_view> stack_names_;
  std::string_view damaged_;
};

}  // namespace msprobe::graph
