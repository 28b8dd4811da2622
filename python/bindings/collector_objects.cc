// What Collector does with objects whose class is watched: operators, compiled functions,
// compilers.
#include "python/bindings/collector.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {

std::shared_ptr<CallSite> Collector::SiteOf(CallSite* site, PyObject* object) {
  // MindSpore makes an executor for each call of a compiled function and keeps the call's arguments
  // in it: what holds it would hold them as well.
  if (site->kind == CallKind::kCompiled) {
    const std::string prefix = NameOfObject(object);
    if (prefix.empty()) return nullptr;
    std::shared_ptr<CallSite>& named = compiled_sites_[prefix];
    if (named == nullptr || named->original.get() != site->original.get()) {
      named = NewObjectSite(*site, prefix);
    }
    return named;
  }
  const auto [place, is_new] = object_sites_.try_emplace(object);
  if (!is_new) return place->second.second;
  place->second.first = PyRef::Borrow(object);
  const std::string prefix = NameOfObject(object);
  if (prefix.empty()) return nullptr;
  auto own = NewObjectSite(*site, prefix);
  object_sites_[object] = {PyRef::Borrow(object), own};  // naming may have emptied the table
  return own;
}

std::string Collector::NameOfObject(PyObject* object) const {
  const PyRef name = PyRef::Steal(PyObject_CallOneArg(name_object_.get(), object));
  if (!name) TheErrors().Take("naming an object");
  if (!name || !PyUnicode_Check(name.get())) return {};
  return std::string(Utf8(name.get())) + ".";
}

std::shared_ptr<CallSite> Collector::NewObjectSite(const CallSite& site,
                                                   const std::string& prefix) {
  auto own = std::make_shared<CallSite>();
  own->kind = site.kind;
  own->prefix = prefix;
  own->in_place = ChangesFirstArgument(prefix);
  own->original = site.original;
  own->counter = CounterOf(prefix);
  return own;
}

PyObject* Collector::CallQuiet(CallSite* site, PyObject* const* args, size_t flags,
                               PyObject* names) {
  if (!site->prefix.empty()) Note(site->prefix);
  ThreadState& thread = CurrentThread();
  ++thread.busy;
  PyObject* result = PyObject_Vectorcall(site->original.get(), args, flags, names);
  --thread.busy;
  return result;
}

}  // namespace msprobe::python
