#include "python/bindings/hook_object.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace msprobe::python {
namespace {

std::vector<PyTypeObject*>& HookTypes() {
  static std::vector<PyTypeObject*> types;
  return types;
}
const AutogradAccess* the_autograd = nullptr;

/// Given in place of a hook: asks for the table.
PyObject* Question() {
  static PyObject* const question =
      PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return question;
}
PyRef* answer = nullptr;  // to the question that is being asked

}  // namespace

PyTypeObject* MakeHookType(const char* name, size_t size, destructor dealloc) {
  PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(HookObject, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_members, members},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {0, nullptr}};
  PyType_Spec spec = {name, static_cast<int>(size), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (type != nullptr) HookTypes().push_back(type);
  return type;
}

void RemoveHook(HookObject* hook) {
  PyObject* table = hook->table;
  hook->table = nullptr;
  if (table != nullptr && PyObject_DelItem(table, reinterpret_cast<PyObject*>(hook)) != 0) {
    DropError();
  }
}

PyRef HookTable(AutogradAccess* autograd, PyObject* node) {
  PyRef table;
  answer = &table;
  autograd->TryRegisterHook(node, Question());  // fails: nothing is registered
  answer = nullptr;
  DropError();
  return table;
}

void SetRegisterHook(const AutogradAccess* autograd) { the_autograd = autograd; }

PyObject* RegisterHook(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count == 2 && answer != nullptr && args[1] == Question()) {
    if (args[0] != Py_None) *answer = PyRef::Borrow(args[0]);
    PyErr_SetNone(PyExc_LookupError);
    return nullptr;
  }
  const auto& types = HookTypes();
  if (count != 2 || std::find(types.begin(), types.end(), Py_TYPE(args[1])) == types.end()) {
    return PyObject_Vectorcall(the_autograd->register_hook_function(), args,
                               static_cast<size_t>(count), nullptr);
  }
  // An ordered dict like torch's own: hooks of the user that come later take weak references.
  const PyRef table = args[0] != Py_None ? PyRef::Borrow(args[0]) : PyRef::Steal(PyODict_New());
  if (!table || PyObject_SetItem(table.get(), args[1], args[1]) != 0) return nullptr;
  reinterpret_cast<HookObject*>(args[1])->table = table.get();
  return PyTuple_Pack(2, table.get(), Py_None);
}

}  // namespace msprobe::python
