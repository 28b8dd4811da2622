#include "app/query_tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/unit_plan.h"
#include "dump/rank_dump.h"
#include "graph/node_name.h"
#include "report/run_report.h"
#include "report/table_columns.h"
#include "report/table_rows.h"

namespace msprobe::app {

namespace {

using compare::CompareMode;
using visfile::Statement;

void BindNumber(int index, const std::optional<int64_t>& number, Statement* statement) {
  number ? statement->BindInt(index, *number) : statement->BindNull(index);
}

void BindText(int index, std::string_view text, Statement* statement) {
  text.empty() ? statement->BindNull(index) : statement->BindText(index, text);
}

void BindDouble(int index, double value, Statement* statement) {
  std::isnan(value) ? statement->BindNull(index) : statement->BindDouble(index, value);
}

/// The columns of a row that are NaN: in SQL those are null, as if nothing had been recorded.
class NanList {
 public:
  void Add(std::string_view column) { text_.append(text_.empty() ? "" : ",").append(column); }
  void Clear() { text_.clear(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Status Insert(Statement* statement) { return statement->Step().status(); }

constexpr const char* kDumpTables = R"sql(
CREATE TABLE entries (step INTEGER, rank INTEGER, entry INTEGER, name TEXT, kind TEXT,
  direction TEXT, class TEXT, api TEXT, call INTEGER, parent TEXT, stack INTEGER);
CREATE TABLE tensors (step INTEGER, rank INTEGER, entry INTEGER, node TEXT, name TEXT,
  section TEXT, type TEXT, dtype TEXT, shape TEXT, value TEXT, max REAL, min REAL, mean REAL,
  norm REAL, requires_grad INTEGER, data_name TEXT, md5 TEXT, nan TEXT);
CREATE TABLE stacks (step INTEGER, rank INTEGER, stack INTEGER, place INTEGER, frame TEXT);
BEGIN;
)sql";

std::string_view DirectionText(dump::Direction direction) {
  switch (direction) {
    case dump::Direction::kForward: return "forward";
    case dump::Direction::kBackward: return "backward";
    case dump::Direction::kParametersGrad: return "parameters_grad";
    case dump::Direction::kOther: return "other";
  }
  return "";
}

std::string_view SectionText(dump::Section section) {
  switch (section) {
    case dump::Section::kInput: return "input";
    case dump::Section::kOutput: return "output";
    case dump::Section::kParameter: return "parameter";
  }
  return "";
}

class DumpFiller {
 public:
  static Result<DumpFiller> Create(visfile::Database* database) {
    DumpFiller filler;
    MSPROBE_ASSIGN_OR_RETURN(
        filler.entry_, database->Prepare("INSERT INTO entries VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
    MSPROBE_ASSIGN_OR_RETURN(
        filler.tensor_,
        database->Prepare("INSERT INTO tensors VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
    MSPROBE_ASSIGN_OR_RETURN(filler.stack_,
                             database->Prepare("INSERT INTO stacks VALUES (?,?,?,?,?)"));
    return filler;
  }

  Status Fill(const dump::DumpUnit& unit, const base::CancelToken* cancel,
              base::Diagnostics* diagnostics) {
    MSPROBE_ASSIGN_OR_RETURN(
        const auto dump,
        dump::RankDump::Open(unit.directory, {.need_construct = false, .need_stack = false},
                             diagnostics));
    std::unordered_map<std::string_view, std::string_view> parents;
    for (const dump::ConstructEdge& edge : dump->construct()) parents[edge.child] = edge.parent;
    dump::StackId stacks = 0;
    dump::Record record;
    for (dump::EntryId entry = 0; entry < dump->entry_count(); ++entry) {
      if (cancel != nullptr && cancel->cancelled()) return CancelledError();
      const std::string_view name = dump->entry_name(entry);
      MSPROBE_RETURN_IF_ERROR(AddEntry(unit, *dump, entry, parents[name], &stacks));
      Status read = dump->Read(entry, &record);
      if (!read.ok()) {
        diagnostics->Add(base::DiagnosticKind::kUnreadableRecord, std::move(read));
        continue;
      }
      for (const dump::Value& value : record.values) {
        MSPROBE_RETURN_IF_ERROR(AddValue(unit, entry, name, value));
      }
    }
    return AddStacks(unit, *dump, stacks);
  }

 private:
  void BindPlace(const dump::DumpUnit& unit, Statement* statement) {
    BindNumber(0, unit.step, statement);
    BindNumber(1, unit.is_process ? std::optional<int64_t>() : unit.rank, statement);
  }

  Status AddEntry(const dump::DumpUnit& unit, const dump::RankDump& dump, dump::EntryId entry,
                  std::string_view parent, dump::StackId* stacks) {
    const std::string_view text = dump.entry_name(entry);
    const graph::NodeName name = graph::ParseNodeName(text);
    const bool module = name.kind == graph::NodeKind::kModule;
    const std::string forward = graph::ForwardOf(text, name);
    const dump::StackId stack = dump.FindStack(forward.empty() ? text : forward);
    BindPlace(unit, &entry_);
    entry_.BindInt(2, entry);
    entry_.BindText(3, text);
    entry_.BindText(4, module ? "module" : "api");
    entry_.BindText(5, DirectionText(name.direction));
    BindText(6, name.class_name, &entry_);
    BindText(7, name.api_id, &entry_);
    BindNumber(8, name.call >= 0 ? std::optional<int64_t>(name.call) : std::nullopt, &entry_);
    BindText(9, parent, &entry_);
    if (stack == dump::kNoStack) {
      entry_.BindNull(10);
    } else {
      entry_.BindInt(10, stack);
      *stacks = std::max(*stacks, stack + 1);
      used_.resize(*stacks, false);
      used_[stack] = true;
    }
    return Insert(&entry_);
  }

  Status AddValue(const dump::DumpUnit& unit, dump::EntryId entry, std::string_view node,
                  const dump::Value& value) {
    if (value.kind != dump::ValueKind::kTensor && value.kind != dump::ValueKind::kScalar) {
      return Status::Ok();
    }
    BindPlace(unit, &tensor_);
    tensor_.BindInt(2, entry);
    tensor_.BindText(3, node);
    tensor_.BindText(4, value.key);
    tensor_.BindText(5, SectionText(value.section));
    tensor_.BindText(6, value.type);
    BindText(7, value.dtype_text, &tensor_);
    BindText(8, value.shape_text, &tensor_);
    BindText(9, value.value_text, &tensor_);
    NanList nan;
    int column = 10;
    for (const auto& [name, statistic] :
         {std::pair{"max", &value.max}, std::pair{"min", &value.min},
          std::pair{"mean", &value.mean}, std::pair{"norm", &value.norm}}) {
      const double number = statistic->has_number() ? statistic->number : NAN;
      if (statistic->has_number() && std::isnan(number)) nan.Add(name);
      BindDouble(column++, number, &tensor_);
    }
    BindNumber(14,
               value.requires_grad == dump::Flag::kAbsent
                   ? std::nullopt
                   : std::optional<int64_t>(value.requires_grad == dump::Flag::kTrue),
               &tensor_);
    BindText(15, value.data_name, &tensor_);
    BindText(16, value.md5, &tensor_);
    BindText(17, nan.text(), &tensor_);
    return Insert(&tensor_);
  }

  Status AddStacks(const dump::DumpUnit& unit, const dump::RankDump& dump, dump::StackId count) {
    for (dump::StackId stack = 0; stack < count; ++stack) {
      if (!used_[stack]) continue;
      int64_t place = 0;
      for (const std::string& frame : dump.StackFrames(stack)) {
        BindPlace(unit, &stack_);
        stack_.BindInt(2, stack);
        stack_.BindInt(3, place++);
        stack_.BindText(4, frame);
        MSPROBE_RETURN_IF_ERROR(Insert(&stack_));
      }
    }
    used_.clear();
    return Status::Ok();
  }

  Statement entry_;
  Statement tensor_;
  Statement stack_;
  std::vector<bool> used_;
};

constexpr const char* kComparisonTables = R"sql(
CREATE TABLE nodes (step INTEGER, rank INTEGER, node_order INTEGER, name TEXT, golden TEXT,
  parent TEXT, status TEXT, idx REAL, worst_below REAL, reason TEXT);
CREATE TABLE diverged (place INTEGER, step INTEGER, rank INTEGER, name TEXT, role TEXT,
  culprit TEXT, culprit_rank INTEGER, error_in REAL, error_out REAL, reason TEXT,
  source TEXT);
CREATE VIEW culprits AS SELECT * FROM diverged WHERE role = 'culprit' ORDER BY place;
CREATE TABLE not_compared (step INTEGER, rank INTEGER, side TEXT, name TEXT, kind TEXT,
  reason TEXT);
)sql";

/// "One Thousandth Err Ratio" → one_thousandth_err_ratio, "MaxRelativeErr" → max_relative_err,
/// "Target MD5" → target_md5, "ULPs" → ulps.
std::string ColumnSqlName(std::string_view name) {
  std::string out;
  bool after_lower = false;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (after_lower && std::isupper(letter) != 0) out.push_back('_');
    out.push_back(c == ' ' ? '_' : static_cast<char>(std::tolower(letter)));
    after_lower = std::islower(letter) != 0;
  }
  return out;
}

/// The columns of all modes: a table has rows of several if its ranks differ.
std::vector<std::string> AllColumns() {
  std::vector<std::string> all;
  for (const CompareMode mode : {CompareMode::kStatistics, CompareMode::kRealData,
                                 CompareMode::kMd5, CompareMode::kStructure}) {
    for (const std::string_view name : report::ColumnNames(mode)) {
      std::string column = ColumnSqlName(name);
      if (std::find(all.begin(), all.end(), column) == all.end()) all.push_back(std::move(column));
    }
  }
  return all;
}

class ComparisonFiller final : public UnitSink {
 public:
  explicit ComparisonFiller(visfile::Database* database) : database_(*database) {}

  Status Start(std::span<const PlannedUnit> /*plan*/, size_t /*threads*/,
               base::Diagnostics* /*diagnostics*/) override {
    columns_ = AllColumns();
    std::string rows = "CREATE TABLE rows (step INTEGER, rank INTEGER, node TEXT, golden_node TEXT";
    for (const std::string& column : columns_) rows += ", " + column;
    rows += ", nan TEXT";
    MSPROBE_RETURN_IF_ERROR(
        database_.Execute((std::string(kComparisonTables) + rows + ");BEGIN;").c_str()));
    MSPROBE_ASSIGN_OR_RETURN(node_,
                             database_.Prepare("INSERT INTO nodes VALUES (?,?,?,?,?,?,?,?,?,?)"));
    return Status::Ok();
  }

  Status TakeGraph(const UnitTurn& /*turn*/, const graph::Graph& /*graph*/) override {
    return InternalError("a comparison without a golden side");
  }

  Status TakeComparison(const UnitTurn& turn, const compare::Comparison& comparison,
                        const compare::DivergenceReport& /*divergences*/) override {
    const std::lock_guard lock(mutex_);
    MSPROBE_RETURN_IF_ERROR(AddNodes(*turn.summary, comparison));
    return AddRows(*turn.summary, comparison);
  }

  Status AddReport(const report::RunReport& report) {
    MSPROBE_ASSIGN_OR_RETURN(
        Statement diverged,
        database_.Prepare("INSERT INTO diverged VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
    int64_t place = 0;
    for (const auto* list : {&report.culprits, &report.victims}) {
      for (const report::DivergedNode& node : *list) {
        MSPROBE_RETURN_IF_ERROR(AddDiverged(node, ++place, &diverged));
      }
    }
    MSPROBE_ASSIGN_OR_RETURN(Statement skipped,
                             database_.Prepare("INSERT INTO not_compared VALUES (?,?,?,?,?,?)"));
    for (const report::NotCompared& node : report.not_compared) {
      BindNumber(0, node.step, &skipped);
      BindNumber(1, node.rank, &skipped);
      skipped.BindText(2, node.golden ? "golden" : "target");
      skipped.BindText(3, node.name);
      skipped.BindText(4, report::NotComparedName(node.kind));
      skipped.BindText(5, node.reason);
      MSPROBE_RETURN_IF_ERROR(Insert(&skipped));
    }
    return Status::Ok();
  }

 private:
  static Status AddDiverged(const report::DivergedNode& node, int64_t place, Statement* row) {
    row->BindInt(0, place);
    BindNumber(1, node.step, row);
    BindNumber(2, node.rank, row);
    row->BindText(3, node.name);
    row->BindText(4, compare::RoleName(node.role));
    BindText(5, node.culprit, row);
    BindNumber(6, node.culprit_rank, row);
    BindDouble(7, node.error_in, row);
    BindDouble(8, node.error_out, row);
    row->BindText(9, node.reason);
    BindText(10, node.source, row);
    return Insert(row);
  }

  Status AddNodes(const report::UnitSummary& unit, const compare::Comparison& comparison) {
    const graph::Graph& target = *comparison.target;
    int64_t order = 0;
    for (const graph::NodeId id : graph::EntryOrder(target)) {
      if (id == graph::kRootNode) continue;
      const graph::Node& node = target.nodes[id];
      const compare::NodeResult& result = comparison.result(id);
      const graph::NodeId golden = comparison.match.golden_of_target[id];
      BindNumber(0, unit.step, &node_);
      BindNumber(1, unit.rank, &node_);
      node_.BindInt(2, order++);
      node_.BindText(3, node.name);
      BindText(4, golden == graph::kNoNode ? "" : comparison.golden->nodes[golden].name, &node_);
      BindText(5, node.parent == graph::kNoNode ? "" : target.nodes[node.parent].name, &node_);
      node_.BindText(6, compare::NodeStatusName(result.status));
      BindDouble(7, result.index, &node_);
      BindDouble(8, result.worst_below, &node_);
      BindText(9, comparison.reasons[result.reason], &node_);
      MSPROBE_RETURN_IF_ERROR(Insert(&node_));
    }
    return Status::Ok();
  }

  Status AddRows(const report::UnitSummary& unit, const compare::Comparison& comparison) {
    constexpr int kFixed = 4;
    std::string sql = "INSERT INTO rows (step, rank, node, golden_node";
    std::string marks = "?,?,?,?";
    std::vector<std::string> columns;
    for (const std::string_view name : report::ColumnNames(comparison.mode)) {
      columns.push_back(ColumnSqlName(name));
      sql += ", " + columns.back();
      marks += ",?";
    }
    MSPROBE_ASSIGN_OR_RETURN(Statement row,
                             database_.Prepare(sql + ", nan) VALUES (" + marks + ",?)"));
    NanList nan;
    const report::TableRows rows(comparison);
    report::RowCells cells(comparison);
    Status status;
    rows.ForEach(0, rows.size(), [&](const report::TableRow& one) {
      if (!status.ok()) return;
      BindNumber(0, unit.step, &row);
      BindNumber(1, unit.rank, &row);
      BindText(2, one.target_node, &row);
      BindText(3, one.golden_node, &row);
      nan.Clear();
      int index = kFixed;
      for (const report::Cell& cell : cells.Fill(one)) {
        if (cell.kind == report::CellKind::kText) {
          row.BindText(index, cell.text);
        } else {
          if (cell.kind != report::CellKind::kNone && std::isnan(cell.number)) {
            nan.Add(columns[static_cast<size_t>(index - kFixed)]);
          }
          BindDouble(index, cell.number, &row);
        }
        ++index;
      }
      BindText(index, nan.text(), &row);
      status = Insert(&row);
    });
    return status;
  }

  visfile::Database& database_;
  std::mutex mutex_;
  std::vector<std::string> columns_;
  Statement node_;
};

}  // namespace

Status FillDumpTables(const UnitJob& job, const base::CancelToken* cancel,
                      base::Diagnostics* diagnostics, visfile::Database* database) {
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<PlannedUnit> plan, PlanUnits(job, diagnostics));
  MSPROBE_RETURN_IF_ERROR(database->Execute(kDumpTables));
  MSPROBE_ASSIGN_OR_RETURN(DumpFiller filler, DumpFiller::Create(database));
  for (const PlannedUnit& unit : plan) {
    MSPROBE_RETURN_IF_ERROR(filler.Fill(unit.target, cancel, diagnostics));
  }
  return database->Execute("COMMIT");
}

Result<UnitResults> FillComparisonTables(const UnitJob& job, const base::CancelToken* cancel,
                                         base::Diagnostics* diagnostics,
                                         visfile::Database* database) {
  ComparisonFiller filler(database);
  UnitJob with_details = job;
  with_details.want_details = true;
  MSPROBE_ASSIGN_OR_RETURN(UnitResults results,
                           RunUnits(with_details, &filler, nullptr, cancel, diagnostics));
  std::vector<report::UnitDetails> details = results.details;
  MSPROBE_RETURN_IF_ERROR(filler.AddReport(report::MakeRunReport(results.units, &details)));
  MSPROBE_RETURN_IF_ERROR(database->Execute("COMMIT"));
  return results;
}

}  // namespace msprobe::app
