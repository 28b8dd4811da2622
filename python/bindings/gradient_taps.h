#pragma once

#include "python/bindings/call_frame.h"
#include "python/bindings/gradient_record.h"

namespace msprobe::python {

/// Where the gradients go.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// The first gradient of a call in this backward pass. False: none of them is wanted.
  virtual bool BeginGradients(GradientRecord* record) = 0;
  /// False: see ValueWriter::Capture().
  virtual bool Capture(GradientRecord* record, PyObject* gradient, const CaptureAs& as,
                       CapturedTensor* captured) = 0;
  virtual void EmitGradients(GradientRecord* record) = 0;
  /// A call uses this leaf; `node` accumulates its gradient.
  virtual void UseLeaf(PyObject* node, PyObject* variable) = 0;
};

/// How gradients are taken from a framework.
class GradientTaps {
 public:
  virtual ~GradientTaps() = default;
  /// Whether the call that begins may make what backward goes through.
  virtual bool GradMode(const Frame& frame) const = 0;
  /// frame.gradient is set: notes the inputs. May fill frame.replaced.
  virtual void Enter(ThreadState* thread, Frame* frame, const FlatTensors& inputs,
                     const CallArguments& arguments) = 0;
  /// Before anything else uses the outputs. `kept`: tensors that may have been made meanwhile and
  /// are not given back.
  virtual void Exit(ThreadState* thread, Frame* frame, const FlatTensors& outputs,
                    const FlatTensors& kept) = 0;
  /// Always, also when the call raised.
  virtual void Leave(ThreadState* thread, Frame* frame) = 0;
  /// Emits what passes that were cut short have left.
  virtual void Purge() = 0;
  virtual bool in_backward() const = 0;
};

}  // namespace msprobe::python
