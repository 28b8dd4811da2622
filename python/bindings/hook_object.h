#pragma once

#include "python/bindings/autograd_access.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// How every hook object of ours begins: a callable that lives in a node's table of hooks.
struct HookObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  PyObject* table;  ///< the table it stands in, while it stands there; not owned
};

/// The table of a node's hooks, which tells nothing of itself: torch shows it to whoever registers
/// one. Null: there is none. Only while RegisterHook() stands in for torch's.
PyRef HookTable(AutogradAccess* autograd, PyObject* node);

/// A type of hooks; `size` is that of a struct that begins with HookObject.
PyTypeObject* MakeHookType(const char* name, size_t size, destructor dealloc);

/// Takes the hook out of its table, if it is in one.
void RemoveHook(HookObject* hook);

/// Stands in for torch's `Function._register_hook(table, hook)`: what takes 2 µs there takes 0.5
/// for our own hooks; all others go to the original.
void SetRegisterHook(const AutogradAccess* autograd);
PyObject* RegisterHook(PyObject* self, PyObject* const* args, Py_ssize_t count);

}  // namespace msprobe::python
