#include "dump/layout.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/numbers.h"

namespace msprobe::dump {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kDumpFiles = {"dump.json", "stack.json", "construct.json",
                                                        "debug.json"};
/// What may lie beside them.
constexpr std::array<std::string_view, 3> kCompanions = {"dump_tensor_data", "dump_error_info.log",
                                                         "ledger.json"};
constexpr size_t kListed = 8;

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The number of "<prefix><number>", written without leading zeros.
std::optional<int64_t> NumberAfter(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  const std::optional<uint64_t> number = base::ParseUnsigned(digits);
  if (!number || *number > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    list.append(i == 0 ? "" : ", ").append(names[i]);
  }
  if (names.size() > kListed) {
    list.append(" and ").append(std::to_string(names.size() - kListed)).append(" more");
  }
  return list;
}

/// What lies in one directory, by kind.
struct Contents {
  bool has_dump_files = false;
  std::vector<DumpUnit> ranks;
  std::vector<DumpUnit> processes;
  std::vector<DumpUnit> steps;
  std::vector<fs::path> foreign;
  bool empty = true;
};

void Sort(const fs::directory_entry& entry, Contents* contents) {
  const std::string name = entry.path().filename().string();
  contents->empty = false;
  std::error_code error;
  const bool is_directory = entry.is_directory(error);  // follows links
  const bool is_dump_file = Contains(kDumpFiles, name);
  if (is_dump_file && !is_directory) {
    contents->has_dump_files = true;
    return;
  }
  if (!is_dump_file && KindOfUnitFile(name) != UnitFile::kForeign) return;
  if (!is_directory) {
    contents->foreign.push_back(entry.path());
    return;
  }
  DumpUnit unit;
  unit.directory = entry.path();
  const auto rank = NumberAfter(name, "rank");
  const auto process = NumberAfter(name, "proc");
  const auto step = NumberAfter(name, "step");
  if (rank) {
    unit.rank = rank;
    contents->ranks.push_back(std::move(unit));
  } else if (process || name == "rank") {  // "rank": older collections of a process without one
    unit.rank = process;
    unit.is_process = true;
    contents->processes.push_back(std::move(unit));
  } else if (step) {
    unit.step = step;
    contents->steps.push_back(std::move(unit));
  } else {
    contents->foreign.push_back(std::move(unit.directory));
  }
}

Result<Contents> List(const fs::path& directory) {
  Contents contents;
  std::error_code error;
  fs::directory_iterator it(directory, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) Sort(*it, &contents);
  if (error) return base::ReadError("cannot list the directory", error.value(), directory);
  const auto by_number = [](const DumpUnit& a, const DumpUnit& b) {
    return std::tie(a.step, a.rank) < std::tie(b.step, b.rank);
  };
  std::sort(contents.ranks.begin(), contents.ranks.end(), by_number);
  std::sort(contents.processes.begin(), contents.processes.end(), by_number);
  std::sort(contents.steps.begin(), contents.steps.end(), by_number);
  std::sort(contents.foreign.begin(), contents.foreign.end());
  return contents;
}

void ReportForeign(const Contents& contents, base::Diagnostics* diagnostics) {
  for (const fs::path& path : contents.foreign) {
    std::error_code error;
    const bool leads_nowhere = !fs::exists(path, error);
    diagnostics->Add(
        base::DiagnosticKind::kForeignEntry,
        InvalidArgumentError(
            path.filename().string() + (leads_nowhere ? " is a link that leads nowhere: left out"
                                                      : " does not belong into a dump: left out"),
            {}, path.string()));
  }
}

/// At most one kind of entries, and one process.
Status CheckKinds(const Contents& contents, const fs::path& directory) {
  std::vector<std::string> kinds;
  if (contents.has_dump_files) kinds.emplace_back("dump files");
  if (!contents.ranks.empty()) kinds.emplace_back("rank folders");
  if (!contents.processes.empty()) kinds.emplace_back("proc folders");
  if (!contents.steps.empty()) kinds.emplace_back("step folders");
  if (kinds.size() > 1) {
    return InvalidArgumentError("the directory mixes " + Listed(kinds),
                                "give the path of one of them, or move the others away",
                                directory.string());
  }
  if (contents.processes.size() > 1) {
    std::vector<std::string> names;
    names.reserve(contents.processes.size());
    for (const DumpUnit& unit : contents.processes) {
      names.push_back(unit.directory.filename().string());
    }
    return InvalidArgumentError("several runs lie in one directory: " + Listed(names),
                                "give the path of one of them, or move the others away; collecting "
                                "with overwrite: true replaces earlier ones",
                                directory.string());
  }
  return Status::Ok();
}

Status AddStep(const DumpUnit& step, base::Diagnostics* diagnostics, DumpTree* tree) {
  MSPROBE_ASSIGN_OR_RETURN(Contents contents, List(step.directory));
  MSPROBE_RETURN_IF_ERROR(CheckKinds(contents, step.directory));
  ReportForeign(contents, diagnostics);
  if (!contents.steps.empty()) {
    return InvalidArgumentError("a step folder holds step folders", "check the path",
                                step.directory.string());
  }
  if (contents.has_dump_files) {
    tree->units.push_back(step);
    return Status::Ok();
  }
  for (std::vector<DumpUnit>* units : {&contents.ranks, &contents.processes}) {
    for (DumpUnit& unit : *units) {
      unit.step = step.step;
      tree->units.push_back(std::move(unit));
    }
  }
  if (contents.ranks.empty() && contents.processes.empty()) {
    diagnostics->Add(
        base::DiagnosticKind::kForeignEntry,
        InvalidArgumentError(step.directory.filename().string() + " holds no dump: left out", {},
                             step.directory.string()));
  }
  return Status::Ok();
}

Status NoDump(const Contents& contents, const fs::path& root) {
  return InvalidArgumentError(
      contents.empty ? "the directory is empty" : "the directory holds no dump",
      "give a directory with dump.json, or with rank<N> or step<N> folders", root.string());
}

std::string UnitName(const DumpUnit& unit) {
  std::string name;
  if (unit.step) name = "step" + std::to_string(*unit.step);
  if (unit.rank || unit.is_process) {
    if (!name.empty()) name.push_back('/');
    name.append(unit.directory.filename().string());
  }
  return name;
}

std::string_view KindName(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::kSingle: return "the dump of one rank";
    case LayoutKind::kRanks: return "rank folders";
    case LayoutKind::kSteps: return "step folders";
  }
  return "";
}

