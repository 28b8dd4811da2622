#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/query.h"
#include "app/unit_plan.h"
#include "dump/layout.h"
#include "report/run_report.h"

namespace nb = nanobind;

namespace msprobe::python {

namespace {

[[noreturn]] void Throw(const Status& status) {
  const std::string text = status.ToString();
  if (status.code() == StatusCode::kNotFound) {
    PyErr_SetString(PyExc_FileNotFoundError, text.c_str());
    throw nb::python_error();
  }
  throw nb::value_error(text.c_str());
}

nb::object TextObject(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::object CellObject(const visfile::Statement& row, int column) {
  using Kind = visfile::Statement::Kind;
  switch (row.kind(column)) {
    case Kind::kInt: return nb::int_(row.Int(column));
    case Kind::kDouble: return nb::float_(row.Double(column));
    case Kind::kText: return TextObject(row.Text(column));
    case Kind::kBlob: {
      const std::string_view bytes = row.Blob(column);
      return nb::bytes(bytes.data(), bytes.size());
    }
    case Kind::kNull: break;
  }
  return nb::none();
}

/// Whether something that was recorded is lost, and not only told.
bool IsDamage(const base::Diagnostic& entry) {
  return entry.kind == base::DiagnosticKind::kTornTail ||
         entry.kind == base::DiagnosticKind::kUnreadableRecord ||
         entry.status.code() == StatusCode::kCorrupt;
}

/// Rows as tuples.
class ListTaker final : public app::QueryTaker {
 public:
  void Columns(const std::vector<std::string>& names) override {
    for (const std::string& name : names) columns.append(name);
  }
  void Row(const visfile::Statement& row) override {
    nb::list cells;
    for (int i = 0; i < row.columns(); ++i) cells.append(CellObject(row, i));
    rows.append(nb::tuple(cells));
  }

  nb::list columns;
  nb::list rows;
};

/// app::QueryTables for Python. Not for several threads at once: the GIL is held while it answers.
class Tables {
 public:
  Tables(const std::string& target, const std::string& golden, const std::string& match,
         bool fuzzy_match, const std::string& layer_mapping, size_t threads) {
    for (const std::string& path : {target, golden}) {
      std::error_code error;  // a query takes a .vis.db too, which is no dump
      if (!std::filesystem::is_regular_file(path, error)) continue;
      base::Diagnostics none;
      Throw(dump::FindDumpUnits(path, &none).status());
    }
    app::UnitJob job;
    job.target = target;
    job.golden = golden;
    job.flat_if_none = true;
    const Result<graph::MatchMode> mode = app::ParseMatchMode(match);
    if (!mode.ok()) Throw(mode.status());
    job.match_mode = *mode;
    job.fuzzy_match = fuzzy_match;
    job.layer_mapping = layer_mapping;
    job.ignore_classes = !layer_mapping.empty();
    job.threads = threads;
    Result<app::QueryTables> tables = Open(job);
    if (!tables.ok()) Throw(tables.status());
    tables_ = std::move(tables).value();
    for (const report::UnitSummary& unit : tables_.results().units) {
      if (!unit.status.ok()) Throw(unit.status);
    }
  }

  /// The findings as `msprobe compare --json` prints them.
  std::string Report() {
    app::UnitResults& results = tables_.results();
    std::vector<report::UnitDetails> details = results.details;
    const report::RunReport report = report::MakeRunReport(results.units, &details);
    return report::RunReportJson(report, results.seconds, 0);
  }

  /// What of the dumps is damaged: of each kind of damage the first, and how many more there are.
  nb::list Damage() const {
    struct Kind {
      std::string first;
      size_t count = 0;
    };
    std::array<Kind, base::kDiagnosticKindCount> kinds;
    for (const base::Diagnostic& entry : diagnostics_.entries()) {
      Kind& kind = kinds[static_cast<size_t>(entry.kind)];
      if (IsDamage(entry) && kind.count++ == 0) kind.first = entry.status.ToString();
    }
    nb::list texts;
    for (Kind& kind : kinds) {
      if (kind.count == 0) continue;
      if (kind.count > 1) kind.first += " (and " + std::to_string(kind.count - 1) + " more)";
      texts.append(TextObject(kind.first));
    }
    return texts;
  }

  nb::tuple Query(std::string_view sql, uint64_t limit, double seconds) {
    ListTaker taker;
    const Result<bool> more = tables_.Run(sql, {seconds, limit}, &taker);
    if (!more.ok()) Throw(more.status());
    return nb::make_tuple(taker.columns, taker.rows);
  }

 private:
  Result<app::QueryTables> Open(const app::UnitJob& job) {
    const nb::gil_scoped_release release;
    return app::QueryTables::Open(job, nullptr, &diagnostics_);
  }

  base::Diagnostics diagnostics_;
  app::QueryTables tables_;
};

}  // namespace

}  // namespace msprobe::python

NB_MODULE(_compare, m) {
  m.doc() = "A dump, or the comparison of two, as tables that take SQL.";
  nb::class_<msprobe::python::Tables>(m, "Tables")
      .def(nb::init<const std::string&, const std::string&, const std::string&, bool,
                    const std::string&, size_t>(),
           nb::arg("target"), nb::arg("golden"), nb::kw_only(), nb::arg("match"),
           nb::arg("fuzzy_match"), nb::arg("layer_mapping"), nb::arg("threads"))
      .def("report", &msprobe::python::Tables::Report)
      .def("damage", &msprobe::python::Tables::Damage)
      .def("query", &msprobe::python::Tables::Query, nb::arg("sql"), nb::kw_only(),
           nb::arg("limit"), nb::arg("seconds"), "Returns (columns, rows).");
}
