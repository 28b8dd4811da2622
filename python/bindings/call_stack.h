#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "msprobe/dump_writer.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// The Python stacks at which calls are made. A stack is told apart by its code objects and
/// positions; its text is made once.
class CallStacks {
 public:
  /// `format(list of (file, line, function))` gives the list of texts; frames of files below
  /// `hidden_directory` are left out.
  CallStacks(PyRef format, std::string hidden_directory)
      : format_(std::move(format)), hidden_directory_(std::move(hidden_directory)) {}

  /// Frames of this code object are left out: it stands in for a function of the framework.
  void Hide(PyObject* code) { hidden_[code] = true; }

  /// The stack of this thread, innermost frame first; null if it cannot be read.
  StackFrames Capture();

  /// The frame of this thread that runs now; while it does, none but it has this address.
  static const void* Innermost();
  /// The code objects of the frames from the innermost one to the last before `caller`; 0 if there
  /// are more than fit.
  static size_t CodesBelow(const void* caller, std::span<PyObject*> codes);

 private:
  struct Position {
    PyObject* code;
    int64_t instruction;  // offset in bytes
    bool operator==(const Position&) const = default;
  };
  struct Stack {
    std::vector<Position> positions;
    std::vector<PyRef> codes;  // keeps the keys alive
    StackFrames frames;
  };

  void Read();
  bool IsHidden(PyObject* code);
  StackFrames Format(const std::vector<Position>& positions);

  PyRef format_;
  std::string hidden_directory_;
  std::vector<Position> positions_;  // of the stack being captured
  std::unordered_multimap<uint64_t, Stack> stacks_;
  std::unordered_map<PyObject*, bool> hidden_;
};

}  // namespace msprobe::python
