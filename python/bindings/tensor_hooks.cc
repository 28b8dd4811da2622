#include "python/bindings/tensor_hooks.h"

#include <algorithm>
#include <new>

#include "python/bindings/hook_object.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {
namespace {

struct GradientHook {
  HookObject hook;
  bool inputs;
  GradientRecordRef record;
  std::vector<uint32_t> slots;  // of the gradients that the hook gets
};

PyTypeObject* hook_type = nullptr;
TensorHooks* the_hooks = nullptr;  // one per process: hooks find it after the collector is replaced

// Frameworks take what a hook returns as the gradient to go on with.
PyObject* CallGradientHook(PyObject* self, PyObject* const* args, size_t flags, PyObject*) {
  if (PyVectorcall_NARGS(flags) < 1) Py_RETURN_NONE;
  auto* hook = reinterpret_cast<GradientHook*>(self);
  if (the_hooks != nullptr) {
    const PyRef alive = PyRef::Borrow(self);
    the_hooks->Fire(hook->record, hook->slots, hook->inputs, args[0]);
  }
  return TheErrors().Return(Py_NewRef(args[0]));
}

void DeallocGradientHook(PyObject* self) {
  auto* hook = reinterpret_cast<GradientHook*>(self);
  PyTypeObject* type = Py_TYPE(self);
  hook->record.~GradientRecordRef();
  hook->slots.~vector();
  PyObject_Free(self);
  Py_DECREF(type);
}

PyRef NewHook(GradientRecord* record, std::vector<uint32_t> slots, bool inputs) {
  auto* hook = PyObject_New(GradientHook, hook_type);
  if (hook == nullptr) {
    DropError();
    return {};
  }
  hook->hook.vectorcall = CallGradientHook;
  hook->hook.table = nullptr;
  hook->inputs = inputs;
  ++record->references;
  new (&hook->record) GradientRecordRef(record);
  new (&hook->slots) std::vector<uint32_t>(std::move(slots));
  return PyRef::Steal(reinterpret_cast<PyObject*>(hook));
}

// The tensors among the arguments that can be replaced: those that lie in the arguments themselves
// and in tuples, for APIs also in lists. Whoever gets other containers may want to change them.
class Replacements {
 public:
  Replacements(const TensorReader* reader, const std::vector<PyRef>& inputs, bool lists)
      : reader_(reader), inputs_(inputs), lists_(lists) {}

  void SkipFirst() { next_ = 1; }
  void Find(PyObject* value) {
    if (reader_->IsTensor(value)) {
      // The inputs are all tensors of the call in the same order.
      while (next_ < inputs_.size() && inputs_[next_].get() != value) ++next_;
      if (next_ == inputs_.size()) return;
      slots.push_back(static_cast<uint32_t>(next_++));
      tensors.push_back(PyRef::Borrow(value));
    } else if (IsContainer(value)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
        Find(PySequence_Fast_GET_ITEM(value, i));
      }
    }
  }

  PyRef Replace(PyObject* value, PyObject* aliases) {
    if (reader_->IsTensor(value)) {
      if (used_ == tensors.size() || tensors[used_].get() != value) return PyRef::Borrow(value);
      PyObject* alias = PyList_GET_ITEM(aliases, static_cast<Py_ssize_t>(used_++));
      return PyRef::Borrow(alias != Py_None ? alias : value);
    }
    if (!IsContainer(value)) return PyRef::Borrow(value);
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
    PyRef copy = PyRef::Steal(PyTuple_CheckExact(value) ? PyTuple_New(size) : PyList_New(size));
    if (!copy) return copy;
    bool changed = false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(value, i);
      PyRef replaced = Replace(item, aliases);
      changed = changed || replaced.get() != item;
      PyObject* owned = Py_XNewRef(replaced.get());
      PyTuple_CheckExact(value) ? PyTuple_SET_ITEM(copy.get(), i, owned)
                                : PyList_SET_ITEM(copy.get(), i, owned);
    }
    return changed ? std::move(copy) : PyRef::Borrow(value);
  }

  PyRef List() const {
    PyRef list = PyRef::Steal(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
    for (size_t i = 0; i < tensors.size(); ++i) {
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Py_NewRef(tensors[i].get()));
    }
    return list;
  }

  // All arguments; empty on errors.
  std::vector<PyRef> ReplaceAll(PyObject* const* values, Py_ssize_t first, Py_ssize_t count,
                                PyObject* aliases) {
    std::vector<PyRef> replaced;
    for (Py_ssize_t i = 0; i < count; ++i) {
      replaced.push_back(i < first ? PyRef::Borrow(values[i]) : Replace(values[i], aliases));
      if (replaced.back()) continue;
      DropError();
      return {};
    }
    return replaced;
  }

  std::vector<uint32_t> slots;
  std::vector<PyRef> tensors;

 private:
  bool IsContainer(PyObject* value) const {
    return PyTuple_CheckExact(value) || (lists_ && PyList_CheckExact(value));
  }

  const TensorReader* reader_;
  const std::vector<PyRef>& inputs_;
  bool lists_;
  size_t next_ = 0, used_ = 0;
};

