// Of the calls of the model only some are recorded: the tokens that the user has chosen.

#include <utility>

#include "python/bindings/collector.h"

namespace msprobe::python {

PyObject* Collector::CallOutside(CallSite* site, PyObject* const* args, size_t flags,
                                 PyObject* names) {
  ThreadState& thread = CurrentThread();
  ++seen_;
  Count(kTokenRange);
  const bool is_api = site->kind != CallKind::kModule;
  thread.in_api = is_api;
  PyObject* result = site->kind == CallKind::kCompiled
                         ? CallCompiled(site, args, flags, names)
                         : PyObject_Vectorcall(site->original.get(), args, flags, names);
  if (is_api) thread.in_api = false;
  return result;
}

// An API outside the range, like a registered generate(), may be what calls the model.
bool Collector::OpensTokenRange(const CallSite& site, PyObject* const* args, size_t flags) const {
  return token_range_ && !in_token_range_ && site.kind == CallKind::kModule && !roots_.empty() &&
         PyVectorcall_NARGS(flags) > 0 && args[0] == roots_[0].get();
}

PyObject* Collector::CallRoot(CallSite* site, PyObject* const* args, size_t flags,
                              PyObject* names) {
  if (!token_range_) return PyObject_Vectorcall(site->original.get(), args, flags, names);
  ThreadState& thread = CurrentThread();
  const bool in_api = std::exchange(thread.in_api, false);
  const int64_t token = root_calls_++;
  in_token_range_ = token_range_->first <= token && token <= token_range_->second;
  PyObject* result = PyObject_Vectorcall(site->original.get(), args, flags, names);
  thread.in_api = in_api;
  if (token >= token_range_->second) in_token_range_ = false;
  return result;
}

}  // namespace msprobe::python
