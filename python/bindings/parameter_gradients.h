#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "python/bindings/autograd_access.h"
#include "python/bindings/call_frame.h"
#include "python/bindings/gradient_record.h"

namespace msprobe::python {

/// Gradients of parameters, right after each accumulation. The hook sits on the node that
/// accumulates, which belongs to the graph: nothing is registered on the parameter itself.
class ParameterGradients {
 public:
  using CaptureFunction =
      std::function<void(PyObject* gradient, bool saves, CapturedTensor* captured)>;
  /// Whether the tensors of an entry are saved.
  using SavesFunction = std::function<bool(const ModuleInfo& module, uint32_t k)>;
  /// The k-th gradients of a module are there, in the order of its parameters.
  struct Entry {
    std::shared_ptr<const ModuleInfo> module;
    uint32_t k;
    std::vector<std::pair<std::string_view, CapturedTensor>> values;
  };
  using EmitFunction = std::function<void(Entry entry)>;

  ParameterGradients(AutogradAccess* autograd, CaptureFunction capture, SavesFunction saves,
                     EmitFunction emit);
  /// "Module.head.Linear.parameters_grad.0"
  static std::string NameOf(const ModuleInfo& module, uint32_t k);
  ~ParameterGradients();

  void SetModules(const std::vector<std::shared_ptr<ModuleInfo>>& modules);
  /// `autograd` may be null: then parameters say themselves whether they want a gradient.
  /// A call uses `variable`; `node` accumulates its gradient. False: it is no parameter.
  bool Watch(PyObject* node, PyObject* variable);
  /// `value` is the module's parameter `name` from now on.
  void Follow(PyObject* module, std::string_view name, PyObject* value);
  /// Writes what is incomplete, and takes the hooks off nodes that are still alive.
  void EndStep();

  // Called by the hooks.
  /// `came`: what the node was to accumulate.
  void AccumulatedByNode(PyObject* variable, PyObject* came);
  /// `reason`: why there is no value.
  void Accumulated(PyObject* variable, PyObject* gradient, std::string_view reason = {});

 private:
  struct Owner {
    size_t module;
    size_t parameter;
  };
  struct Parameter {
    PyRef value;
    std::vector<Owner> owners;
    PyObject* hook = nullptr;   // alive as long as the node is; tells us when it dies
    bool has_gradient = false;  // before the next accumulation
  };
  struct Pending {
    std::map<size_t, CapturedTensor> values;  // by parameter
    size_t waits_for = 0;                     // those before it are there, or will not come
  };
  struct Module {
    std::shared_ptr<ModuleInfo> info;
    std::vector<uint32_t> next;  // by parameter: k of the gradient that comes next
    uint32_t first_open = 0;     // k: those before it have been emitted
    std::map<uint32_t, Pending> pending;
  };
  struct Step {
    std::vector<Module> modules;
    std::unordered_map<PyObject*, Parameter> parameters;
    std::vector<PyObject*> replaced;  // some of `parameters`: others have taken their places
  };
  friend struct AccumulateHook;

  bool RequiresGrad(PyObject* parameter) const;
  void TakePlace(PyObject* variable, size_t module, size_t parameter);
  static bool HasPlace(const Step& step, const Parameter& parameter);
  void ForgetReplaced();
  bool IsComplete(Module* module, uint32_t k) const;
  void Emit(Module* module, uint32_t k);

  AutogradAccess* autograd_;
  CaptureFunction capture_;
  SavesFunction saves_;
  EmitFunction emit_;
  /// Reading a gradient and waiting for the disk let other threads run, and one of them may end the
  /// step: whoever is at work holds what it works on.
  std::shared_ptr<Step> step_ = std::make_shared<Step>();
};

}  // namespace msprobe::python
