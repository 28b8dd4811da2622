// msprobe._core: the dump writer.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "msprobe/dump_writer.h"

namespace nb = nanobind;

namespace msprobe::python {
namespace {

[[noreturn]] void Throw(const Status& status) { throw nb::value_error(status.ToString().c_str()); }

std::shared_ptr<DumpWriter> Open(const std::string& dump_path, int64_t step,
                                 std::optional<int64_t> rank, const std::string& task,
                                 const std::string& level, const std::string& framework,
                                 bool saves_tensors, bool extra_info, bool overwrite,
                                 bool in_background, const std::string& tensor_format,
                                 std::shared_ptr<DiskBudget> budget) {
  DumpWriterOptions options;
  options.dump_path = dump_path;
  options.step = step;
  options.rank = rank;
  options.task = task;
  options.level = level;
  options.framework = framework;
  options.saves_tensors = saves_tensors;
  options.extra_info = extra_info;
  options.overwrite = overwrite;
  options.create_in_background = in_background;
  options.tensor_format = tensor_format == "pt" ? TensorFormat::kPt : TensorFormat::kNpy;
  options.budget = std::move(budget);
  auto writer = DumpWriter::Open(std::move(options));
  if (!writer.ok()) Throw(writer.status());
  return std::shared_ptr<DumpWriter>(std::move(writer).value().release());
}

}  // namespace

void BindWriter(nb::module_& m) {
  nb::class_<DiskBudget>(m, "DiskBudget").def(nb::init<uint64_t>());
  nb::class_<DumpWriter>(m, "DumpWriter")
      .def_static("open", &Open, nb::arg("dump_path"), nb::kw_only(), nb::arg("step"),
                  nb::arg("rank").none(), nb::arg("task"), nb::arg("level"), nb::arg("framework"),
                  nb::arg("saves_tensors") = false, nb::arg("extra_info"), nb::arg("overwrite"),
                  nb::arg("in_background"), nb::arg("tensor_format"), nb::arg("budget").none())
      .def(
          "finish_within",
          [](DumpWriter& writer, double seconds) {
            const bool done = writer.FinishWithin(std::chrono::milliseconds(0));
            if (done || seconds <= 0) return done;
            const nb::gil_scoped_release release;
            return writer.FinishWithin(std::chrono::milliseconds(static_cast<int>(seconds * 1e3)));
          },
          nb::arg("seconds"), "0 never gives the interpreter's lock away; see process.wait_for().")
      .def(
          "finish", [](DumpWriter& writer) { return writer.Finish().recorded; },
          "Once finish_within() said True. Returns how many entries were recorded.")
      .def("has_files", &DumpWriter::HasFiles, "Once finish_within() said True.")
      .def("become_rank",
           [](DumpWriter& writer, int64_t rank) {
             const Status status = writer.BecomeRank(rank);
             if (!status.ok()) Throw(status);
           })
      .def_prop_ro("directory", &DumpWriter::directory);
  m.def(
      "prepare_dump_path",
      [](const std::string& dump_path, std::optional<int64_t> rank, bool overwrite) {
        std::string warning;
        const Status status = PrepareDumpPath(dump_path, rank, overwrite, &warning);
        if (!status.ok()) Throw(status);
        return warning;
      },
      nb::arg("dump_path"), nb::arg("rank").none(), nb::arg("overwrite"));
}

}  // namespace msprobe::python
