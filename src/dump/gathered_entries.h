#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "msprobe/dump_writer.h"

namespace msprobe::dump {

/// What has come for the files since the writing thread looked last, as it came: the writing thread
/// makes text of it. Where memory is short, an entry is added as a whole or not at all.
struct GatheredEntries {
  /// Sizes of parts of `place_names`, one behind the other.
  struct Place {
    size_t name_size;
    size_t parent_size;
  };

  void AddRecord(std::string_view tape) {
    Whole whole(&tapes);
    tapes.append(tape);
    tape_sizes.push_back(tape.size());
    whole.Keep();
  }
  void AddConstruct(std::string_view name, std::string_view parent) {
    Whole whole(&place_names);
    place_names.append(name).append(parent);
    places.push_back({name.size(), parent.size()});
    whole.Keep();
  }
  void AddStack(std::string_view name, StackFrames frames) {
    Whole whole(&stack_names);
    stack_names.append(name);
    stacks.emplace_back(name.size(), std::move(frames));
    whole.Keep();
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

 private:
  /// Takes back what was appended to a text when what belongs to it cannot be added.
  class Whole {
   public:
    explicit Whole(std::string* text) : text_(*text), before_(text->size()) {}
    ~Whole() {
      if (!kept_) text_.resize(before_);
    }
    Whole(const Whole&) = delete;
    Whole& operator=(const Whole&) = delete;
    void Keep() { kept_ = true; }

   private:
    std::string& text_;
    size_t before_;
    bool kept_ = false;
  };
};

}  // namespace msprobe::dump
