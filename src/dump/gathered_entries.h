#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/dump_json_writer.h"
#include "msprobe/dump_writer.h"

namespace msprobe::dump {

/// What has come for the files since the writing thread looked last, rendered so that it only has
/// to be appended.
struct GatheredEntries {
  struct Name {
    size_t begin;  ///< in `record_text` or `stack_names`
    size_t size;
  };

  void AddRecord(std::string_view text, size_t name_size) {
    AppendEntry(text, &record_text);
    records.push_back({record_text.size() - text.size(), name_size});
  }
  void AddConstruct(std::string_view name, std::string_view parent) {
    AppendConstruct(name, parent, &construct);
  }
  void AddStack(std::string_view name, StackFrames frames) {
    stacks.emplace_back(Name{stack_names.size(), name.size()}, std::move(frames));
    stack_names.append(name);
  }
  void AddProblem(std::string_view name, std::string_view reason) {
    problems.emplace_back(name, reason);
  }
  void Clear() {
    record_text.clear();
    records.clear();
    construct.clear();
    stack_names.clear();
    stacks.clear();
    problems.clear();
  }

  std::string record_text;
  std::vector<Name> records;
  std::string construct;
  std::string stack_names;
  std::vector<std::pair<Name, StackFrames>> stacks;
  std::vector<std::pair<std::string, std::string>> problems;
};

}  // namespace msprobe::dump
