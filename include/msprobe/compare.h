#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "msprobe/status.h"

namespace msprobe {

struct CompareDumpsOptions {
  enum class Match : uint8_t {
    kStrict,  ///< equal names, ancestors, types and shapes
    kLoose,   ///< equal names and ancestors
    kAuto,    ///< by structure and shapes, whatever the names are
  };

  Match match = Match::kStrict;
  std::string tolerance;  ///< a yaml that says what is rounding; empty: by dtype
  size_t threads = 0;     ///< 0: all cores
};

/// A node of the target whose values differ from golden's, or that has no partner.
struct ComparedNode {
  std::string name;
  /// 0 fine … 1 worst; NaN: there was nothing to compare.
  double index = 0;
  std::string status;  ///< "unmatched", "pass", "warning", "error", "unreadable"
  std::string role;    ///< "culprit", "victim", "amplifier", "collective", "undecidable", "none"
  std::string reason;  ///< one sentence; may be empty
};

struct DumpsCompared {
  /// "summary" (statistics), "all" (real data), "md5", "structure" (where one side has no more).
  std::string mode;
  uint64_t nodes = 0;  ///< of the target, groups of calls among them, the root not counted
  uint64_t matched = 0;
  uint64_t unreadable_tensors = 0;
  std::vector<ComparedNode> differing;  ///< in execution order
  /// Names of the nodes where a divergence starts, the most likely first. Empty: none does.
  std::vector<std::string> culprits;
};

/// Compares the dumps of one rank in one step; both directories hold dump.json, stack.json and
/// construct.json. Of a dump that was collected without a hierarchy (level L1, or no construct.json
/// at all) all calls stand side by side, and stack.json may be missing. The result does not depend
/// on the number of threads; nodes that only golden has are not in it.
///
/// Errors: NotFound (a directory or file), InvalidArgument (no dump, level debug, a hierarchy that
/// should be there and is empty, broken tolerances), Corrupt, Unsupported (a task that this version
/// does not know), LimitExceeded (more nodes, longer names or larger tolerances than any dump has),
/// Io (memory included). Damaged tensors and records are no error: their nodes are "unreadable"; of
/// a dump.json that is cut off the whole records count.
Result<DumpsCompared> CompareDumps(const std::string& target, const std::string& golden,
                                   const CompareDumpsOptions& options = {});

}  // namespace msprobe