// What hook_inputs is told of the call.
PyObject* KindOf(const Frame& frame) {
  static PyObject* const module = PyUnicode_InternFromString("module");
  static PyObject* const custom = PyUnicode_InternFromString("custom");
  static PyObject* const compiled = PyUnicode_InternFromString("compiled");
  static PyObject* const api = PyUnicode_InternFromString("api");
  switch (frame.kind) {
    case CallKind::kModule: return module;
    case CallKind::kCustom: return custom;
    case CallKind::kCompiled: return compiled;
    default: return api;
  }
}

bool Contains(PyObject* list, PyObject* tensor) {
  for (Py_ssize_t i = 0; list != nullptr && i < PyList_GET_SIZE(list); ++i) {
    if (PyList_GET_ITEM(list, i) == tensor) return true;
  }
  return false;
}

bool IsListLike(PyObject* answer, PyObject* list) {
  return answer != nullptr && PyList_Check(answer) &&
         PyList_GET_SIZE(answer) == PyList_GET_SIZE(list);
}

}  // namespace

TensorHooks::TensorHooks(Functions functions, TensorReader* reader, GradientSink* sink)
    : functions_(std::move(functions)), reader_(reader), sink_(sink) {
  if (hook_type == nullptr) {
    hook_type =
        MakeHookType("msprobe._core.GradientHook", sizeof(GradientHook), DeallocGradientHook);
  }
  the_hooks = this;
}

bool TensorHooks::GradMode(const Frame& frame) const {
  const PyRef answer = PyRef::Steal(PyObject_CallNoArgs(functions_.grad_mode.get()));
  if (!answer) TheErrors().Take("asking for the grad mode");
  if (answer.get() == Py_True || frame.module == nullptr) return answer.get() == Py_True;
  // A cell with set_grad() switches it on when it runs, and off again.
  static PyObject* const name = PyUnicode_InternFromString("requires_grad");
  const PyRef begins = PyRef::Steal(PyObject_GetAttr(frame.module->module.get(), name));
  if (!begins) DropError();
  return begins.get() == Py_True;
}

void TensorHooks::Enter(ThreadState*, Frame* frame, const FlatTensors& inputs,
                        const CallArguments& arguments) {
  GradientRecord* record = frame->gradient.get();
  record->input_count = static_cast<uint32_t>(inputs.tensors.size());
  record->slots.resize(record->input_count);
  const Py_ssize_t count =
      arguments.positional + (arguments.names != nullptr ? PyTuple_GET_SIZE(arguments.names) : 0);
  // What is changed in place has to stay the tensor that it is.
  const Py_ssize_t first = arguments.skip + (arguments.in_place ? 1 : 0);
  Replacements replacements(reader_, inputs.tensors, frame->kind != CallKind::kModule);
  if (first > arguments.skip && count > arguments.skip &&
      reader_->IsTensor(arguments.values[arguments.skip])) {
    replacements.SkipFirst();
  }
  for (Py_ssize_t i = first; i < count; ++i) replacements.Find(arguments.values[i]);
  if (replacements.slots.empty()) return;
  const PyRef tensors = replacements.List();
  const PyRef hooks = PyRef::Steal(PyList_New(PyList_GET_SIZE(tensors.get())));
  for (size_t i = 0; i < replacements.slots.size(); ++i) {
    PyRef hook = NewHook(record, {replacements.slots[i]}, true);
    if (!hook) return;
    PyList_SET_ITEM(hooks.get(), static_cast<Py_ssize_t>(i), Py_NewRef(hook.get()));
  }
  const PyRef made = PyRef::Steal(PyObject_CallFunctionObjArgs(
      functions_.hook_inputs.get(), tensors.get(), hooks.get(), KindOf(*frame), nullptr));
  const bool is_pair = made && PyTuple_Check(made.get()) && PyTuple_GET_SIZE(made.get()) == 2;
  const PyRef aliases = PyRef::Borrow(is_pair ? PyTuple_GET_ITEM(made.get(), 0) : nullptr);
  if (!IsListLike(aliases.get(), tensors.get())) {
    TheErrors().Take("hooking the inputs of a call");
    return;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(aliases.get()); ++i) {
    if (PyList_GET_ITEM(aliases.get(), i) != Py_None) ++record->inputs_hooked;
  }
  record->edges += record->inputs_hooked;
  if (record->inputs_hooked > 0) {
    frame->replaced = replacements.ReplaceAll(arguments.values, first, count, aliases.get());
    frame->give_back = PyRef::Borrow(PyTuple_GET_ITEM(made.get(), 1));
  }
}

std::vector<PyRef> TensorHooks::WithoutHooks(PyObject* const* values, Py_ssize_t count,
                                             const FlatTensors& tensors) const {
  Replacements replacements(reader_, tensors.tensors, true);
  for (Py_ssize_t i = 0; i < count; ++i) replacements.Find(values[i]);
  if (replacements.slots.empty()) return {};
  const PyRef list = replacements.List();
  const PyRef aliases =
      PyRef::Steal(PyObject_CallOneArg(functions_.without_hooks.get(), list.get()));
  if (!IsListLike(aliases.get(), list.get())) {
    TheErrors().Take("taking hooks away");
    return {};
  }
  return replacements.ReplaceAll(values, 0, count, aliases.get());
}

