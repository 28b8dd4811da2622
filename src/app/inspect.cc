#include "app/inspect.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "app/repair.h"
#include "dump/layout.h"
#include "dump/rank_dump.h"
#include "formats/tensor_file.h"

namespace msprobe::app {

namespace {

constexpr size_t kListed = 10;
constexpr std::array<std::string_view, 3> kJsonFiles = {"dump.json", "stack.json",
                                                        "construct.json"};
/// What level debug writes instead.
constexpr std::array<std::string_view, 1> kDebugFiles = {"debug.json"};

class UnitInspector {
 public:
  UnitInspector(const dump::DumpUnit& unit, const InspectOptions& options) : options_(options) {
    report_.directory = unit.directory;
    if (unit.step) report_.label = "step" + std::to_string(*unit.step);
    if (unit.rank) {
      if (!report_.label.empty()) report_.label += "/";
      report_.label += (unit.is_process ? "proc" : "rank") + std::to_string(*unit.rank);
    }
    if (report_.label.empty()) report_.label = unit.directory.string();
  }

  UnitReport Run(base::Diagnostics* diagnostics) {
    for (const std::string_view name : JsonFiles()) InspectJsonFile(name);
    base::Diagnostics own;  // torn files are told by their state
    dump::OpenOptions open;
    open.need_construct = false;
    open.need_stack = false;
    auto opened = dump::RankDump::Open(report_.directory, open, &own);
    for (const base::Diagnostic& entry : own.entries()) {
      if (entry.kind == base::DiagnosticKind::kTornTail) {
        Mark(FileState::kTorn, entry.status);
      } else if (opened.ok()) {
        diagnostics->Add(entry.kind, entry.status);
      }
    }
    if (!opened.ok()) {
      report_.status = std::move(opened).status();
      Mark(FileState::kDamaged, report_.status);
      return std::move(report_);
    }
    CountEntries(**opened);
    FindExtraFiles();
    return std::move(report_);
  }

 private:
  std::span<const std::string_view> JsonFiles() const {
    const auto exists = [this](std::string_view name) {
      std::error_code error;
      return std::filesystem::exists(report_.directory / name, error) || error;
    };
    if (!exists("dump.json") && exists("debug.json")) return kDebugFiles;
    return kJsonFiles;
  }

  void InspectJsonFile(std::string_view name) {
    JsonFileReport file;
    file.name = name;
    const std::filesystem::path path = report_.directory / name;
    std::error_code error;
    const bool exists = std::filesystem::exists(path, error);
    if (error) {
      file.state = FileState::kDamaged;
      file.problem = IoError("cannot be looked at", error.value(), path.string());
    } else if (!exists) {
      file.state = FileState::kMissing;
    } else if (options_.repair) {
      Result<RepairResult> repaired = RepairJsonFile(report_.directory, name);
      if (!repaired.ok()) {
        file.state = FileState::kDamaged;
        file.problem = std::move(repaired).status();
      } else if (repaired->was_torn) {
        file.state = FileState::kRepaired;
        file.bytes_cut = repaired->bytes_cut;
        file.kept_copy = repaired->kept_copy.filename().string();
      }
    }
    if (file.state != FileState::kMissing) {
      const uint64_t bytes = std::filesystem::file_size(path, error);
      file.bytes = error ? 0 : bytes;
    }
    report_.files.push_back(std::move(file));
  }

  /// The file that `problem` is about, unless more is known of it.
  void Mark(FileState state, const Status& problem) {
    for (JsonFileReport& file : report_.files) {
      if (file.state != FileState::kWhole || !problem.path().ends_with("/" + file.name)) continue;
      file.state = state;
      if (state == FileState::kDamaged) file.problem = problem;
    }
  }

  void CountEntries(const dump::RankDump& dump) {
    report_.framework = dump.framework();
    report_.task = dump.task_text();
    report_.level = dump.level();
    report_.has_statistics = dump.has_statistics();
    report_.has_checksums = dump.has_checksums();
    std::unordered_set<std::string_view> placed;
    for (const dump::ConstructEdge& edge : dump.construct()) placed.insert(edge.child);
    dump::Record record;
    for (dump::EntryId id = 0; id < dump.entry_count(); ++id) {
      if (options_.cancel != nullptr && options_.cancel->cancelled()) return;
      const std::string_view name = dump.entry_name(id);
      if (!placed.empty() && !placed.contains(name) &&
          name.find(".parameters_grad") == std::string_view::npos) {
        ++report_.without_place;
      }
      if (!dump.Read(id, &record).ok()) {
        ++report_.entries.unreadable;
        continue;
      }
      ++CountOf(name, record.direction);
      for (const dump::Value& value : record.values) CheckTensor(dump, record, value);
    }
  }

