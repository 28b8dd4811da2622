#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "msprobe/status.h"
#include "visfile/unit_index.h"

namespace msprobe::visfile {

/// One step and rank that can be browsed: its index, and what each node recorded on request.
/// Const methods are thread-safe.
class UnitSource {
 public:
  virtual ~UnitSource() = default;
  virtual const UnitIndex& index() const = 0;
  /// For matching by hand; whoever changes it sees to it that nobody reads.
  virtual UnitIndex& mutable_index() = 0;
  /// The node as the object that a `.vis` holds for it (docs/vis-format.md), at least with
  /// input_data, output_data, stack_info, matched_distributed and msprobe.
  virtual Result<std::string> NodeJson(Side side, uint32_t id) const = 0;
  /// Anonymous memory it holds, about.
  virtual uint64_t bytes() const = 0;
};

/// A unit that was found but perhaps not loaded yet.
struct UnitEntry {
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
};

struct ReadOptions {
  size_t threads = 1;
  const base::CancelToken* cancel = nullptr;
  std::function<void(uint64_t done, uint64_t total)> progress;
};

/// A file of units. Const methods are thread-safe.
class VisSource {
 public:
  virtual ~VisSource() = default;
  virtual bool is_comparison() const = 0;
  virtual compare::CompareMode mode() const = 0;
  virtual bool overflow_checked() const = 0;
  virtual const std::vector<UnitEntry>& units() const = 0;  ///< by step, then rank
  virtual Result<std::shared_ptr<UnitSource>> LoadUnit(size_t unit,
                                                       const ReadOptions& options) const = 0;
};

/// Errors: NotFound, Corrupt (with the byte offset), Unsupported, Cancelled.
Result<std::unique_ptr<VisSource>> OpenVis(const std::filesystem::path& path,
                                           const ReadOptions& options);
Result<std::unique_ptr<VisSource>> OpenVisDb(const std::filesystem::path& path,
                                             const ReadOptions& options);

}  // namespace msprobe::visfile
