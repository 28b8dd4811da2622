#pragma once

#include <cstdint>
#include <vector>

#include "python/bindings/call_site.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

/// Calls of modules whose forward is one call of an API, like Linear's: what the module gets is
/// what the API gets, and what the API gives is what the module gives, and between the two no code
/// of the program runs. Such tensors are read once (see stats::SummaryCache: moments). Everything
/// happens under the GIL.
class LeafCalls {
 public:
  /// See Framework.set_up().
  struct Known {
    std::vector<PyRef> types;
    std::vector<PyRef> codes;
    std::vector<PyRef> tables;
    std::vector<PyRef> own_tables;
  };
  void Use(Known known) { known_ = std::move(known); }

  /// The call of `frame`, the innermost of its thread, is about to be recorded.
  void Enter(const ThreadState& thread, Frame* frame, const CallSite& site) const;
  /// The moment of its results; 0: any code may run between them and other records.
  static uint64_t Results(const ThreadState& thread, const Frame& frame);

 private:
  bool IsLeaf(PyObject* module) const;
  bool IsCalledBy(const void* caller, const CallSite& site) const;

  Known known_;
};

LeafCalls& TheLeafCalls();

}  // namespace msprobe::python
