// Collectives that go on after the call: the record is finished when somebody waits for them.
#include <algorithm>

#include "python/bindings/collector.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {

struct Collector::Waiting {
  RecordBuilder builder;
  std::string name;
  bool saves_tensors = false;
  uint32_t tensor_index = 0;
  uint64_t step_id = 0;
  std::vector<PyRef> tensors;
  std::vector<PyObject*> handles;  // keys in waiting_; not owned, their death is noted
  std::vector<PyRef> references;
  size_t left = 0;
};

// A handle that nobody waits for dies: the record is written without output.
PyObject* WaitableDied(PyObject* self, PyObject*) {
  Collector* collector = TheCollector();
  auto* handle = static_cast<PyObject*>(PyCapsule_GetPointer(self, nullptr));
  if (collector != nullptr) {
    const auto found = collector->waiting_.find(handle);
    if (found != collector->waiting_.end()) {
      const auto waiting = found->second;
      RunTool("writing a collective", [&] { collector->FinishWaiting(waiting.get(), false); });
    }
  }
  Py_RETURN_NONE;
}

namespace {

PyMethodDef died_method = {"handle_died", WaitableDied, METH_O, nullptr};

}  // namespace

// Most collectives write into tensors that they are given; some give new ones back.
std::vector<PyRef> Collector::CollectiveOutputs(const Frame& frame, PyObject* result) const {
  FlatTensors made;
  values_.Flatten(result, &made);
  return made.tensors.empty() ? frame.inputs.tensors : std::move(made.tensors);
}

PyRef Collector::CollectiveResult(const Frame& frame, PyObject* result) const {
  const std::vector<PyRef> outputs = CollectiveOutputs(frame, result);
  PyRef tensors = PyRef::Steal(PyTuple_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; tensors && i < outputs.size(); ++i) {
    PyTuple_SET_ITEM(tensors.get(), static_cast<Py_ssize_t>(i), Py_NewRef(outputs[i].get()));
  }
  return tensors;
}

bool Collector::DeferUntilWaited(Frame* frame, PyObject* result) {
  if (!waitable_) return false;
  std::vector<PyObject*> handles;
  const auto add = [&](PyObject* object) {
    // Each is waited for once, however often it is given back.
    if (PyObject_IsInstance(object, waitable_.get()) == 1 &&
        std::ranges::find(handles, object) == handles.end()) {
      handles.push_back(object);
    }
  };
  add(result);
  if (PyList_Check(result) || PyTuple_Check(result)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(result); ++i) {
      add(PySequence_Fast_GET_ITEM(result, i));
    }
  }
  DropError();
  if (handles.empty()) return false;
  auto waiting = std::make_shared<Waiting>();
  waiting->name = frame->name;
  waiting->saves_tensors = frame->saves_tensors;
  waiting->tensor_index = frame->tensor_index;
  waiting->step_id = frame->step_id;
  std::swap(waiting->builder, frame->builder);
  waiting->tensors = CollectiveOutputs(*frame, result);
  for (PyObject* handle : handles) {
    const PyRef capsule = PyRef::Steal(PyCapsule_New(handle, nullptr, nullptr));
    const PyRef died = PyRef::Steal(PyCFunction_New(&died_method, capsule.get()));
    PyRef reference = PyRef::Steal(PyWeakref_NewRef(handle, died.get()));
    if (!reference) DropError();
    waiting->references.push_back(std::move(reference));
    waiting->handles.push_back(handle);
    ++waiting->left;
    waiting_[handle] = waiting;
  }
  return true;
}

PyObject* Collector::CallWait(CallSite* site, PyObject* const* args, size_t flags,
                              PyObject* names) {
  PyObject* result = PyObject_Vectorcall(site->original.get(), args, flags, names);
  if (result == nullptr || waiting_.empty() || PyVectorcall_NARGS(flags) == 0) return result;
  const auto found = waiting_.find(args[0]);
  if (found == waiting_.end()) return result;
  const std::shared_ptr<Waiting> waiting = found->second;
  waiting_.erase(found);
  if (--waiting->left == 0) {
    RunTool("writing a collective", [&] { FinishWaiting(waiting.get(), true); });
  }
  return TheErrors().Return(result);
}

void Collector::FinishWaiting(Waiting* waiting, bool waited) {
  std::shared_ptr<Waiting> alive;
  for (PyObject* handle : waiting->handles) {
    const auto found = waiting_.find(handle);
    if (found == waiting_.end() || found->second.get() != waiting) continue;
    alive = found->second;
    waiting_.erase(found);
  }
  if (waited && filter.output) {
    values_.ResumeRecord(waiting->name, waiting->saves_tensors, waiting->tensor_index);
    waiting->builder.BeginList("output");
    for (const PyRef& tensor : waiting->tensors) {
      values_.Write(&waiting->builder, {}, tensor.get());
    }
    waiting->builder.End();
  }
  if (waiting->step_id == step_id_) Emit(&waiting->builder);  // it may have ended meanwhile
}

}  // namespace msprobe::python
