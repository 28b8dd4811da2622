#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_arena.h"
#include "dump/dump_contents.h"
#include "dump/json_file.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// construct.json, mapped: its edges in file order.
class ConstructJsonReader {
 public:
  ConstructJsonReader() = default;
  static Result<ConstructJsonReader> Open(const std::filesystem::path& directory,
                                          base::Diagnostics* diagnostics);

  uint64_t size() const { return file_.size(); }
  std::string path() const { return file_.path(); }
  std::span<const ConstructEdge> edges() const { return edges_; }
  /// The file is cut off, or has parents that are none: there were more edges than edges().
  bool is_damaged() const { return is_damaged_; }
  bool has_micro_steps() const { return has_micro_steps_; }
  void ForgetEdges() { edges_ = std::vector<ConstructEdge>(); }

 private:
  /// False: the value is not a parent.
  bool ReadParent(std::string_view value, ConstructEdge* edge);
  bool ReadParentAndStep(std::string_view value, ConstructEdge* edge);
  void DropRepeated(base::Diagnostics* diagnostics);

  JsonFile file_;
  std::vector<ConstructEdge> edges_;
  bool is_damaged_ = false;
  bool has_micro_steps_ = false;
  base::StringArena arena_;
};

}  // namespace msprobe::dump