using StepUnits = std::map<std::optional<int64_t>, std::vector<const DumpUnit*>>;

StepUnits ByStep(const DumpTree& tree) {
  StepUnits steps;
  for (const DumpUnit& unit : tree.units) steps[unit.step].push_back(&unit);
  return steps;
}

bool IsProcess(const std::vector<const DumpUnit*>& units) {
  return units.size() == 1 && units[0]->is_process;
}

/// A lone process has no rank of its own: it goes with a lone process or rank 0.
bool PairsAsProcess(const std::vector<const DumpUnit*>& a, const std::vector<const DumpUnit*>& b) {
  const auto fits = [](const std::vector<const DumpUnit*>& units) {
    return IsProcess(units) || (units.size() == 1 && units[0]->rank == 0);
  };
  return (IsProcess(a) || IsProcess(b)) && fits(a) && fits(b);
}

struct Pairing {
  std::vector<UnitPair> pairs;
  std::vector<std::string> target_misses;
  std::vector<std::string> golden_misses;
};

void PairWithinStep(const std::vector<const DumpUnit*>& target,
                    const std::vector<const DumpUnit*>& golden, Pairing* pairing) {
  if (PairsAsProcess(target, golden)) {
    pairing->pairs.push_back({*target[0], *golden[0]});
    return;
  }
  std::map<std::string, const DumpUnit*> left;
  for (const DumpUnit* unit : golden) left[UnitName(*unit)] = unit;
  for (const DumpUnit* unit : target) {
    const auto partner = left.find(UnitName(*unit));
    if (partner == left.end()) {
      pairing->golden_misses.push_back(UnitName(*unit));
      continue;
    }
    pairing->pairs.push_back({*unit, *partner->second});
    left.erase(partner);
  }
  for (const DumpUnit* unit : golden) {
    if (left.contains(UnitName(*unit))) pairing->target_misses.push_back(UnitName(*unit));
  }
}

std::string StepName(const std::optional<int64_t>& step) {
  return "step" + std::to_string(step.value_or(0));
}

/// Where a unit lies whose step is there on both sides: the step's directory.
fs::path StepDirectory(const DumpUnit& unit) {
  return unit.rank || unit.is_process ? unit.directory.parent_path() : unit.directory;
}

std::string OrCompare(const fs::path& target, const fs::path& golden) {
  return ", or compare " + target.string() + " with " + golden.string();
}

/// A lone dump goes with any one unit of the other side.
std::string WithSingle(const DumpTree& target, const DumpTree& golden) {
  const bool single = target.kind == LayoutKind::kSingle || golden.kind == LayoutKind::kSingle;
  if (!single) return {};
  return OrCompare(target.units.front().directory, golden.units.front().directory);
}

void AppendMissing(std::string_view side, const std::vector<std::string>& missing,
                   std::string* fact) {
  if (missing.empty()) return;
  if (!fact->empty()) fact->append("; ");
  fact->append(side).append(" has no ").append(Listed(missing));
}

}  // namespace

