// Of the calls of the model only some are recorded: the tokens that the user has chosen.

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

bool Collector::IsToken(const CallSite& site, PyObject* const* args, size_t flags) const {
  return token_range_ && !only_recompute_ && site.kind == CallKind::kModule && !roots_.empty() &&
         PyVectorcall_NARGS(flags) > 0 && args[0] == roots_[0].get();
}

PyObject* Collector::CallToken(CallSite* site, PyObject* const* args, size_t flags,
                               PyObject* names) {
  ThreadState& thread = CurrentThread();
  const int64_t token = root_calls_++;
  const uint64_t step = step_id_;
  const bool was_inside = InTokenRange(thread);
  const TokenCall around = thread.token;
  // A model that calls itself: the inner call is part of the outer one, whatever its number.
  const bool is_part = around.step_id == step && around.recorded;
  const bool recorded = token_range_->first <= token && token <= token_range_->second;
  if (!is_part) {
    thread.token = {step, recorded};
    open_token_calls_ += recorded ? 1 : 0;
    in_token_range_ = open_token_calls_ > 0;
  }
  // An API that began outside the range, like a registered generate(), is not recorded: what it
  // calls inside the range is.
  if (InTokenRange(thread) && !was_inside) thread.in_api = false;
  PyObject* result = thread.in_api ? PyObject_Vectorcall(site->original.get(), args, flags, names)
                                   : CallModule(site, args, flags, names);
  thread.token = around;
  // A call may outlive its step; then the range is another's.
  if (!is_part && step == step_id_) {
    open_token_calls_ -= recorded ? 1 : 0;
    const bool between = token_range_->first < root_calls_ && root_calls_ <= token_range_->second;
    in_token_range_ = open_token_calls_ > 0 || between;
  }
  return result;
}

}  // namespace msprobe::python
