#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/dump_writer.h"
#include "python/bindings/call_frame.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// What goes wrong in the tool itself while the program runs. The program does not see it: it is
/// counted, and named once a kind in dump_error_info.log and in the ledger of the step. In strict
/// mode (MSPROBE_STRICT=1) the first error is also raised, as soon as the tool gives control back.
/// So is what is no error but an order of the program's that came meanwhile, like KeyboardInterrupt
/// and the SystemExit of a signal handler: in the same thread. One per process; used under the GIL.
class ToolErrors {
 public:
  ToolErrors();

  /// Takes over the Python error that is pending, and gives its text. Nothing pending: nothing
  /// happens. `work` says what was being done: "describing a value".
  std::string Take(std::string_view work);
  void Add(std::string_view work, const std::exception& error);
  /// Forgets an error that was to be expected.
  void Drop();

  /// What a function of the tool gives back to the program: `result`, or null with an error set if
  /// one is to be raised. Steals and gives a reference.
  PyObject* Return(PyObject* result) { return pending_ ? Raise(result) : result; }

  void BeginStep(std::shared_ptr<DumpWriter> writer) { writer_ = std::move(writer); }
  void EndStep();  ///< the counts go into the ledger

 private:
  void Count(std::string_view work, const std::string& text);
  void Keep(PyObject* error);
  PyObject* Raise(PyObject* result);

  std::shared_ptr<DumpWriter> writer_;
  std::map<std::string, uint64_t> counts_;  // "describing a value: KeyError: 'x'"
  PyRef pending_;                           // the exception to raise
  unsigned long order_of_ = 0;              // if it is an order: the thread that got it
  bool strict_;
};

ToolErrors& TheErrors();

/// While it lives, the modes through which a program watches the framework's functions do not see
/// what the tool calls.
class HiddenFromModes {
 public:
  /// One kind of modes: `count()` gives how many there are; `off()` gives a context manager.
  static void AddKind(PyRef count, PyRef off);

  HiddenFromModes();
  ~HiddenFromModes();
  HiddenFromModes(const HiddenFromModes&) = delete;
  HiddenFromModes& operator=(const HiddenFromModes&) = delete;

 private:
  std::vector<PyRef> contexts_;
};

/// The tool works: nothing that it calls is recorded, and no error of it gets out. False if it
/// threw.
template <class Work>
bool RunTool(std::string_view name, Work work) {
  struct Busy {
    ThreadState& thread;
    ~Busy() { --thread.busy; }
  };
  ThreadState& thread = CurrentThread();
  ++thread.busy;
  const Busy busy{thread};
  std::optional<HiddenFromModes> hidden;
  if (thread.busy == 1) hidden.emplace();
  try {
    work();
  } catch (const std::exception& error) {
    TheErrors().Add(name, error);
    return false;
  }
  if (PyErr_Occurred() != nullptr) TheErrors().Take(name);
  return true;
}

}  // namespace msprobe::python
