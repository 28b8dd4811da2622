#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "msprobe/dump_writer.h"
#include "python/bindings/autograd_access.h"
#include "python/bindings/call_frame.h"
#include "python/bindings/call_site.h"
#include "python/bindings/call_stack.h"
#include "python/bindings/collect_options.h"
#include "python/bindings/edge_taps.h"
#include "python/bindings/name_filter.h"
#include "python/bindings/parameter_gradients.h"
#include "python/bindings/tensor_hooks.h"
#include "python/bindings/value_writer.h"

namespace msprobe::python {

/// Sees every call of the program and writes what is wanted of it. One per process; everything
/// happens under the GIL.
class Collector : public GradientSink {
 public:
  Collector(std::unique_ptr<TensorReader> reader, std::unique_ptr<AutogradAccess> autograd,
            PyRef describe_value, PyRef size_type, PyRef format_stack,
            std::string hidden_directory);
  ~Collector() override;

  CollectOptions options;
  NameFilter filter;
  CallStacks& stacks() { return stacks_; }
  ValueWriter& values() { return values_; }
  /// For frameworks whose graph cannot be walked; before the first step.
  void UseTensorHooks(TensorHooks::Functions functions);
  /// `name(object)` gives the prefix of the records of an object's calls, or None.
  void SetObjectNames(PyRef name) { name_object_ = std::move(name); }
  /// The attribute in which a module has its parameters, by name.
  void SetParametersName(PyRef name) { parameters_name_ = std::move(name); }
  /// The gradient of a parameter, from the parameter's own hook.
  void TakeParameterGradient(PyObject* parameter, PyObject* gradient);
  void SetBench(BenchChecksums bench, std::optional<int64_t> differences);

  /// The modules to record. Calls of `roots` are counted for the token range.
  void SetModules(std::vector<std::shared_ptr<ModuleInfo>> modules, std::vector<PyRef> roots);
  /// More modules, or other names for some, for a part of the step; their parameters' gradients are
  /// not recorded under these names.
  void AddModules(std::vector<std::shared_ptr<ModuleInfo>> modules);
  void RemoveModules(const std::vector<PyObject*>& modules);
  void SetTokenRange(std::optional<std::pair<int64_t, int64_t>> range) { token_range_ = range; }
  /// What the handles of asynchronous collectives are instances of.
  void SetWaitable(PyRef type) { waitable_ = std::move(type); }

  void BeginStep(std::shared_ptr<DumpWriter> writer);
  void Start();        ///< new calls are recorded
  void Stop();         ///< only backward, and what it computes again
  uint64_t EndStep();  ///< how many recorded calls still run
  bool recording() const { return enabled_ && !only_recompute_; }
  bool in_backward() const { return taps_ != nullptr && taps_->in_backward(); }
  /// Calls still hold gradients to come, or handles to wait for.
  bool expects_more() const { return open_records_ > 0 || !waiting_.empty(); }
  /// Or backward may compute calls again, also where these have no gradients themselves.
  bool may_go_on() const { return expects_more() || (seen_ > 0 && !had_backward_); }
  /// In ledger.json, once a step.
  void Note(const std::string& text);
  /// In a forked child: nothing more is recorded.
  void Abandon();
  uint64_t late_gradients() const { return late_gradients_; }
  uint64_t recorded() const { return recorded_ + deferred_.size(); }
  /// Calls of the root in this step; counted where there is a token range.
  int64_t root_calls() const { return root_calls_; }
  bool model_called() const { return model_called_; }  ///< in this step, recorded or not

