// The interpreter's own frames are walked where their layout is known: asking for frame objects
// costs many times more than all else that is done for a call.
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030D0000
#define MSPROBE_INTERPRETER_FRAMES 1
#define Py_BUILD_CORE 1
#endif
#include "python/bindings/call_stack.h"

#include <frameobject.h>

#include "python/bindings/tool_errors.h"
#ifdef MSPROBE_INTERPRETER_FRAMES
#include <internal/pycore_frame.h>
#endif

namespace msprobe::python {
namespace {

constexpr size_t kMaxStacks = 100'000;

}  // namespace

#ifdef MSPROBE_INTERPRETER_FRAMES
namespace {

using FrameRef = _PyInterpreterFrame*;

FrameRef WithCode(FrameRef frame) {
#if PY_VERSION_HEX >= 0x030C0000
  while (frame != nullptr && frame->owner == FRAME_OWNED_BY_CSTACK) frame = frame->previous;
#endif
  return frame;
}

FrameRef First() {
#if PY_VERSION_HEX >= 0x030D0000
  return WithCode(PyThreadState_Get()->current_frame);
#else
  return WithCode(PyThreadState_Get()->cframe->current_frame);
#endif
}
FrameRef Next(FrameRef frame) { return WithCode(frame->previous); }
const void* Address(FrameRef frame) { return frame; }
PyCodeObject* CodeOf(FrameRef frame) { return frame->f_code; }
int64_t PlaceOf(FrameRef frame, PyCodeObject* code) {
  return reinterpret_cast<const char*>(frame->prev_instr) -
         reinterpret_cast<const char*>(_PyCode_CODE(code));
}

}  // namespace
#else
namespace {

using FrameRef = PyRef;

FrameRef First() { return PyRef::Borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame())); }
PyFrameObject* Object(const FrameRef& frame) {
  return reinterpret_cast<PyFrameObject*>(frame.get());
}
FrameRef Next(const FrameRef& frame) {
  return PyRef::Steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(Object(frame))));
}
const void* Address(const FrameRef& frame) { return frame.get(); }
// The frame holds its code.
PyCodeObject* CodeOf(const FrameRef& frame) {
  PyCodeObject* code = PyFrame_GetCode(Object(frame));
  Py_DECREF(reinterpret_cast<PyObject*>(code));
  return code;
}
// A line number instead of an offset: there is no public way to the latter on 3.9 and 3.10.
int64_t PlaceOf(const FrameRef& frame, PyCodeObject*) {
  return PyFrame_GetLineNumber(Object(frame));
}

}  // namespace
#endif

void CallStacks::Read() {
  for (FrameRef frame = First(); frame; frame = Next(frame)) {
    PyCodeObject* code = CodeOf(frame);
    positions_.push_back({reinterpret_cast<PyObject*>(code), PlaceOf(frame, code)});
  }
}

const void* CallStacks::Innermost() { return Address(First()); }

size_t CallStacks::CodesBelow(const void* caller, std::span<PyObject*> codes) {
  size_t count = 0;
  for (FrameRef frame = First(); frame; frame = Next(frame)) {
    if (Address(frame) == caller) return count;
    if (count == codes.size()) break;
    codes[count++] = reinterpret_cast<PyObject*>(CodeOf(frame));
  }
  return 0;
}

StackFrames CallStacks::Capture() {
  positions_.clear();
  Read();
  uint64_t hash = 1469598103934665603u;
  for (const Position& position : positions_) {
    hash = (hash ^ reinterpret_cast<uintptr_t>(position.code)) * 1099511628211u;
    hash = (hash ^ static_cast<uint64_t>(position.instruction)) * 1099511628211u;
  }
  const auto range = stacks_.equal_range(hash);
  for (auto it = range.first; it != range.second; ++it) {
    if (it->second.positions == positions_) return it->second.frames;
  }
  if (stacks_.size() >= kMaxStacks) stacks_.clear();  // code that is made anew for each call
  Stack stack;
  stack.positions = positions_;
  for (const Position& position : positions_) stack.codes.push_back(PyRef::Borrow(position.code));
  stack.frames = Format(stack.positions);
  return stacks_.emplace(hash, std::move(stack))->second.frames;
}

bool CallStacks::IsHidden(PyObject* code) {
  const auto found = hidden_.find(code);
  if (found != hidden_.end()) return found->second;
  const std::string_view file = Utf8(reinterpret_cast<PyCodeObject*>(code)->co_filename);
  return !hidden_directory_.empty() && file.starts_with(hidden_directory_);
}

// Not of positions_: making objects may let other threads run, and they read stacks, too.
StackFrames CallStacks::Format(const std::vector<Position>& positions) {
  const PyRef list = PyRef::Steal(PyList_New(0));
  for (const Position& position : positions) {
    if (IsHidden(position.code)) continue;
    auto* code = reinterpret_cast<PyCodeObject*>(position.code);
#ifdef MSPROBE_INTERPRETER_FRAMES
    const int line = PyCode_Addr2Line(code, static_cast<int>(position.instruction));
#else
    const int line = static_cast<int>(position.instruction);
#endif
    const PyRef item = PyRef::Steal(Py_BuildValue("(OiO)", code->co_filename, line, code->co_name));
    if (!item || PyList_Append(list.get(), item.get()) != 0) DropError();
  }
  const PyRef texts = PyRef::Steal(PyObject_CallOneArg(format_.get(), list.get()));
  auto frames = std::make_shared<std::vector<std::string>>();
  if (texts && PyList_Check(texts.get())) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(texts.get()); ++i) {
      PyRef held;
      frames->emplace_back(Readable(PyList_GET_ITEM(texts.get(), i), &held));
    }
  } else {
    TheErrors().Take("formatting a stack");
  }
  return frames;
}

}  // namespace msprobe::python
