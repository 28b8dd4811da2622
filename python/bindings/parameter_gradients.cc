#include "python/bindings/parameter_gradients.h"

#include <algorithm>

#include "python/bindings/hook_object.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {

struct AccumulateHook {
  HookObject hook;
  PyObject* parameter;  // not owned; null: switched off
  PyObject** place;     // where the collector notes that this hook is alive; or null
};

namespace {

PyTypeObject* hook_type = nullptr;
ParameterGradients* the_gradients = nullptr;

PyObject* CallHook(PyObject* self, PyObject* const*, size_t, PyObject*) {
  auto* hook = reinterpret_cast<AccumulateHook*>(self);
  if (hook->parameter != nullptr && the_gradients != nullptr) {
    RunTool("recording a parameter's gradient",
            [hook] { the_gradients->Accumulated(hook->parameter); });
  }
  return TheErrors().Return(Py_NewRef(Py_None));
}

void DeallocHook(PyObject* self) {
  auto* hook = reinterpret_cast<AccumulateHook*>(self);
  if (hook->place != nullptr) *hook->place = nullptr;
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

}  // namespace

std::string ParameterGradients::NameOf(const ModuleInfo& module, uint32_t k) {
  return module.prefix + ".parameters_grad." + std::to_string(k);
}

ParameterGradients::ParameterGradients(AutogradAccess* autograd, CaptureFunction capture,
                                       SavesFunction saves, EmitFunction emit)
    : autograd_(autograd),
      capture_(std::move(capture)),
      saves_(std::move(saves)),
      emit_(std::move(emit)) {
  if (hook_type == nullptr) {
    hook_type = MakeHookType("msprobe._core.AccumulateHook", sizeof(AccumulateHook), DeallocHook);
  }
  the_gradients = this;
}

ParameterGradients::~ParameterGradients() { the_gradients = nullptr; }

void ParameterGradients::SetModules(const std::vector<std::shared_ptr<ModuleInfo>>& modules) {
  EndStep();
  auto step = std::make_shared<Step>();
  step->modules.reserve(modules.size());
  for (size_t m = 0; m < modules.size(); ++m) {
    step->modules.push_back({modules[m], 0, {}});
    for (size_t p = 0; p < modules[m]->parameters.size(); ++p) {
      const PyRef& value = modules[m]->parameters[p].value;
      Parameter& parameter = step->parameters[value.get()];
      parameter.value = value;
      parameter.owners.push_back({m, p});
      if (RequiresGrad(value.get())) ++step->modules[m].expected;
    }
  }
  step_ = std::move(step);
}

bool ParameterGradients::RequiresGrad(PyObject* parameter) const {
  if (autograd_ != nullptr) return autograd_->RequiresGrad(parameter);
  const PyRef answer = PyRef::Steal(PyObject_GetAttrString(parameter, "requires_grad"));
  if (!answer) TheErrors().Take("asking autograd");
  return answer.get() == Py_True;
}

void ParameterGradients::Watch(PyObject* node, PyObject* variable) {
  const auto found = step_->parameters.find(variable);
  if (found == step_->parameters.end() || found->second.hook != nullptr) return;
  auto* hook = PyObject_New(AccumulateHook, hook_type);
  if (hook == nullptr) return;
  hook->hook.vectorcall = CallHook;
  hook->hook.table = nullptr;
  hook->parameter = variable;
  hook->place = &found->second.hook;
  found->second.hook = reinterpret_cast<PyObject*>(hook);
  const PyRef owner = PyRef::Steal(reinterpret_cast<PyObject*>(hook));
  autograd_->RegisterHook(node, owner.get());  // else the hook dies here, and notes it
}

void ParameterGradients::Accumulated(PyObject* variable) {
  if (!step_->parameters.contains(variable)) return;
  static PyObject* const grad_name = PyUnicode_InternFromString("grad");
  PyRef gradient = PyRef::Steal(PyObject_GetAttr(variable, grad_name));
  if (!gradient || gradient.get() == Py_None) {
    DropError();
    gradient = PyRef::Steal(PyObject_GetAttrString(variable, "main_grad"));
  }
  if (!gradient || gradient.get() == Py_None) return DropError();
  Accumulated(variable, gradient.get());
}

void ParameterGradients::Accumulated(PyObject* variable, PyObject* gradient) {
  const std::shared_ptr<Step> step = step_;
  const auto found = step->parameters.find(variable);
  if (found == step->parameters.end()) return;
  Parameter& parameter = found->second;
  CapturedTensor captured;
  const bool saves = std::ranges::any_of(parameter.owners, [&](const Owner& owner) {
    return saves_(*step->modules[owner.module].info, parameter.accumulated);
  });
  capture_(gradient, saves, &captured);
  if (step != step_) return;  // it has ended meanwhile
  const uint32_t k = parameter.accumulated++;
  for (size_t i = 0; i < parameter.owners.size(); ++i) {
    const Owner& owner = parameter.owners[i];
    Module& module = step->modules[owner.module];
    Pending& pending = module.pending[k];
    if (i + 1 == parameter.owners.size()) {
      pending.values[owner.parameter] = std::move(captured);
    } else {
      pending.values[owner.parameter] = captured;
    }
    if (pending.values.size() >= module.expected) Emit(&module, k);
  }
}

void ParameterGradients::Emit(Module* module, uint32_t k) {
  Entry entry{module->info, k, {}};
  for (auto& [parameter, captured] : module->pending[k].values) {
    entry.values.emplace_back(module->info->parameters[parameter].name, std::move(captured));
  }
  module->pending.erase(k);
  emit_(std::move(entry));
}

void ParameterGradients::EndStep() {
  const std::shared_ptr<Step> step = step_;
  for (Module& module : step->modules) {
    while (!module.pending.empty()) Emit(&module, module.pending.begin()->first);
  }
  for (auto& [variable, parameter] : step->parameters) {
    parameter.accumulated = 0;
    if (parameter.hook == nullptr) continue;  // the usual case: the graph is gone
    auto* hook = reinterpret_cast<AccumulateHook*>(parameter.hook);
    hook->parameter = nullptr;
    hook->place = nullptr;
    parameter.hook = nullptr;
    RemoveHook(&hook->hook);
  }
}

}  // namespace msprobe::python
