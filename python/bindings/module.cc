#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace msprobe::python {

void BindWriter(nb::module_& m);
void BindCollector(nb::module_& m);

}  // namespace msprobe::python

NB_MODULE(_core, m) {
  m.doc() = "The collector's hot path and the dump writer.";
  nb::set_leak_warnings(false);  // the collector lives until the process ends
  msprobe::python::BindWriter(m);
  msprobe::python::BindCollector(m);
}
