#include "python/bindings/edge_taps.h"

#include <new>

#include "python/bindings/tool_errors.h"
#include "stats/summary_cache.h"

namespace msprobe::python {
namespace {

PyTypeObject* tap_type = nullptr;
PyTypeObject* prehook_type = nullptr;
EdgeTaps* the_taps = nullptr;  // one per process: hooks find it after the collector is replaced

struct PrehookObject {
  HookObject hook;
  TapObject* tap;
};

PyObject* CallTap(PyObject* self, PyObject* const* args, size_t flags, PyObject*) {
  auto* tap = reinterpret_cast<TapObject*>(self);
  if (PyVectorcall_NARGS(flags) >= 2 && the_taps != nullptr) {
    const PyRef alive = PyRef::Borrow(self);
    the_taps->Fire(tap, args[0], args[1], false);
  }
  return TheErrors().Return(Py_NewRef(Py_None));
}

PyObject* CallPrehook(PyObject* self, PyObject* const* args, size_t flags, PyObject*) {
  TapObject* tap = reinterpret_cast<PrehookObject*>(self)->tap;
  if (PyVectorcall_NARGS(flags) >= 1 && the_taps != nullptr) {
    const PyRef alive = PyRef::Borrow(reinterpret_cast<PyObject*>(tap));
    the_taps->Fire(tap, nullptr, args[0], true);
  }
  return TheErrors().Return(Py_NewRef(Py_None));
}

void DeallocTap(PyObject* self) {
  auto* tap = reinterpret_cast<TapObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  tap->subscriptions.~vector();
  PyObject_Free(self);
  Py_DECREF(type);
}

void DeallocPrehook(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(reinterpret_cast<PyObject*>(reinterpret_cast<PrehookObject*>(self)->tap));
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* FinishTaskCallback(PyObject* self, PyObject*) {
  if (the_taps != nullptr) the_taps->FinishTask(PyLong_AsLongLong(self));
  return TheErrors().Return(Py_NewRef(Py_None));
}
PyMethodDef finish_task_method = {"finish_backward", FinishTaskCallback, METH_NOARGS, nullptr};

}  // namespace

EdgeTaps::EdgeTaps(AutogradAccess* autograd, TensorReader* reader, GradientSink* sink)
    : autograd_(autograd),
      reader_(reader),
      sink_(sink),
      shape_name_(PyRef::Steal(PyUnicode_InternFromString("shape"))),
      detach_name_(PyRef::Steal(PyUnicode_InternFromString("detach"))),
      clone_name_(PyRef::Steal(PyUnicode_InternFromString("clone"))),
      offset_name_(PyRef::Steal(PyUnicode_InternFromString("storage_offset"))) {
  if (tap_type == nullptr) {
    tap_type = MakeHookType("msprobe._core.Tap", sizeof(TapObject), DeallocTap);
    prehook_type = MakeHookType("msprobe._core.Prehook", sizeof(PrehookObject), DeallocPrehook);
  }
  the_taps = this;
  SetRegisterHook(autograd);
}

std::vector<PyRef> EdgeTaps::TapsAt(PyObject* node) const {
  std::vector<PyRef> taps;
  const PyRef table = HookTable(autograd_, node);
  if (!table || !PyDict_Check(table.get())) return taps;
  PyObject *key = nullptr, *hook = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(table.get(), &position, &key, &hook)) {
    if (Py_TYPE(hook) == tap_type) taps.push_back(PyRef::Borrow(hook));
  }
  return taps;
}

PyRef EdgeTaps::NewTap(PyObject* node) {
  auto* tap = PyObject_New(TapObject, tap_type);
  if (tap == nullptr) return {};
  tap->hook.vectorcall = CallTap;
  tap->hook.table = nullptr;
  tap->has_prehook = false;
  new (&tap->subscriptions) std::vector<TapSubscription>();
  PyRef owner = PyRef::Steal(reinterpret_cast<PyObject*>(tap));
  if (!autograd_->RegisterHook(node, owner.get())) return {};
  if (autograd_->IsPythonFunction(node)) {  // may overwrite in backward what it was given
    auto* prehook = PyObject_New(PrehookObject, prehook_type);
    if (prehook == nullptr) return owner;
    prehook->hook.vectorcall = CallPrehook;
    prehook->hook.table = nullptr;
    prehook->tap = tap;
    Py_INCREF(owner.get());
    const PyRef prehook_owner = PyRef::Steal(reinterpret_cast<PyObject*>(prehook));
    tap->has_prehook = autograd_->RegisterPrehook(node, prehook_owner.get());
  }
  return owner;
}

void EdgeTaps::Subscribe(TapObject* tap, GradientRecord* record, bool output, uint32_t slot,
                         int64_t index, TapStep step, PyRef geometry) {
  ++record->references;
  tap->subscriptions.push_back(
      {GradientRecordRef(record), output, step, slot, index, std::move(geometry)});
  ++record->edges;
  ++record->slots[output ? record->input_count + slot : slot].edges;
}

void EdgeTaps::Fire(TapObject* tap, PyObject* gradients_in, PyObject* gradients_out,
                    bool before_node) {
  RunTool("recording a gradient",
          [&] { TakeGradients(tap, gradients_in, gradients_out, before_node); });
}

void EdgeTaps::TakeGradients(TapObject* tap, PyObject* gradients_in, PyObject* gradients_out,
                             bool before_node) {
  const int64_t task = autograd_->GraphTask();
  moment_ = stats::SummaryCache::NewMoment();
  for (const TapSubscription& subscription : tap->subscriptions) {
    const bool from_outputs = subscription.output && subscription.step != TapStep::kSlice;
    if (before_node ? !from_outputs : (tap->has_prehook && from_outputs)) continue;
    GradientRecord* record = subscription.record.get();
    if (record->task != task) StartPass(record, task);
    PyObject* gradients = from_outputs ? gradients_out : gradients_in;
    if (record->wanted && gradients != nullptr && PyTuple_Check(gradients) &&
        subscription.index < PyTuple_GET_SIZE(gradients)) {
      PyObject* gradient = PyTuple_GET_ITEM(gradients, subscription.index);
      if (gradient != Py_None && reader_->IsTensor(gradient)) TakeGradient(subscription, gradient);
    }
    CompleteEdge(record);
  }
}

void EdgeTaps::StartPass(GradientRecord* record, int64_t task) {
  if (record->task >= 0) sink_->EmitGradients(record);
  record->task = task;
  record->left = record->edges;
  for (GradientSlot& slot : record->slots) {
    slot.has_value = false;
    slot.sum = PyRef();
  }
  record->wanted = sink_->BeginGradients(record);
  std::vector<GradientRecordRef>& running = tasks_[task];
  if (running.empty()) {
    const PyRef id = PyRef::Steal(PyLong_FromLongLong(task));
    const PyRef callback = PyRef::Steal(PyCFunction_New(&finish_task_method, id.get()));
    autograd_->QueueCallback(callback.get());
  }
  ++record->references;
  running.push_back(GradientRecordRef(record));
}

void EdgeTaps::TakeGradient(const TapSubscription& subscription, PyObject* gradient) {
  GradientRecord* record = subscription.record.get();
  GradientSlot& slot = record->slots[subscription.output ? record->input_count + subscription.slot
                                                         : subscription.slot];
  if (slot.edges > 1 && slot.has_value && !slot.sum) return;  // one of them can't be added to
  slot.has_value = true;
  if (slot.edges == 1 && subscription.step != TapStep::kSlice) {
    using Layout = CaptureAs::Layout;
    const Layout layout = subscription.step == TapStep::kReshape     ? Layout::kReshaped
                          : subscription.step == TapStep::kTranspose ? Layout::kTransposed
                                                                     : Layout::kAsItIs;
    // The node's own gradients are held and not changed while its hook runs.
    const CaptureAs as = {moment_, layout, subscription.geometry.get()};
    if (sink_->Capture(record, gradient, as, &slot.value)) return;
  }
  slot.has_value = false;
  if (autograd_->HasOwnOperators(gradient)) return TakeUnread(record, gradient, &slot);
  const PyRef shaped = Shaped(subscription, gradient);
  if (!shaped) return;
  if (slot.edges == 1) {
    slot.has_value = sink_->Capture(record, shaped.get(), {}, &slot.value);
    return;
  }
  const PyRef detached = Detached(shaped.get());
  if (!detached) return;
  const HiddenFromClass hidden = autograd_->Hide(detached.get());
  // Our own copy: the buffer of the gradient may be taken over by the parameter and added to.
  slot.sum = PyRef::Steal(slot.sum ? PyNumber_Add(slot.sum.get(), detached.get())
                                   : PyObject_CallMethodNoArgs(detached.get(), clone_name_.get()));
  slot.has_value = static_cast<bool>(slot.sum);
  if (!slot.sum) TheErrors().Take("adding gradients");
}

// Its operators are code of its class: they may raise, or run collectives that other ranks do not.
void EdgeTaps::TakeUnread(GradientRecord* record, PyObject* gradient, GradientSlot* slot) {
  slot->sum = PyRef();
  slot->has_value = sink_->Capture(record, gradient, {}, &slot->value);
  CapturedTensor& value = slot->value;
  value.has_summary = value.has_contents = false;
  value.contents = nullptr;
  value.later = nullptr;
  if (!value.reason.empty()) return;
  value.reason = slot->edges > 1
                     ? "it is a sum of gradients of a class with operators of its own"
                     : "it is laid out otherwise, and its class has operators of its own";
}

PyRef EdgeTaps::Detached(PyObject* gradient) {
  if (!autograd_->RequiresGrad(gradient)) return PyRef::Borrow(gradient);
  const HiddenFromClass hidden = autograd_->Hide(gradient);
  PyRef detached = PyRef::Steal(PyObject_CallMethodNoArgs(gradient, detach_name_.get()));
  if (!detached) TheErrors().Take("detaching a gradient");
  return detached;
}

PyRef EdgeTaps::Shaped(const TapSubscription& subscription, PyObject* gradient) {
  if (subscription.step == TapStep::kNone) return PyRef::Borrow(gradient);
  const PyRef detached = Detached(gradient);
  const HiddenFromClass hidden = autograd_->Hide(gradient);
  PyRef shaped;
  if (detached && subscription.step == TapStep::kReshape) {
    shaped = PyRef::Steal(
        PyObject_CallMethod(detached.get(), "reshape", "O", subscription.geometry.get()));
  } else if (detached && subscription.step == TapStep::kTranspose) {
    shaped = PyRef::Steal(PyObject_CallMethod(detached.get(), "t", nullptr));
  } else if (detached) {
    shaped = Slice(detached.get(), subscription.geometry.get());
  }
  if (!shaped) TheErrors().Take("reshaping a gradient");
  return shaped;
}

// The part of the gradient of a base that is the gradient of a view; null with an error set.
PyRef EdgeTaps::Slice(PyObject* gradient, PyObject* geometry) {
  PyObject *shape = nullptr, *strides = nullptr, *offset = nullptr, *type = nullptr;
  const char* turn = nullptr;
  int halves = 0;
  if (!PyArg_ParseTuple(geometry, "OOOpOz", &shape, &strides, &offset, &halves, &type, &turn)) {
    return {};
  }
  const PyRef whole = halves != 0 ? PyRef::Steal(PyObject_GetAttrString(gradient, "real"))
                                  : PyRef::Borrow(gradient);
  if (!whole) return {};
  PyRef part =
      PyRef::Steal(PyObject_CallMethod(whole.get(), "as_strided", "OOO", shape, strides, offset));
  if (part && type != Py_None) {
    part = PyRef::Steal(PyObject_CallMethod(part.get(), "view", "O", type));
    if (part) part = PyRef::Steal(PyObject_CallMethod(part.get(), "squeeze", "i", -1));
  }
  if (part && turn != nullptr) {
    part = PyRef::Steal(PyObject_CallMethod(part.get(), turn, nullptr));
  }
  return part;
}

// Whether the output of `node` is all memory that `tensor` may lie in, and not one more view: what
// is written into the tensor later goes past such a node.
bool EdgeTaps::MakesAllOf(PyObject* node, PyObject* tensor) const {
  const PyRef base = autograd_->Base(tensor);
  return !base || autograd_->GradFn(base.get()).get() == node;
}

PyRef EdgeTaps::ShapeOf(PyObject* tensor) const {
  const HiddenFromClass hidden = autograd_->Hide(tensor);
  return PyRef::Steal(PyObject_GetAttr(tensor, shape_name_.get()));
}

void EdgeTaps::CompleteEdge(GradientRecord* record) {
  if (record->left == 0 || --record->left != 0) return;
  record->task = -1;
  sink_->EmitGradients(record);
}

void EdgeTaps::FinishTask(int64_t task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  const std::vector<GradientRecordRef> running = std::move(found->second);
  tasks_.erase(found);
  RunTool("writing gradients", [&] {
    for (const GradientRecordRef& record : running) {
      if (record->task != task) continue;
      record->task = -1;
      sink_->EmitGradients(record.get());
    }
  });
}

void EdgeTaps::Purge() {
  while (!tasks_.empty()) FinishTask(tasks_.begin()->first);
}

}  // namespace msprobe::python
