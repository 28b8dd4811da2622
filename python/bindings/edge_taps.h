#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "python/bindings/autograd_access.h"
#include "python/bindings/call_frame.h"
#include "python/bindings/gradient_taps.h"
#include "python/bindings/hook_object.h"
#include "python/bindings/tensor_reader.h"

namespace msprobe::python {

/// What has to be done to a gradient on the way from the tapped edge to the tensor it belongs to.
enum class TapStep : uint8_t { kNone, kReshape, kTranspose, kSlice };

/// One slot of one call that an edge of the tapped node serves.
struct TapSubscription {
  GradientRecordRef record;
  bool output;
  TapStep step;
  uint32_t slot;
  int64_t index;  ///< which gradient of the node
  /// kReshape: shape; kSlice: (shape, strides, offset, whether these count the halves of complex
  /// numbers, dtype that two real numbers are one number of or None, method to call at last or
  /// None)
  PyRef geometry;
};

/// The hook on a node: a Python callable that lives in the node's table of hooks and nowhere else.
struct TapObject {
  HookObject hook;
  bool has_prehook;
  std::vector<TapSubscription> subscriptions;
};

/// Gradients of the inputs and outputs of calls, taken by hooks on the nodes that autograd has made
/// anyway. Nothing is inserted into the graph, no tensor gets a hook, no bit of the program
/// changes.
///
/// A call's outputs are gradients that enter the node behind them; its inputs are edges from nodes
/// made during the call to the node (or leaf) that the input came from. Enter() notes the inputs,
/// Exit() walks from the outputs over the nodes that no finished call has claimed yet, so each
/// node is walked once however deep the modules are nested.
class EdgeTaps : public GradientTaps {
 public:
  EdgeTaps(AutogradAccess* autograd, TensorReader* reader, GradientSink* sink);

  bool GradMode(const Frame&) const override { return autograd_->GradMode(); }
  void Enter(ThreadState* thread, Frame* frame, const FlatTensors& inputs,
             const CallArguments& arguments) override;
  void Exit(ThreadState* thread, Frame* frame, const FlatTensors& outputs,
            const FlatTensors& kept) override;
  void Leave(ThreadState* thread, Frame* frame) override;
  void Purge() override;
  bool in_backward() const override { return autograd_->GraphTask() >= 0; }

  // Called by the hooks.
  void Fire(TapObject* tap, PyObject* gradients_in, PyObject* gradients_out, bool before_node);
  void FinishTask(int64_t task);

 private:
  void TakeGradients(TapObject* tap, PyObject* gradients_in, PyObject* gradients_out,
                     bool before_node);
  struct Walk;

  PyRef NewTap(PyObject* node);
  std::vector<PyRef> TapsAt(PyObject* node) const;
  void TakeGradient(const TapSubscription& subscription, PyObject* gradient);
  void TakeUnread(GradientRecord* record, PyObject* gradient, GradientSlot* slot);
  void StartPass(GradientRecord* record, int64_t task);
  void CompleteEdge(GradientRecord* record);
  PyRef Shaped(const TapSubscription& subscription, PyObject* gradient);
  PyRef Detached(PyObject* gradient);
  PyRef ShapeOf(PyObject* tensor) const;
  bool MakesAllOf(PyObject* node, PyObject* tensor) const;
  PyRef Slice(PyObject* gradient, PyObject* geometry);
  void NoteView(PyObject* tensor, PyObject* base, WatchedInput* watched);
  PyRef GeometryOf(ViewGeometry view, PyObject* tensor);

  void TapOutputs(ThreadState* thread, Frame* frame, const FlatTensors& outputs, Walk* walk);
  void AddKept(Frame* frame, const FlatTensors& kept, Walk* walk);
  void Expand(ThreadState* thread, Frame* frame, Walk* walk);
  bool MadeHere(Walk* walk, int64_t sequence) const;
  void FollowEdge(ThreadState* thread, Walk* walk, size_t from, int64_t index, PyObject* target,
                  int64_t output_nr);
  bool UsesOf(ThreadState* thread, Walk* walk, PyObject* key, int64_t output_nr, size_t from,
              int64_t index);
  void SubscribeInputs(ThreadState* thread, Walk* walk);
  void SubscribeLateOutputs(Frame* frame, const FlatTensors& outputs, Walk* walk);
  void FollowInPlaceViews(ThreadState* thread, Frame* frame, Walk* walk);
  void Remember(ThreadState* thread, Walk* walk);
  TapObject* TapAt(ThreadState* thread, Walk* walk, size_t node);
  static void Subscribe(TapObject* tap, GradientRecord* record, bool output, uint32_t slot,
                        int64_t index, TapStep step, PyRef geometry);

  AutogradAccess* autograd_;
  TensorReader* reader_;
  GradientSink* sink_;
  PyRef shape_name_, detach_name_, clone_name_, offset_name_;
  std::unordered_map<int64_t, std::vector<GradientRecordRef>> tasks_;
  uint64_t moment_ = 0;    ///< of the hook that runs: see stats::SummaryCache
  int graph_threads_ = 0;  ///< how many threads have had calls that make nodes
};

}  // namespace msprobe::python
