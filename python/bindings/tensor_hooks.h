#pragma once

#include <vector>

#include "python/bindings/gradient_taps.h"
#include "python/bindings/tensor_reader.h"

namespace msprobe::python {

/// Gradients by the hooks that a framework offers for tensors, where its graph cannot be walked.
///
/// Outputs of a call get a hook each; nothing is inserted. For inputs the call receives aliases
/// with hooks, and what flows back through an alias is what this call contributes. A call's
/// gradients are complete when its inputs' hooks have fired: everything else comes before.
class TensorHooks : public GradientTaps {
 public:
  struct Functions {
    PyRef grad_mode;  ///< () -> bool
    /// (tensors, hooks, kind of call) -> ([alias | None], give_back); hook(gradient of its alias).
    /// give_back(result), after the call: the tensors become what the call has made of their
    /// aliases -> (result without aliases, [tensors that it has not changed]).
    PyRef hook_inputs;
    PyRef hook_output;    ///< (tensor, hook) -> bool: the hook may see a gradient
    PyRef without_hooks;  ///< (tensors) -> [alias | None]: aliases for those with hooks
  };
  TensorHooks(Functions functions, TensorReader* reader, GradientSink* sink);

  bool GradMode(const Frame& frame) const override;
  void Enter(ThreadState* thread, Frame* frame, const FlatTensors& inputs,
             const CallArguments& arguments) override;
  void Exit(ThreadState* thread, Frame* frame, const FlatTensors& outputs,
            const FlatTensors& kept) override;
  void Leave(ThreadState* thread, Frame* frame) override;
  void Purge() override;
  bool in_backward() const override { return passes_ > 0; }

  /// The result of the call, which is taken over, with the caller's tensors in place of aliases.
  PyObject* GiveBack(Frame* frame, PyObject* result) const;
  /// The arguments with aliases for tensors that have hooks: for compiled functions, which would
  /// compile the hooks too. Empty: nothing to replace.
  std::vector<PyRef> WithoutHooks(PyObject* const* values, Py_ssize_t count,
                                  const FlatTensors& tensors) const;
  /// Around the call that runs a backward pass.
  void BeginPass() { ++passes_; }
  void EndPass();

  // Called by the hooks. `gradients`: one tensor or a tuple.
  void Fire(const GradientRecordRef& record, const std::vector<uint32_t>& slots, bool inputs,
            PyObject* gradients);

 private:
  void TakeGradients(const GradientRecordRef& record, const std::vector<uint32_t>& slots,
                     bool inputs, PyObject* gradients);
  void Finish(const GradientRecordRef& record);

  Functions functions_;
  TensorReader* reader_;
  GradientSink* sink_;
  int passes_ = 0;
  std::vector<GradientRecordRef> open_;  ///< begun, not complete
};

}  // namespace msprobe::python
