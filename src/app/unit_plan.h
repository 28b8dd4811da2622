#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "dump/layout.h"
#include "graph/match.h"
#include "msprobe/status.h"

namespace msprobe::app {

/// Which dumps are worked on, and how their nodes are paired: the same for every command.
struct UnitJob {
  std::filesystem::path target;
  std::filesystem::path golden;  ///< empty: the target's graphs alone
  graph::MatchMode match_mode = graph::MatchMode::kStrict;
  bool fuzzy_match = false;
  bool ignore_classes = false;          ///< mapping without a file: only class names may differ
  std::filesystem::path layer_mapping;  ///< yaml; empty: none
  std::filesystem::path tolerance;      ///< yaml that says what is rounding; empty: the defaults
  /// A run in high precision: roles come from how far the target is from it, compared with how far
  /// golden is. Empty: from target against golden.
  std::filesystem::path reference;
  bool overflow_check = false;
  bool flat_if_none = false;  ///< take dumps that were collected without a hierarchy as well
  size_t threads = 0;         ///< 0: all cores
  std::string framework;  ///< "pytorch", "mindspore": a note if a dump says otherwise; may be empty
  bool want_details = false;  ///< fill UnitResults::details
};

/// One dump to build, or one pair to compare.
struct PlannedUnit {
  dump::DumpUnit target;
  std::optional<dump::DumpUnit> golden;
  std::optional<dump::DumpUnit> reference;
  std::string label;      ///< "step0/rank1"; the directory if it is the only one
  std::string name_part;  ///< "_step0_rank1" of the output's name

  /// None where the number is that of a process.
  std::optional<int64_t> rank() const {
    return target.is_process ? std::optional<int64_t>() : target.rank;
  }
};

/// Finds the dumps of both sides and pairs them, in numeric order of steps and ranks.
Result<std::vector<PlannedUnit>> PlanUnits(const UnitJob& job, base::Diagnostics* diagnostics);

/// "strict", "loose", "auto". Errors: InvalidArgument, any other word.
Result<graph::MatchMode> ParseMatchMode(std::string_view word);

/// How the job's nodes are paired. Errors: those of reading its layer mapping.
Result<graph::MatchOptions> MatchOptionsOf(const UnitJob& job);

}  // namespace msprobe::app
