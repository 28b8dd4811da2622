#pragma once

#include <cstdint>
#include <unordered_map>

#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// Sequence number of nodes that have none: AccumulateGrad.
inline constexpr int64_t kNoSequence = INT64_MAX;

/// While it lives, __torch_function__ of a tensor's class, which is the program's, does not see
/// what the tool asks of the tensor. Of null: does nothing.
class HiddenFromClass {
 public:
  explicit HiddenFromClass(PyObject* context_manager) {
    if (context_manager != nullptr) [[unlikely]]
      Enter(context_manager);
  }
  ~HiddenFromClass() {
    if (context_) [[unlikely]]
      Leave();
  }
  HiddenFromClass(const HiddenFromClass&) = delete;
  HiddenFromClass& operator=(const HiddenFromClass&) = delete;

 private:
  void Enter(PyObject* context_manager);
  void Leave();

  PyRef context_;
};

/// What the collector asks torch's autograd, through the C functions behind the Python attributes
/// where they are plain C, through attribute access else. Wrappers of nodes are identical as long
/// as one of them is held: identity of held wrappers is identity of nodes.
class AutogradAccess {
 public:
  enum class Layout : uint8_t { kNone, kReshape, kTranspose };

  /// `names` maps the names below to torch's objects; missing ones raise.
  explicit AutogradAccess(PyObject* names);

  bool GradMode() const { return IsTrue(grad_mode_.get()); }
  bool AnyAutocast() const { return IsTrue(autocast_.get()); }
  /// Number that the next node made by this thread gets.
  int64_t NextSequence() const { return CallInt(sequence_.get()); }
  /// The running backward pass of this thread, -1: none.
  int64_t GraphTask() const { return CallInt(task_.get()); }
  bool QueueCallback(PyObject* callback) const;

  bool RequiresGrad(PyObject* tensor) const;
  PyRef GradFn(PyObject* tensor) const { return OfTensor(grad_fn_, tensor); }
  /// What it is a view of; null: nothing.
  PyRef Base(PyObject* tensor) const { return OfTensorOrNull(base_, tensor); }
  int64_t OutputNr(PyObject* tensor) const { return ToInt64(OfTensor(output_nr_, tensor), 0); }
  int64_t Version(PyObject* tensor) const { return ToInt64(OfTensor(version_, tensor), -1); }

  /// What has been accumulated of a leaf; null: nothing.
  PyRef Grad(PyObject* tensor) const { return OfTensorOrNull(grad_, tensor); }
  /// For whatever else is asked of a tensor. Costs nothing where it is of torch's own classes.
  HiddenFromClass Hide(PyObject* tensor) const {
    return HiddenFromClass(IsPlain(tensor) ? nullptr : without_classes_.get());
  }
  /// Whether its class decides what torch's operators do with it (`__torch_dispatch__`).
  bool HasOwnOperators(PyObject* tensor) const {
    return !IsPlain(tensor) && _PyType_Lookup(Py_TYPE(tensor), dispatch_name_.get()) !=
                                   _PyType_Lookup(tensor_type_, dispatch_name_.get());
  }

  bool IsLeafNode(PyObject* node) const { return Py_TYPE(node) == leaf_type_; }
  PyRef LeafVariable(PyObject* node) const { return Get(variable_, node); }
  bool IsCastNode(PyObject* node) const { return Py_TYPE(node) == cast_type_; }
  bool IsPythonFunction(PyObject* node) const {
    return PyType_IsSubtype(Py_TYPE(node), function_type_);
  }
  bool IsCopySlices(PyObject* node) const;
  Layout LayoutOf(PyObject* node) { return TypeOf(node).layout; }
  /// A tuple of (node | None, number of the node's input); null on errors.
  PyRef NextFunctions(PyObject* node);
  int64_t Sequence(PyObject* node);
  bool RegisterHook(PyObject* node, PyObject* hook);
  /// Null, and a Python error is set, if it fails.
  PyRef TryRegisterHook(PyObject* node, PyObject* hook);
  bool RegisterPrehook(PyObject* node, PyObject* hook) const;

  /// torch's own `Function._register_hook`.
  PyObject* register_hook_function() const { return register_.get(); }

 private:
  struct Getter {
    getter get = nullptr;
    void* closure = nullptr;
    PyRef name;
  };
  struct NodeType {
    Getter next_functions;
    PyCFunction sequence = nullptr;
    PyCFunction register_hook = nullptr;
    Layout layout = Layout::kNone;
  };

  static bool IsTrue(PyObject* function);
  static int64_t CallInt(PyObject* function);
  static PyRef Get(const Getter& getter, PyObject* object);
  bool IsPlain(PyObject* tensor) const {
    return Py_TYPE(tensor) == tensor_type_ || Py_TYPE(tensor) == parameter_type_;
  }
  PyRef OfTensor(const Getter& getter, PyObject* tensor) const {
    const HiddenFromClass hidden = Hide(tensor);
    return Get(getter, tensor);
  }
  PyRef OfTensorOrNull(const Getter& getter, PyObject* tensor) const {
    PyRef value = OfTensor(getter, tensor);
    return value.get() == Py_None ? PyRef() : std::move(value);
  }
  static Getter FindGetter(PyObject* type, const char* name);
  NodeType& TypeOf(PyObject* node);

  PyRef keep_alive_;
  PyTypeObject* tensor_type_;
  PyTypeObject* parameter_type_;
  PyTypeObject* leaf_type_;
  PyTypeObject* cast_type_;
  PyTypeObject* function_type_;
  PyRef dispatch_name_ = PyRef::Steal(PyUnicode_InternFromString("__torch_dispatch__"));
  PyRef grad_mode_, autocast_, sequence_, task_, queue_callback_, register_, without_classes_;
  Getter grad_, grad_fn_, output_nr_, requires_grad_, base_, version_, variable_;
  std::unordered_map<PyTypeObject*, NodeType> node_types_;
};

}  // namespace msprobe::python