  uint64_t& CountOf(std::string_view name, dump::Direction direction) {
    const bool module = name.starts_with("Module.") || name.starts_with("Cell.");
    EntryCounts& counts = report_.entries;
    switch (direction) {
      case dump::Direction::kForward: return module ? counts.module_forward : counts.api_forward;
      case dump::Direction::kBackward: return module ? counts.module_backward : counts.api_backward;
      case dump::Direction::kParametersGrad: return counts.parameters_grad;
      case dump::Direction::kOther: break;
    }
    return counts.other;
  }

  void CheckTensor(const dump::RankDump& dump, const dump::Record& record,
                   const dump::Value& value) {
    if (value.kind != dump::ValueKind::kTensor) return;
    ++report_.tensors;
    if (value.data_name.empty()) return;
    if (!named_files_.emplace(value.data_name).second) return;
    ++report_.tensor_files.referenced;
    Result<std::filesystem::path> path = dump.TensorPath(value.data_name);
    if (!path.ok()) {
      ++report_.tensor_files.missing;
      AddProblem(std::move(path).status());
      return;
    }
    Result<formats::StoredTensor> stored = formats::OpenTensorFile(*path);
    if (!stored.ok()) {
      ++report_.tensor_files.damaged;
      AddProblem(std::move(stored).status());
      return;
    }
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(*path, error);
    if (!error) report_.tensor_files.bytes += bytes;
    if (Status checked = formats::VerifyChecksums(*stored); !checked.ok()) {
      ++report_.tensor_files.damaged;
      AddProblem(std::move(checked).WithPath(path->string()));
      return;
    }
    const auto* shape = record.extents.data() + value.shape_begin;
    if (!std::equal(stored->shape.begin(), stored->shape.end(), shape, shape + value.shape_size)) {
      ++report_.tensor_files.damaged;
      AddProblem(CorruptError("the tensor's shape is not that of its record",
                              "collect again, or remove the record", path->string()));
    }
  }

  void AddProblem(Status status) {
    if (report_.tensor_problems.size() < kListed) {
      report_.tensor_problems.push_back(std::move(status));
    }
  }

  void FindExtraFiles() {
    std::error_code error;
    std::vector<std::string> extra;
    const std::filesystem::path directory = report_.directory / "dump_tensor_data";
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      std::string name = it->path().filename().string();
      if (!named_files_.contains(name)) extra.push_back(std::move(name));
    }
    report_.tensor_files.extra = extra.size();
    std::sort(extra.begin(), extra.end());
    if (extra.size() > kListed) extra.resize(kListed);
    report_.extra_files = std::move(extra);
  }

  InspectOptions options_;
  UnitReport report_;
  std::unordered_set<std::string> named_files_;
};

}  // namespace

std::string_view FileStateName(FileState state) {
  switch (state) {
    case FileState::kWhole: return "whole";
    case FileState::kMissing: return "missing";
    case FileState::kTorn: return "torn";
    case FileState::kDamaged: return "damaged";
    case FileState::kRepaired: return "repaired";
  }
  return "unknown";
}

bool UnitReport::has_damage() const {
  const auto damaged = [](const JsonFileReport& file) {
    return file.state == FileState::kTorn || file.state == FileState::kDamaged;
  };
  return !status.ok() || entries.unreadable > 0 ||
         tensor_files.missing + tensor_files.damaged > 0 ||
         std::any_of(files.begin(), files.end(), damaged);
}

Result<std::vector<UnitReport>> InspectDump(const std::filesystem::path& root,
                                            const InspectOptions& options,
                                            base::Diagnostics* diagnostics) {
  MSPROBE_ASSIGN_OR_RETURN(const dump::DumpTree tree, dump::FindDumpUnits(root, diagnostics));
  std::vector<UnitReport> reports;
  for (const dump::DumpUnit& unit : tree.units) {
    reports.push_back(UnitInspector(unit, options).Run(diagnostics));
    if (options.cancel != nullptr && options.cancel->cancelled()) return CancelledError();
  }
  return reports;
}

int ExitCode(const std::vector<UnitReport>& units) {
  int code = 0;
  for (const UnitReport& unit : units) {
    if (!unit.status.ok()) return 2;
    if (unit.has_damage()) code = 3;
  }
  return code;
}

}  // namespace msprobe::app
