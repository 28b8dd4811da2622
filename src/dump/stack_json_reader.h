#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_arena.h"
#include "dump/dump_contents.h"
#include "dump/json_file.h"
#include "dump/name_index.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// stack.json in both layouts, {name: [frames]} and {"<k>": [[names], [frames]]}: which stack a
/// name has. Frames are parsed when they are asked for.
class StackJsonReader {
 public:
  StackJsonReader() = default;
  static Result<StackJsonReader> Open(const std::filesystem::path& directory,
                                      base::Diagnostics* diagnostics);

  uint64_t size() const { return file_.size(); }
  size_t name_count() const { return owners_.size(); }
  std::string_view name(size_t index) const {
    return {owners_[index].name, owners_[index].name_size};
  }
  StackId Find(std::string_view name) const;
  std::vector<std::string> Frames(StackId stack) const;
  std::string InnermostFrame(StackId stack) const;

 private:
  struct Owner {
    const char* name;
    uint32_t name_size;
    StackId stack;
  };
  struct Stack {
    const char* frames;
    uint32_t size;
  };

  formats::JsonScanner::Step ReadGroup(formats::JsonScanner* scanner);
  void AddOwner(std::string_view raw_name, StackId stack);
  StackId AddStack(std::string_view frames);
  void IndexNames();

  JsonFile file_;
  std::vector<Owner> owners_;
  std::vector<Stack> stacks_;
  NameIndex index_;
  base::StringArena arena_;
};

}  // namespace msprobe::dump
