// The ways into Invoke(): objects and C functions that Python calls in place of the original.
#include "python/bindings/call_patches.h"

#include <structmember.h>

#include <array>
#include <cstddef>

namespace msprobe::python {
namespace {

struct SiteObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  CallSite* site;
};

// Puts the values of keyword arguments behind the others; gives their names, null on errors.
PyRef AppendNamed(PyObject* named, std::vector<PyObject*>* all) {
  PyRef names = PyRef::Steal(PyTuple_New(PyDict_GET_SIZE(named)));
  if (!names) return names;
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0, i = 0;
  while (PyDict_Next(named, &position, &name, &value)) {
    PyTuple_SET_ITEM(names.get(), i++, Py_NewRef(name));
    all->push_back(value);
  }
  return names;
}

// hook(args, kwargs)
PyObject* CallPacked(PyObject* self, PyObject* const* args, size_t, PyObject*) {
  CallSite* site = reinterpret_cast<SiteObject*>(self)->site;
  PyObject* positional = args[0];
  PyObject* named = args[1];
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(positional));
  if (PyDict_GET_SIZE(named) == 0) {
    return Invoke(site, &PyTuple_GET_ITEM(positional, 0), count, nullptr);
  }
  std::vector<PyObject*> all(&PyTuple_GET_ITEM(positional, 0),
                             &PyTuple_GET_ITEM(positional, 0) + count);
  const PyRef names = AppendNamed(named, &all);
  if (!names) return nullptr;
  return Invoke(site, all.data(), count, names.get());
}

PyObject* CallPlain(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  return Invoke(reinterpret_cast<SiteObject*>(self)->site, args, flags, names);
}

PyObject* BindMethod(PyObject* self, PyObject* object, PyObject*) {
  if (object == nullptr || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

// __name__, __module__, __doc__ and whatever else the original has.
PyObject* GetAttribute(PyObject* self, PyObject* name) {
  return PyObject_GetAttr(reinterpret_cast<SiteObject*>(self)->site->original.get(), name);
}

void Dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyTypeObject* MakeType(const char* name, unsigned int more_flags, bool plain) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(SiteObject, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  std::vector<PyType_Slot> slots = {{Py_tp_members, members},
                                    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                    {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)}};
  if (plain) {
    slots.push_back({Py_tp_descr_get, reinterpret_cast<void*>(BindMethod)});
    slots.push_back({Py_tp_getattro, reinterpret_cast<void*>(GetAttribute)});
  }
  slots.push_back({0, nullptr});
  const auto flags =
      static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL) | more_flags;
  PyType_Spec spec = {name, sizeof(SiteObject), 0, flags, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyRef NewSiteObject(PyTypeObject* type, CallSite* site, vectorcallfunc call) {
  auto* object = PyObject_New(SiteObject, type);
  if (object == nullptr) return {};
  object->vectorcall = call;
  object->site = site;
  return PyRef::Steal(reinterpret_cast<PyObject*>(object));
}

// Methods of built-in types get no pointer to themselves when they are called bound: each watched
// one has a C function of its own.
constexpr size_t kMethodEntries = 2048;
std::array<CallSite* const*, kMethodEntries> method_sites;
size_t method_count = 0;

PyObject* CallMethodEntry(size_t index, PyObject* self, PyObject* args, PyObject* named) {
  std::vector<PyObject*> all = {self};
  all.insert(all.end(), &PyTuple_GET_ITEM(args, 0),
             &PyTuple_GET_ITEM(args, 0) + PyTuple_GET_SIZE(args));
  const size_t count = all.size();
  PyRef names;
  if (named != nullptr && PyDict_GET_SIZE(named) > 0) {
    names = AppendNamed(named, &all);
    if (!names) return nullptr;
  }
  return Invoke(*method_sites[index], all.data(), count, names.get());
}

template <size_t kIndex>
PyObject* MethodEntry(PyObject* self, PyObject* args, PyObject* named) {
  return CallMethodEntry(kIndex, self, args, named);
}

using Entry = PyObject* (*)(PyObject*, PyObject*, PyObject*);
template <size_t... kIndexes>
constexpr std::array<Entry, sizeof...(kIndexes)> MakeEntries(std::index_sequence<kIndexes...>) {
  return {MethodEntry<kIndexes>...};
}
constexpr auto kEntries = MakeEntries(std::make_index_sequence<kMethodEntries>());

}  // namespace

PyRef NewPackedHook(CallSite* site) {
  static PyTypeObject* type = MakeType("msprobe._core.PackedCall", 0, false);
  return NewSiteObject(type, site, CallPacked);
}

PyRef NewCallable(CallSite* site) {
  static PyTypeObject* type =
      MakeType("msprobe._core.WatchedCallable", Py_TPFLAGS_METHOD_DESCRIPTOR, true);
  return NewSiteObject(type, site, CallPlain);
}

PyCFunction NewMethodEntry(CallSite* const* site) {
  if (method_count == kMethodEntries) return nullptr;
  method_sites[method_count] = site;
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(kEntries[method_count++]));
}

}  // namespace msprobe::python
