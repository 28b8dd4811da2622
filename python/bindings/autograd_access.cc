#include "python/bindings/autograd_access.h"

#include <cstring>
#include "python/bindings/tool_errors.h"

namespace msprobe::python {
namespace {

PyRef Item(PyObject* names, const char* name) {
  PyObject* item = PyDict_GetItemString(names, name);
  if (item == nullptr) PyErr_Format(PyExc_KeyError, "the framework gave no %s", name);
  return PyRef::Borrow(item);
}

const char* ShortTypeName(PyObject* node) {
  const char* name = Py_TYPE(node)->tp_name;
  const char* dot = std::strrchr(name, '.');
  return dot != nullptr ? dot + 1 : name;
}

PyCFunction FindMethod(PyTypeObject* type, const char* name, int flags) {
  const PyRef descriptor =
      PyRef::Steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name));
  if (!descriptor) DropError();
  if (!descriptor || Py_TYPE(descriptor.get()) != &PyMethodDescr_Type) return nullptr;
  const PyMethodDef* method = reinterpret_cast<PyMethodDescrObject*>(descriptor.get())->d_method;
  return method->ml_flags == flags ? method->ml_meth : nullptr;
}

}  // namespace

void HiddenFromClass::Enter(PyObject* context_manager) {
  PyRef context = PyRef::Steal(PyObject_CallNoArgs(context_manager));
  const PyRef entered =
      PyRef::Steal(context ? PyObject_CallMethod(context.get(), "__enter__", nullptr) : nullptr);
  if (entered) context_ = std::move(context);
  DropError();
}

