#include "python/bindings/tool_errors.h"

#include <cstdlib>
#include <cstring>

namespace msprobe::python {
namespace {

bool StrictMode() {
  const char* value = std::getenv("MSPROBE_STRICT");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

// "KeyError: 'x'", the first line of it.
std::string Describe(PyObject* error) {
  const char* type = Py_TYPE(error)->tp_name;
  PyRef message;
  std::string text = std::string(type) + ": " + std::string(Readable(error, &message));
  return text.substr(0, text.find('\n'));
}

struct ModeKind {
  PyRef count, off;
};

std::vector<ModeKind>& TheModeKinds() {
  static auto* kinds = new std::vector<ModeKind>;
  return *kinds;
}

}  // namespace

void HiddenFromModes::AddKind(PyRef count, PyRef off) {
  TheModeKinds().push_back({std::move(count), std::move(off)});
}

HiddenFromModes::HiddenFromModes() {
  for (const ModeKind& kind : TheModeKinds()) {
    const PyRef count = PyRef::Steal(PyObject_CallNoArgs(kind.count.get()));
    if (count && PyLong_AsLong(count.get()) > 0) {
      PyRef context = PyRef::Steal(PyObject_CallNoArgs(kind.off.get()));
      const PyRef entered = PyRef::Steal(
          context ? PyObject_CallMethod(context.get(), "__enter__", nullptr) : nullptr);
      if (entered) contexts_.push_back(std::move(context));
    }
    DropError();
  }
}

HiddenFromModes::~HiddenFromModes() {
  while (!contexts_.empty()) {
    const PyRef left = PyRef::Steal(
        PyObject_CallMethod(contexts_.back().get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
    if (!left) DropError();
    contexts_.pop_back();
  }
}

ToolErrors& TheErrors() {
  static auto* errors = new ToolErrors;  // hooks may run while the interpreter ends
  return *errors;
}

ToolErrors::ToolErrors() : strict_(StrictMode()) {}

std::string ToolErrors::Take(std::string_view work) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return {};
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  const PyRef kept[] = {PyRef::Steal(type), PyRef::Steal(traceback)};
  PyRef error = PyRef::Steal(value);
  std::string text = Describe(error.get());
  Count(work, text);
  Keep(error.get());
  return text;
}

void ToolErrors::Keep(PyObject* error) {
  if (!PyErr_GivenExceptionMatches(error, PyExc_Exception)) {
    pending_ = PyRef::Borrow(error);
    order_of_ = PyThread_get_thread_ident();
  } else if (strict_ && !pending_) {
    pending_ = PyRef::Borrow(error);
  }
}

void ToolErrors::Drop() {
  if (PyErr_Occurred() == nullptr) return;
  if (PyErr_ExceptionMatches(PyExc_Exception) != 0) return PyErr_Clear();
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const PyRef taken[] = {PyRef::Steal(type), PyRef::Steal(value), PyRef::Steal(traceback)};
  Keep(value);
}

void DropError() { TheErrors().Drop(); }

void ToolErrors::Add(std::string_view work, const std::exception& error) {
  DropError();
  PyErr_Format(PyExc_RuntimeError, "%s", error.what());
  Take(work);
}

void ToolErrors::Count(std::string_view work, const std::string& text) {
  const uint64_t earlier = counts_[std::string(work) + ": " + text]++;
  if (earlier == 0 && writer_ != nullptr) {
    writer_->ReportProblem(work, "error in msprobe, more of its kind are only counted: " + text);
  }
}

PyObject* ToolErrors::Raise(PyObject* result) {
  if (result == nullptr) return nullptr;  // the program's own error goes first
  if (order_of_ != 0 && order_of_ != PyThread_get_thread_ident()) return result;
  Py_DECREF(result);
  order_of_ = 0;
  const PyRef error = std::move(pending_);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  return nullptr;
}

void ToolErrors::EndStep() {
  for (const auto& [text, count] : counts_) {
    if (writer_ != nullptr) {
      writer_->AddNote(std::to_string(count) + " errors in msprobe while " + text);
    }
  }
  counts_.clear();
  writer_ = nullptr;
}

}  // namespace msprobe::python
