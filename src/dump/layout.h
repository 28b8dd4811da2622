#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// One dump unit below a root: step<N>/rank<R>, step<N>/proc<PID>, step<N>, rank<R>, or the root
/// itself. Older collections call the folder of a process without a rank "rank".
struct DumpUnit {
  std::filesystem::path directory;
  std::optional<int64_t> step;
  std::optional<int64_t> rank;  ///< also set for proc<PID>: see is_process
  bool is_process = false;      ///< proc<PID> or "rank": the number says nothing
};

enum class LayoutKind : uint8_t { kSingle, kRanks, kSteps };

struct DumpTree {
  std::filesystem::path root;
  LayoutKind kind = LayoutKind::kSingle;
  std::vector<DumpUnit> units;  ///< numeric order: steps, then ranks
};

/// What a name in the directory of a unit stands for.
enum class UnitFile : uint8_t {
  kForeign,    ///< nothing that msprobe writes
  kRecorded,   ///< what a collection writes
  kTemporary,  ///< a file of it that has no name yet, or that a kill has left: dump.json.tmp41_2
  kTornCopy,   ///< what a repair keeps: dump.json.torn, dump.json.torn_1
};
UnitFile KindOfUnitFile(std::string_view name);

/// Classifies what lies under `root`. Foreign entries go to diagnostics.
Result<DumpTree> FindDumpUnits(const std::filesystem::path& root, base::Diagnostics* diagnostics);

struct UnitPair {
  DumpUnit target;
  DumpUnit golden;
};

/// What the target is paired with; errors call it so.
enum class OtherSide : uint8_t { kGolden, kReference };

/// Pairs units one to one, or says which directories are missing on which side.
Result<std::vector<UnitPair>> PairUnits(const DumpTree& target, const DumpTree& golden,
                                        OtherSide other = OtherSide::kGolden);

}  // namespace msprobe::dump
