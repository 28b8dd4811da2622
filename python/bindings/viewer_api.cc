#include "viewer/viewer_api.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <stdexcept>

#include "base/thread_pool.h"
#include "viewer/request_guard.h"

namespace nb = nanobind;

namespace msprobe::python {

namespace {

/// viewer::ViewerApi for Python; answers are made without the GIL.
class PyViewerApi {
 public:
  PyViewerApi(const std::string& root, bool allow_saving) {
    viewer::ViewerOptions options;
    options.threads = base::AvailableCores();
    options.allow_saving = allow_saving;
    auto api = viewer::ViewerApi::Create(root, options);
    if (!api.ok()) throw std::runtime_error(api.status().ToString());
    api_ = std::move(*api);
  }

  nb::tuple Handle(std::string_view method, std::string_view route, std::string_view query,
                   const nb::bytes& body) {
    viewer::Response answer;
    {
      const std::string_view bytes(body.c_str(), body.size());
      const nb::gil_scoped_release release;
      answer = api_->Handle({method, route, query, bytes});
    }
    return nb::make_tuple(answer.status, answer.content_type,
                          nb::bytes(answer.body.data(), answer.body.size()));
  }

  /// By the page's Origin and Host: TensorBoard itself looks at neither.
  bool AllowsChange(std::string_view origin, std::string_view host) const {
    return guard_.AllowsHost(host) && viewer::RequestGuard::AllowsOrigin(origin, host);
  }

 private:
  std::unique_ptr<viewer::ViewerApi> api_;
  viewer::RequestGuard guard_{"0.0.0.0"};  // where TensorBoard listens is not told
};

}  // namespace

}  // namespace msprobe::python

NB_MODULE(_viewer, m) {
  m.doc() = "The viewer's API (docs/viewer-api.md) over the files below one directory.";
  nb::class_<msprobe::python::PyViewerApi>(m, "ViewerApi")
      .def(nb::init<const std::string&, bool>(), nb::arg("root"), nb::kw_only(),
           nb::arg("allow_saving") = true)
      .def("handle", &msprobe::python::PyViewerApi::Handle, nb::arg("method"), nb::arg("route"),
           nb::arg("query"), nb::arg("body"), "Returns (status, content type, body).")
      .def("allows_change", &msprobe::python::PyViewerApi::AllowsChange, nb::arg("origin"),
           nb::arg("host"), "Whether these headers are of a page that may save matches.");
}
