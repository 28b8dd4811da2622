#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <utility>
#include <vector>

#include "app/graph_plan.h"
#include "app/query.h"
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

nb::object CellObject(const visfile::Statement& row, int column) {
  using Kind = visfile::Statement::Kind;
  switch (row.kind(column)) {
    case Kind::kInt: return nb::int_(row.Int(column));
    case Kind::kDouble: return nb::float_(row.Double(column));
    case Kind::kText: {
      const std::string_view text = row.Text(column);
      return nb::steal(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    }
    case Kind::kBlob: {
      const std::string_view bytes = row.Blob(column);
      return nb::bytes(bytes.data(), bytes.size());
    }
    case Kind::kNull: break;
  }
  return nb::none();
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
    Result<app::QueryTables> tables = Opened(job);
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

  nb::tuple Query(std::string_view sql, uint64_t limit, double seconds) {
    ListTaker taker;
    const Result<bool> more = tables_.Run(sql, {seconds, limit}, &taker);
    if (!more.ok()) Throw(more.status());
    return nb::make_tuple(taker.columns, taker.rows);
  }

 private:
  static Result<app::QueryTables> Opened(const app::UnitJob& job) {
    const nb::gil_scoped_release release;
    base::Diagnostics diagnostics;  // what is damaged stands in the report
    return app::QueryTables::Open(job, nullptr, &diagnostics);
  }

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
      .def("query", &msprobe::python::Tables::Query, nb::arg("sql"), nb::kw_only(),
           nb::arg("limit"), nb::arg("seconds"), "Returns (columns, rows).");
}