UnitFile KindOfUnitFile(std::string_view name) {
  const auto is_recorded = [](std::string_view file) {
    return Contains(kDumpFiles, file) || Contains(kCompanions, file);
  };
  if (is_recorded(name)) return UnitFile::kRecorded;
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || !is_recorded(name.substr(0, dot))) return UnitFile::kForeign;
  const std::string_view suffix = name.substr(dot + 1);
  const size_t line = suffix.find('_');
  const std::string_view word = suffix.substr(0, line);
  const bool has_serial =
      line != std::string_view::npos && base::ParseUnsigned(suffix.substr(line + 1));
  if (word == "torn" && (has_serial || word == suffix)) return UnitFile::kTornCopy;
  const bool has_process = word.starts_with("tmp") && base::ParseUnsigned(word.substr(3));
  return has_process && has_serial ? UnitFile::kTemporary : UnitFile::kForeign;
}

Result<DumpTree> FindDumpUnits(const fs::path& root, base::Diagnostics* diagnostics) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (!fs::exists(status)) {
    if (error && error != std::errc::no_such_file_or_directory &&
        error != std::errc::not_a_directory) {
      return base::ReadError("cannot look at the path", error.value(), root);
    }
    return NotFoundError("path does not exist", "check the path of the dump", root.string());
  }
  if (!fs::is_directory(status)) {
    return InvalidArgumentError("a dump is a directory, this is a file",
                                "give the directory that holds dump.json", root.string());
  }
  MSPROBE_ASSIGN_OR_RETURN(Contents contents, List(root));
  MSPROBE_RETURN_IF_ERROR(CheckKinds(contents, root));
  DumpTree tree;
  tree.root = root;
  if (contents.has_dump_files) {
    DumpUnit unit;
    unit.directory = root;
    tree.units.push_back(std::move(unit));
  } else if (!contents.steps.empty()) {
    tree.kind = LayoutKind::kSteps;
    for (const DumpUnit& step : contents.steps) {
      MSPROBE_RETURN_IF_ERROR(AddStep(step, diagnostics, &tree));
    }
  } else {
    tree.kind = LayoutKind::kRanks;
    tree.units = contents.ranks.empty() ? contents.processes : contents.ranks;
  }
  if (tree.units.empty()) return NoDump(contents, root);
  ReportForeign(contents, diagnostics);
  return tree;
}

Result<std::vector<UnitPair>> PairUnits(const DumpTree& target, const DumpTree& golden,
                                        OtherSide other_side) {
  const bool is_golden = other_side == OtherSide::kGolden;
  const std::string name = is_golden ? "golden" : "the reference";
  if (target.kind != golden.kind) {
    const std::string advice =
        is_golden ? "give directories of the same kind on both sides" + WithSingle(target, golden)
                  : "give a --reference of the same kind as the target";
    return InvalidArgumentError("target is " + std::string(KindName(target.kind)) + ", " + name +
                                    " is " + std::string(KindName(golden.kind)),
                                advice, golden.root.string());
  }
  const StepUnits target_steps = ByStep(target);
  const StepUnits golden_steps = ByStep(golden);
  Pairing pairing;
  std::string advice;  // a pair that goes together
  for (const auto& [step, units] : target_steps) {
    const auto other = golden_steps.find(step);
    if (other == golden_steps.end()) {
      pairing.golden_misses.push_back(StepName(step));
    } else {
      const size_t missed = pairing.target_misses.size() + pairing.golden_misses.size();
      PairWithinStep(units, other->second, &pairing);
      const bool whole = missed == pairing.target_misses.size() + pairing.golden_misses.size();
      if (whole && step && advice.empty()) {
        advice = OrCompare(StepDirectory(*units[0]), StepDirectory(*other->second[0]));
      }
    }
  }
  for (const auto& [step, units] : golden_steps) {
    if (!target_steps.contains(step)) pairing.target_misses.push_back(StepName(step));
  }
  std::string fact;
  AppendMissing(name, pairing.golden_misses, &fact);
  AppendMissing("target", pairing.target_misses, &fact);
  if (fact.empty()) return std::move(pairing.pairs);
  if (advice.empty() && !pairing.pairs.empty()) {
    const UnitPair& pair = pairing.pairs.front();
    advice = OrCompare(pair.target.directory, pair.golden.directory);
  }
  const bool golden_lacks = !pairing.golden_misses.empty();
  return InvalidArgumentError(fact,
                              is_golden ? "give directories with the same steps and ranks" + advice
                                        : "give a --reference with the target's steps and ranks",
                              (golden_lacks ? golden : target).root.string());
}

}  // namespace msprobe::dump
