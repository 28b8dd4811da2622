#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/rank_dump.h"

namespace msprobe::visfile::fixture {

/// A dump that holds the records it is given.
class MemoryDump final : public dump::RankDump {
 public:
  struct Entry {
    std::string name;
    dump::Direction direction;
    std::vector<dump::Value> values;
  };

  dump::EntryId Add(Entry entry) {
    entries_.push_back(std::move(entry));
    return static_cast<dump::EntryId>(entries_.size() - 1);
  }
  void AddStack(std::string name, std::vector<std::string> frames) {
    stacks_.emplace_back(std::move(name), std::move(frames));
  }

  const std::filesystem::path& directory() const override { return directory_; }
  dump::Task task() const override { return dump::Task::kStatistics; }
  std::string_view task_text() const override { return "statistics"; }
  std::string_view level() const override { return "mix"; }
  std::string_view framework() const override { return "pytorch"; }
  std::string_view dump_data_dir() const override { return "/data/\"x\""; }
  bool has_checksums() const override { return false; }
  bool has_statistics() const override { return true; }
  uint64_t bytes() const override { return 0; }
  size_t entry_count() const override { return entries_.size(); }
  std::string_view entry_name(dump::EntryId entry) const override { return entries_[entry].name; }
  dump::EntryId Find(std::string_view name) const override {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].name == name) return static_cast<dump::EntryId>(i);
    }
    return dump::kNoEntry;
  }
  Status Read(dump::EntryId entry, dump::Record* record) const override {
    record->direction = entries_[entry].direction;
    record->values = entries_[entry].values;
    return Status::Ok();
  }
  std::span<const dump::ConstructEdge> construct() const override { return {}; }
  bool has_micro_steps() const override { return false; }
  dump::StackId FindStack(std::string_view name) const override {
    for (size_t i = 0; i < stacks_.size(); ++i) {
      if (stacks_[i].first == name) return static_cast<dump::StackId>(i);
    }
    return dump::kNoStack;
  }
  std::vector<std::string> StackFrames(dump::StackId stack) const override {
    return stacks_[stack].second;
  }
  Result<std::filesystem::path> TensorPath(std::string_view) const override {
    return NotFoundError("no tensor files here");
  }

 private:
  std::filesystem::path directory_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::vector<std::string>>> stacks_;
};

}  // namespace msprobe::visfile::fixture
