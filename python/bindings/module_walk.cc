#include "python/bindings/module_walk.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace msprobe::python {
namespace {

PyRef Text(std::string_view text) {
  return PyRef::Steal(
      PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

using Named = std::vector<std::pair<PyRef, PyRef>>;

// What the mapping has, None left out: a copy, for asking modules may run code that changes it.
bool Read(PyObject* mapping, Named* named) {
  PyObject *name = nullptr, *value = nullptr;
  if (PyDict_CheckExact(mapping)) {
    Py_ssize_t position = 0;
    while (PyDict_Next(mapping, &position, &name, &value)) {
      if (value != Py_None) named->emplace_back(PyRef::Borrow(name), PyRef::Borrow(value));
    }
    return true;
  }
  const PyRef items = PyRef::Steal(PyMapping_Items(mapping));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); ++i) {
    if (!PyArg_ParseTuple(PyList_GET_ITEM(items.get(), i), "OO", &name, &value)) return false;
    if (value != Py_None) named->emplace_back(PyRef::Borrow(name), PyRef::Borrow(value));
  }
  return static_cast<bool>(items);
}

PyRef Parameters(PyObject* mapping) {
  Named parameters;
  if (!Read(mapping, &parameters)) return {};
  PyRef list = PyRef::Steal(PyList_New(static_cast<Py_ssize_t>(parameters.size())));
  for (size_t i = 0; list && i < parameters.size(); ++i) {
    PyRef held;
    const PyRef name = Text(Readable(parameters[i].first.get(), &held));
    PyObject* item = name ? PyTuple_Pack(2, name.get(), parameters[i].second.get()) : nullptr;
    if (item == nullptr) return {};
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list;
}

std::string TypeName(PyObject* module) {
  static PyObject* const attribute = PyUnicode_InternFromString("__name__");
  const PyRef name =
      PyRef::Steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(module)), attribute));
  if (!name) DropError();
  PyRef held;
  return std::string(Readable(name.get(), &held));
}

class Walker {
 public:
  Walker(PyObject* tables, PyObject* entries) : tables_(tables), entries_(entries) {}

  /// `is_root`: what is below has an entry, it has none itself.
  bool Walk(PyObject* module, const std::string& path, bool is_root) {
    if (!seen_.insert(module).second) return true;
    const PyRef tables = PyRef::Steal(PyObject_CallOneArg(tables_, module));
    PyObject *children = nullptr, *parameters = nullptr;
    if (!tables || !PyArg_ParseTuple(tables.get(), "OO", &children, &parameters)) return false;
    if (!is_root && !Add(module, path, parameters)) return false;
    Named named;
    if (!Read(children, &named) || Py_EnterRecursiveCall(" while walking modules") != 0)
      return false;
    const bool done = std::ranges::all_of(named, [&](const auto& child) {
      PyRef held;
      const std::string_view name = Readable(child.first.get(), &held);
      return Walk(child.second.get(), path + "." + std::string(name), false);
    });
    Py_LeaveRecursiveCall();
    return done;
  }

 private:
  bool Add(PyObject* module, const std::string& path, PyObject* parameters) {
    const PyRef prefix = Text(path + "." + TypeName(module));
    const PyRef own = Parameters(parameters);
    const PyRef entry =
        PyRef::Steal(prefix && own ? PyTuple_Pack(3, module, prefix.get(), own.get()) : nullptr);
    return entry && PyList_Append(entries_, entry.get()) == 0;
  }

  PyObject* tables_;
  PyObject* entries_;
  std::unordered_set<PyObject*> seen_;
};

}  // namespace

PyRef WalkModules(PyObject* model, PyObject* prefix, PyObject* tables) {
  PyRef entries = PyRef::Steal(PyList_New(0));
  PyRef held;
  const bool done =
      entries &&
      Walker(tables, entries.get()).Walk(model, std::string(Readable(prefix, &held)), true);
  return done ? std::move(entries) : PyRef();
}

}  // namespace msprobe::python