void HiddenFromClass::Leave() {
  const SavedError error;  // of what was asked
  const PyRef left = PyRef::Steal(
      PyObject_CallMethod(context_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
  if (!left) DropError();
}

AutogradAccess::AutogradAccess(PyObject* names) : keep_alive_(PyRef::Borrow(names)) {
  const auto type = [names](const char* name) {
    return reinterpret_cast<PyTypeObject*>(Item(names, name).get());
  };
  tensor_type_ = type("tensor");
  parameter_type_ = type("parameter");
  leaf_type_ = type("leaf_node");
  cast_type_ = type("cast_node");
  function_type_ = type("python_function");
  grad_mode_ = Item(names, "is_grad_enabled");
  autocast_ = Item(names, "is_any_autocast_enabled");
  sequence_ = Item(names, "sequence_nr");
  task_ = Item(names, "graph_task_id");
  queue_callback_ = Item(names, "queue_callback");
  register_ = Item(names, "register_hook");
  without_classes_ = Item(names, "without_classes");
  const PyRef base = Item(names, "tensor_base");
  if (PyErr_Occurred()) return;
  grad_ = FindGetter(base.get(), "grad");
  grad_fn_ = FindGetter(base.get(), "grad_fn");
  output_nr_ = FindGetter(base.get(), "output_nr");
  requires_grad_ = FindGetter(base.get(), "requires_grad");
  base_ = FindGetter(base.get(), "_base");
  version_ = FindGetter(base.get(), "_version");
  variable_ = FindGetter(reinterpret_cast<PyObject*>(leaf_type_), "variable");
}

bool AutogradAccess::IsTrue(PyObject* function) {
  const PyRef answer = PyRef::Steal(PyObject_CallNoArgs(function));
  if (!answer) TheErrors().Take("asking autograd");
  return answer.get() == Py_True;
}

int64_t AutogradAccess::CallInt(PyObject* function) {
  return ToInt64(PyRef::Steal(PyObject_CallNoArgs(function)), -1);
}

bool AutogradAccess::QueueCallback(PyObject* callback) const {
  const PyRef done = PyRef::Steal(PyObject_CallOneArg(queue_callback_.get(), callback));
  if (!done) TheErrors().Take("asking for the end of backward");
  return static_cast<bool>(done);
}

bool AutogradAccess::RequiresGrad(PyObject* tensor) const {
  return OfTensor(requires_grad_, tensor).get() == Py_True;
}

PyRef AutogradAccess::Get(const Getter& getter, PyObject* object) {
  PyRef value = PyRef::Steal(getter.get != nullptr ? getter.get(object, getter.closure)
                                                   : PyObject_GetAttr(object, getter.name.get()));
  if (!value) DropError();
  return value;
}

AutogradAccess::Getter AutogradAccess::FindGetter(PyObject* type, const char* name) {
  Getter getter;
  getter.name = PyRef::Steal(PyUnicode_InternFromString(name));
  const PyRef descriptor = PyRef::Steal(PyObject_GetAttr(type, getter.name.get()));
  if (!descriptor) DropError();
  if (descriptor && Py_TYPE(descriptor.get()) == &PyGetSetDescr_Type) {
    const PyGetSetDef* definition =
        reinterpret_cast<PyGetSetDescrObject*>(descriptor.get())->d_getset;
    getter.get = definition->get;
    getter.closure = definition->closure;
  }
  return getter;
}

AutogradAccess::NodeType& AutogradAccess::TypeOf(PyObject* node) {
  PyTypeObject* type = Py_TYPE(node);
  const auto found = node_types_.find(type);
  if (found != node_types_.end()) return found->second;
  Py_INCREF(type);  // the key must not be reused by another type
  NodeType& entry = node_types_[type];
  entry.next_functions = FindGetter(reinterpret_cast<PyObject*>(type), "next_functions");
  entry.sequence = FindMethod(type, "_sequence_nr", METH_NOARGS);
  entry.register_hook = FindMethod(type, "register_hook", METH_O);
  const char* name = ShortTypeName(node);
  if (std::strcmp(name, "ViewBackward0") == 0 || std::strcmp(name, "UnsafeViewBackward0") == 0 ||
      std::strcmp(name, "ReshapeAliasBackward0") == 0) {
    entry.layout = Layout::kReshape;
  } else if (std::strcmp(name, "TBackward0") == 0) {
    entry.layout = Layout::kTranspose;
  }
  return entry;
}

bool AutogradAccess::IsCopySlices(PyObject* node) const {
  return std::strcmp(ShortTypeName(node), "CopySlices") == 0;
}

PyRef AutogradAccess::NextFunctions(PyObject* node) {
  PyRef next = Get(TypeOf(node).next_functions, node);
  if (next && !PyTuple_Check(next.get())) return {};
  return next;
}

int64_t AutogradAccess::Sequence(PyObject* node) {
  const NodeType& type = TypeOf(node);
  const PyRef number =
      PyRef::Steal(type.sequence != nullptr ? type.sequence(node, nullptr)
                                            : PyObject_CallMethod(node, "_sequence_nr", nullptr));
  if (!number) {
    DropError();
    return kNoSequence;
  }
  const auto value = PyLong_AsUnsignedLongLong(number.get());
  DropError();
  return value > static_cast<uint64_t>(INT64_MAX) ? kNoSequence : static_cast<int64_t>(value);
}

PyRef AutogradAccess::TryRegisterHook(PyObject* node, PyObject* hook) {
  const NodeType& type = TypeOf(node);
  return PyRef::Steal(type.register_hook != nullptr
                          ? type.register_hook(node, hook)
                          : PyObject_CallMethod(node, "register_hook", "O", hook));
}

bool AutogradAccess::RegisterHook(PyObject* node, PyObject* hook) {
  const PyRef done = TryRegisterHook(node, hook);
  if (!done) TheErrors().Take("hooking a node");
  return static_cast<bool>(done);
}

bool AutogradAccess::RegisterPrehook(PyObject* node, PyObject* hook) const {
  const PyRef done = PyRef::Steal(PyObject_CallMethod(node, "register_prehook", "O", hook));
  if (!done) TheErrors().Take("hooking a node");
  return static_cast<bool>(done);
}

}  // namespace msprobe::python
