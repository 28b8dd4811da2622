#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "msprobe/dump_writer.h"

namespace msprobe::dump {

/// What has come for the files since the writing thread looked last, as it came: the writing thread
/// makes text of it.
struct GatheredEntries {
  /// Sizes of parts of `place_names`, one behind the other.
  struct Place {
    size_t name_size;
    size_t parent_size;
  };

  void AddRecord(std::string_view tape) {
    tapes.append(tape);
    tape_sizes.push_back(tape.size());
  }
  void AddConstruct(std::string_view name, std::string_view parent) {
    place_names.append(name).append(parent);
    places.push_back({name.size(), parent.size()});
  }
  void AddStack(std::string_view name, StackFrames frames) {
    stack_names.append(name);
    stacks.emplace_back(name.size(), std::move(frames));
  }
  void AddProblem(std::string_view name, std::string_view reason) {
    problems.emplace_back(name, reason);
  }
  void Clear() {
    tapes.clear();
    tape_sizes.clear();
    place_names.clear();
    places.clear();
    stack_names.clear();
    stacks.clear();
    problems.clear();
  }

  std::string tapes;
  std::vector<size_t> tape_sizes;
  std::string place_names;
  std::vector<Place> places;
  std::string stack_names;
  std::vector<std::pair<size_t, StackFrames>> stacks;  // size of the name
  std::vector<std::pair<std::string, std::string>> problems;
};

}  // namespace msprobe::dump
