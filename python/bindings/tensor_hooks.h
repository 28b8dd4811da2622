#pragma once

#include <vector>

#include "python/bindings/gradient_taps.h"
#include "python/bindings/tensor_reader.h"

namespace msprobe::python {

/// Gradients by the hooks that a framework offers for tensors, where its graph cannot be walked.
///
/// Outputs of a call get a hook each; nothing is inserted. Inputs get one hook together: the call
/// receives aliases of them, and what flows back through the aliases is what this call contributes.
/// A call's gradients are complete when its inputs' hook has fired: everything else lies before it.
class TensorHooks : public GradientTaps {
 public:
  struct Functions {
    PyRef grad_mode;    ///< () -> bool
    PyRef hook_inputs;  ///< (tensors, hook) -> [alias | None]; hook(gradients of the aliases)
    PyRef hook_output;  ///< (tensor, hook) -> bool: the hook may see a gradient
  };
  TensorHooks(Functions functions, TensorReader* reader, GradientSink* sink);

  bool GradMode() const override;
  void Enter(ThreadState* thread, Frame* frame, const FlatTensors& inputs,
             const CallArguments& arguments) override;
  void Exit(ThreadState* thread, Frame* frame, const FlatTensors& outputs) override;
  void Leave(ThreadState* thread, Frame* frame) override;
  void Purge() override;
  bool in_backward() const override { return passes_ > 0; }

  /// Around the call that runs a backward pass.
  void BeginPass() { ++passes_; }
  void EndPass();

  // Called by the hooks. `gradients`: one tensor or a tuple.
  void Fire(const GradientRecordRef& record, const std::vector<uint32_t>& slots, bool inputs,
            PyObject* gradients);

 private:
  void Finish(const GradientRecordRef& record);

  Functions functions_;
  TensorReader* reader_;
  GradientSink* sink_;
  int passes_ = 0;
  std::vector<GradientRecordRef> open_;  ///< begun, not complete
};

}  // namespace msprobe::python
