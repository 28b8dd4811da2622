#pragma once

#include <cstdint>
#include <string>

#include "python/bindings/call_frame.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// Calls in this step of everything that has one name: `torch.norm` and `torch.linalg.norm` are
/// both "Torch.norm".
struct CallCounter {
  uint32_t calls = 0;
};

/// A function of the program whose calls the collector sees. Lives until the process ends: bound
/// methods that were made while it was in place may outlive the collection.
struct CallSite {
  CallKind kind = CallKind::kApi;
  std::string prefix;              ///< "Functional.relu."; kGroup: its name; kQuiet: a note or ""
  bool in_place = false;           ///< the first argument is what the call changes
  PyRef original;                  ///< does what the function did before
  CallCounter* counter = nullptr;  ///< shared by all sites of one prefix; lives on like the site
};

CallCounter* CounterOf(const std::string& prefix);
/// By its name: "Tensor.add_.", "Tensor.__iadd__.", "Primitive.update.Assign.".
bool ChangesFirstArgument(const std::string& prefix);

/// Runs `site->original`, recorded or not.
PyObject* Invoke(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);

}  // namespace msprobe::python
