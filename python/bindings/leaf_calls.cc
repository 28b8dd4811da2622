#include "python/bindings/leaf_calls.h"

#include <algorithm>

#include "python/bindings/call_stack.h"
#include "stats/summary_cache.h"

namespace msprobe::python {
namespace {

bool Contains(const std::vector<PyRef>& objects, const void* object) {
  return std::any_of(objects.begin(), objects.end(),
                     [object](const PyRef& known) { return known.get() == object; });
}

// The code that stands in for the function while its calls are watched says where that is from.
bool StandsInFor(PyObject* function, PyObject* code) {
  if (!PyFunction_Check(function)) return false;
  const auto* own = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  const auto* other = reinterpret_cast<PyCodeObject*>(code);
  return own->co_filename == other->co_filename && own->co_name == other->co_name &&
         own->co_firstlineno == other->co_firstlineno;
}

}  // namespace

LeafCalls& TheLeafCalls() {
  static auto* calls = new LeafCalls;  // has Python objects: outlives the interpreter
  return *calls;
}

void LeafCalls::Enter(const ThreadState& thread, Frame* frame, const CallSite& site) const {
  if (frame->kind == CallKind::kModule) {
    if (!IsLeaf(frame->module->module.get())) return;
    frame->leaf.caller = CallStacks::Innermost();
    frame->leaf.inputs = stats::SummaryCache::NewMoment();
    return;
  }
  if (thread.depth < 2 || frame->kind != CallKind::kApi) return;
  Frame& module = *thread.frames[thread.depth - 2];
  if (module.kind != CallKind::kModule || module.leaf.caller == nullptr) return;
  module.leaf.results = 0;
  frame->leaf.inside = IsCalledBy(module.leaf.caller, site);
  if (frame->leaf.inside) frame->leaf.inputs = module.leaf.inputs;
}

uint64_t LeafCalls::Results(const ThreadState& thread, const Frame& frame) {
  if (!frame.leaf.inside) return frame.leaf.results;
  return thread.frames[thread.depth - 2]->leaf.results = stats::SummaryCache::NewMoment();
}

bool LeafCalls::IsLeaf(PyObject* module) const {
  if (!Contains(known_.types, Py_TYPE(module))) return false;
  for (const PyRef& table : known_.tables) {
    if (PyDict_GET_SIZE(table.get()) != 0) return false;
  }
  static PyObject* const dict_name = PyUnicode_InternFromString("__dict__");
  const PyRef attributes = PyRef::Steal(PyObject_GetAttr(module, dict_name));
  if (!attributes || !PyDict_Check(attributes.get())) {
    DropError();
    return false;
  }
  for (const PyRef& name : known_.own_tables) {
    PyObject* table = PyDict_GetItemWithError(attributes.get(), name.get());
    if (table == nullptr || !PyDict_Check(table) || PyDict_GET_SIZE(table) != 0) {
      DropError();
      return false;
    }
  }
  return true;
}

// Whatever a program puts in the way, a forward of its own or a function around the API, is on the
// stack.
bool LeafCalls::IsCalledBy(const void* caller, const CallSite& site) const {
  PyObject* codes[8];
  const size_t count = CallStacks::CodesBelow(caller, codes);
  for (size_t i = 0; i < count; ++i) {
    const bool passes =
        Contains(known_.codes, codes[i]) || (i == 0 && StandsInFor(site.original.get(), codes[i]));
    if (!passes) return false;
  }
  return count > 0;
}

}  // namespace msprobe::python