void TensorHooks::Exit(ThreadState*, Frame* frame, const FlatTensors& outputs, const FlatTensors&) {
  GradientRecord* record = frame->gradient.get();
  record->output_count = static_cast<uint32_t>(outputs.tensors.size());
  record->slots.resize(record->input_count + record->output_count);
  bool passes_on = false;
  for (uint32_t i = 0; i < record->output_count; ++i) {
    if (Contains(frame->unchanged.get(), outputs.tensors[i].get())) {
      passes_on = true;  // nothing lies between this output and the input
      continue;
    }
    const PyRef hook = NewHook(record, {record->input_count + i}, false);
    if (!hook) continue;
    const PyRef hooked = PyRef::Steal(PyObject_CallFunctionObjArgs(
        functions_.hook_output.get(), outputs.tensors[i].get(), hook.get(), nullptr));
    if (!hooked) TheErrors().Take("hooking an output of a call");
    if (hooked.get() == Py_True) ++record->edges;
  }
  record->awaited = !passes_on || record->edges > record->inputs_hooked;
  // Nothing tells when backward leaves a module whose inputs have no gradient: it ends with the
  // pass, not when the gradients of its outputs come.
  if (frame->kind == CallKind::kModule && record->inputs_hooked == 0 && record->edges > 0) {
    ++record->edges;
  }
}

PyObject* TensorHooks::GiveBack(Frame* frame, PyObject* result) const {
  const PyRef given = PyRef::Steal(PyObject_CallOneArg(frame->give_back.get(), result));
  frame->give_back = PyRef();
  const bool is_pair = given && PyTuple_Check(given.get()) && PyTuple_GET_SIZE(given.get()) == 2 &&
                       PyList_Check(PyTuple_GET_ITEM(given.get(), 1));
  if (!is_pair) {
    TheErrors().Take("handing inputs back");
    return result;
  }
  frame->unchanged = PyRef::Borrow(PyTuple_GET_ITEM(given.get(), 1));
  Py_DECREF(result);
  return Py_NewRef(PyTuple_GET_ITEM(given.get(), 0));
}

void TensorHooks::Leave(ThreadState*, Frame* frame) {
  if (frame->give_back) Py_DECREF(GiveBack(frame, Py_NewRef(Py_None)));  // it has raised
  frame->unchanged = PyRef();
  frame->gradient = GradientRecordRef();
  frame->replaced.clear();
}

void TensorHooks::Fire(const GradientRecordRef& record, const std::vector<uint32_t>& slots,
                       bool inputs, PyObject* gradients) {
  RunTool("recording a gradient", [&] { TakeGradients(record, slots, inputs, gradients); });
}

void TensorHooks::TakeGradients(const GradientRecordRef& record, const std::vector<uint32_t>& slots,
                                bool inputs, PyObject* gradients) {
  const bool first = record->left == 0;
  if (first) {
    record->left = record->edges;
    record->inputs_left = record->inputs_hooked;
    record->wanted = sink_->BeginGradients(record.get());
    open_.push_back(record);
  }
  for (size_t i = 0; record->wanted && i < slots.size(); ++i) {
    PyObject* gradient = gradients;
    if (PyTuple_Check(gradients)) {
      if (static_cast<Py_ssize_t>(i) >= PyTuple_GET_SIZE(gradients)) break;
      gradient = PyTuple_GET_ITEM(gradients, static_cast<Py_ssize_t>(i));
    }
    if (slots[i] >= record->slots.size() || !reader_->IsTensor(gradient)) continue;
    GradientSlot& slot = record->slots[slots[i]];
    sink_->Capture(record.get(), gradient, {}, &slot.value);
    slot.has_value = true;
  }
  if (record->left > 0) --record->left;
  if (inputs && record->inputs_left > 0) --record->inputs_left;
  // The outputs' hooks come before; those of unused outputs never come.
  if (record->left == 0 || (inputs && record->inputs_left == 0)) Finish(record);
}

void TensorHooks::Finish(const GradientRecordRef& record) {
  const GradientRecordRef kept = record;
  const auto place = std::find_if(open_.begin(), open_.end(), [&](const GradientRecordRef& open) {
    return open.get() == kept.get();
  });
  if (place != open_.end()) open_.erase(place);
  sink_->EmitGradients(kept.get());
  kept->left = 0;
}

// As they would have been completed: what runs inside a module before the module.
void TensorHooks::Purge() {
  const auto is_inside = [](const GradientRecord* record, const GradientRecord* module) {
    do record = record->parent;
    while (record != nullptr && record != module);
    return record != nullptr;
  };
  while (!open_.empty()) {
    const GradientRecord* next = open_.front().get();
    for (const GradientRecordRef& open : open_) {
      if (is_inside(open.get(), next)) next = open.get();
    }
    Finish(*std::ranges::find(open_, next, &GradientRecordRef::get));
  }
}

void TensorHooks::EndPass() {
  --passes_;
  if (passes_ == 0) Purge();
}

}  // namespace msprobe::python