  PyObject* Call(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  /// An entry that user code asks for by name (level debug).
  uint32_t Save(std::string_view name, PyObject* value, bool has_number);

  // GradientSink
  bool BeginGradients(GradientRecord* record) override;
  bool Capture(GradientRecord* record, PyObject* gradient, const CaptureAs& as,
               CapturedTensor* captured) override;
  void EmitGradients(GradientRecord* record) override;
  void UseLeaf(PyObject* node, PyObject* variable) override;

 private:
  enum Skip : uint8_t {
    kScope,
    kList,
    kDataMode,
    kTokenRange,
    kException,
    kRepeated,
    kUnfinished,
    kFakeTensors,
    kSkipCount
  };
  using Arguments = CallArguments;
  struct Waiting;

  PyObject* CallRecorded(CallSite* site, std::shared_ptr<ModuleInfo> module, PyObject* const* args,
                         size_t flags, PyObject* names);
  PyObject* CallOutside(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  /// Whether the call is one of those that a token range counts.
  bool IsToken(const CallSite& site, PyObject* const* args, size_t flags) const;
  PyObject* CallToken(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  bool InTokenRange(const ThreadState& thread) const {
    return thread.token.step_id == step_id_ ? thread.token.recorded : in_token_range_;
  }
  PyObject* CallModule(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  PyObject* CallCompiled(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  PyObject* CallBackward(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  /// Null: calls of the object are not recorded.
  std::shared_ptr<CallSite> SiteOf(CallSite* site, PyObject* object);
  std::string NameOfObject(PyObject* object) const;  ///< with a dot at its end; or empty
  static std::shared_ptr<CallSite> NewObjectSite(const CallSite& site, const std::string& prefix);
  PyObject* CallGroup(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  PyObject* CallQuiet(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  PyObject* CallWait(CallSite* site, PyObject* const* args, size_t flags, PyObject* names);
  bool CollectInputs(const Arguments& arguments, FlatTensors* inputs) const;
  /// Reading values and stacks may let other threads run, and one of them may end the step.
  bool IsOfThisStep(const Frame& frame) const {
    return frame.step_id == step_id_ && writer_ != nullptr;
  }
  void Enter(ThreadState* thread, Frame* frame, CallSite* site, const Arguments& arguments);
  void NameCall(Frame* frame, CallSite* site);
  void WriteInputs(Frame* frame, const Arguments& arguments);
  void Exit(ThreadState* thread, Frame* frame, PyObject* result);
  void FlattenKept(Frame* frame, FlatTensors* kept) const;
  void WriteResult(Frame* frame, PyObject* result);
  void WriteParameters(const ModuleInfo& module, RecordBuilder* builder);
  void Pop(ThreadState* thread, Frame* frame);
  void GiveUp(ThreadState* thread, Frame* frame);  // the call goes on without a record
  const Frame* Parent(const ThreadState& thread) const;
  std::vector<PyRef> CollectiveOutputs(const Frame& frame, PyObject* result) const;
  PyRef CollectiveResult(const Frame& frame, PyObject* result) const;
  bool DeferUntilWaited(Frame* frame, PyObject* result);
  void FinishWaiting(Waiting* waiting, bool waited);
  void Decide(GradientRecord* record);
  bool IsFollowed(const GradientRecord& record) const;
  void ReportMissingGradients();
  void AddConstruct(GradientRecord* record);
  void Emit(RecordBuilder* builder);
  void Defer(RecordBuilder* builder);
  void WriteDeferred();
  void Write(RecordBuilder* builder);
  void WatchParameters();
  void FollowParameters(const ModuleInfo& module);
  void EmitParameterGradients(ParameterGradients::Entry entry);
  void Count(Skip reason) { ++skipped_[reason]; }

  std::unique_ptr<TensorReader> reader_;
  std::unique_ptr<AutogradAccess> autograd_;
  ValueWriter values_;
  CallStacks stacks_;
  std::unique_ptr<GradientTaps> taps_;
  TensorHooks* tensor_hooks_ = nullptr;  // is `taps_`, where the graph cannot be walked
  std::unique_ptr<ParameterGradients> parameter_gradients_;
  BenchChecksums bench_;
  std::shared_ptr<DumpWriter> writer_;
  std::vector<CallCounter*> used_counters_;  // with calls in this step
  std::vector<std::shared_ptr<ModuleInfo>> modules_;
  std::unordered_map<PyObject*, std::shared_ptr<ModuleInfo>> module_of_;
  std::unordered_map<PyObject*, std::shared_ptr<ModuleInfo>> named_before_;  ///< by SetModules()
  /// By name, for modules that get the name of another one; from the first AddModules() of a step.
  std::unordered_map<std::string, std::shared_ptr<uint32_t>> module_calls_;
  std::vector<PyRef> roots_;
  std::optional<std::pair<int64_t, int64_t>> token_range_;
  std::unordered_map<PyObject*, std::shared_ptr<Waiting>> waiting_;
  PyRef waitable_, name_object_, parameters_name_;
  /// The object, kept, and its site; null: not recorded.
  std::unordered_map<PyObject*, std::pair<PyRef, std::shared_ptr<CallSite>>> object_sites_;
  std::unordered_map<std::string, std::shared_ptr<CallSite>> compiled_sites_;  ///< by name
  std::vector<RecordBuilder> deferred_;  // from the first that waits for a device
  uint64_t deferred_bytes_ = 0;
  bool writes_deferred_ = false;
  std::vector<GradientRecordRef> in_place_calls_;  // of this step, with `tensor_hooks_`
  std::array<uint64_t, kSkipCount> skipped_{};
  uint64_t seen_ = 0, recorded_ = 0, late_gradients_ = 0, step_id_ = 0, open_records_ = 0;
  uint64_t open_calls_ = 0;  // with a forward entry to come
  int64_t root_calls_ = 0;
  std::unordered_map<std::string, uint32_t> saved_names_;
  bool enabled_ = false;          // some calls are recorded
  bool only_recompute_ = false;   // after Stop()
  bool in_token_range_ = true;    // for threads that are in no call of the model
  int64_t open_token_calls_ = 0;  // of the model, that the range has
  bool gradients_ = false;        // gradients still belong to this step
  bool model_called_ = false, had_backward_ = false;  // in this step, as far as it is seen

  friend PyObject* Invoke(CallSite*, PyObject* const*, size_t, PyObject*);
  friend PyObject* WaitableDied(PyObject*, PyObject*);
};

/// The collector of this process; null before the framework is set up.
Collector*& TheCollector();

}  // namespace msprobe::python
