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

// Gets what the node gave and what it got: nothing, and the gradient that it was to accumulate.
PyObject* CallHook(PyObject* self, PyObject* const* args, size_t flags, PyObject*) {
  auto* hook = reinterpret_cast<AccumulateHook*>(self);
  const bool has_tuple =
      PyVectorcall_NARGS(flags) >= 2 && PyTuple_Check(args[1]) && PyTuple_GET_SIZE(args[1]) > 0;
  PyObject* came = has_tuple ? PyTuple_GET_ITEM(args[1], 0) : nullptr;
  if (came != Py_None && hook->parameter != nullptr && the_gradients != nullptr) {
    RunTool("recording a parameter's gradient",
            [hook, came] { the_gradients->AccumulatedByNode(hook->parameter, came); });
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
    step->modules.push_back(
        {modules[m], std::vector<uint32_t>(modules[m]->parameters.size()), 0, {}});
    for (size_t p = 0; p < modules[m]->parameters.size(); ++p) {
      const PyRef& value = modules[m]->parameters[p].value;
      Parameter& parameter = step->parameters[value.get()];
      parameter.value = value;
      parameter.owners.push_back({m, p});
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

bool ParameterGradients::Watch(PyObject* node, PyObject* variable) {
  const auto found = step_->parameters.find(variable);
  if (found == step_->parameters.end()) return false;
  if (found->second.hook != nullptr) return true;
  auto* hook = PyObject_New(AccumulateHook, hook_type);
  if (hook == nullptr) return true;
  hook->hook.vectorcall = CallHook;
  hook->hook.table = nullptr;
  hook->parameter = variable;
  hook->place = &found->second.hook;
  found->second.hook = reinterpret_cast<PyObject*>(hook);
  found->second.has_gradient = static_cast<bool>(autograd_->Grad(variable));
  const PyRef owner = PyRef::Steal(reinterpret_cast<PyObject*>(hook));
  autograd_->RegisterHook(node, owner.get());  // else the hook dies here, and notes it
  return true;
}

void ParameterGradients::Follow(PyObject* module, std::string_view name, PyObject* value) {
  // What is computed (as torch.func.functional_call may put it there) accumulates nothing.
  if (!RequiresGrad(value) || autograd_->GradFn(value).get() != Py_None) return;
  for (size_t m = 0; m < step_->modules.size(); ++m) {
    if (step_->modules[m].info->module.get() != module) continue;
    std::vector<ModuleInfo::Parameter>& all = step_->modules[m].info->parameters;
    const auto place = std::ranges::find(all, name, &ModuleInfo::Parameter::name);
    const auto p = static_cast<size_t>(place - all.begin());
    if (place == all.end()) {
      all.push_back({std::string(name), PyRef::Borrow(value)});
      step_->modules[m].next.push_back(0);
    } else if (place->value.get() != value) {
      TakePlace(place->value.get(), m, p);
      place->value = PyRef::Borrow(value);  // the table below holds the other one
    }
    Parameter& parameter = step_->parameters[value];
    parameter.value = PyRef::Borrow(value);
    if (std::ranges::none_of(parameter.owners, [&](const Owner& owner) {
          return owner.module == m && owner.parameter == p;
        })) {
      parameter.owners.push_back({m, p});
    }
  }
  ForgetReplaced();
}

// Its gradient is still the module's where a graph may have it from an earlier call.
void ParameterGradients::TakePlace(PyObject* variable, size_t module, size_t parameter) {
  const auto found = step_->parameters.find(variable);
  if (found == step_->parameters.end()) return;
  step_->replaced.push_back(variable);
  if (found->second.hook != nullptr && *step_->modules[module].info->calls > 1) return;
  std::erase_if(found->second.owners, [&](const Owner& owner) {
    return owner.module == module && owner.parameter == parameter;
  });
}

bool ParameterGradients::HasPlace(const Step& step, const Parameter& parameter) {
  return std::ranges::any_of(parameter.owners, [&](const Owner& owner) {
    const ModuleInfo& info = *step.modules[owner.module].info;
    return info.parameters[owner.parameter].value.get() == parameter.value.get();
  });
}

// Programs may replace parameters all the time: those in no graph are let go.
void ParameterGradients::ForgetReplaced() {
  std::vector<PyRef> forgotten;  // dies last, and may run code of the program
  std::erase_if(step_->replaced, [&](PyObject* variable) {
    const auto found = step_->parameters.find(variable);
    if (found == step_->parameters.end() || HasPlace(*step_, found->second)) return true;
    if (found->second.hook != nullptr) return false;
    forgotten.push_back(std::move(found->second.value));
    step_->parameters.erase(found);
    return true;
  });
}

void ParameterGradients::AccumulatedByNode(PyObject* variable, PyObject* came) {
  const auto found = step_->parameters.find(variable);
  // Of one that was frozen after its use nothing is accumulated.
  if (found == step_->parameters.end() || !RequiresGrad(variable)) return;
  constexpr std::string_view kTakenAway = "the program has taken the gradient away";
  const bool had_gradient = found->second.has_gradient;
  PyRef gradient = autograd_->Grad(variable);
  found->second.has_gradient = static_cast<bool>(gradient);
  if (!gradient) {
    gradient = PyRef::Steal(PyObject_GetAttrString(variable, "main_grad"));
    if (!gradient) DropError();
  }
  // A view is part of a bucket: DistributedDataParallel has scaled it, and its collective may be
  // writing into it now. Where nothing was there before, what came is the gradient.
  const bool came_alone = came != nullptr && !had_gradient;
  if (gradient && gradient.get() != Py_None) {
    const bool is_part = came_alone && autograd_->Base(gradient.get());
    return Accumulated(variable, is_part ? came : gradient.get());
  }
  // A hook of the program has used it up, like an optimizer that runs inside backward. What came
  // was all of it, unless it was added to something.
  if (came != nullptr) Accumulated(variable, came, had_gradient ? kTakenAway : std::string_view());
}

void ParameterGradients::Accumulated(PyObject* variable, PyObject* gradient,
                                     std::string_view reason) {
  const std::shared_ptr<Step> step = step_;
  const auto found = step->parameters.find(variable);
  if (found == step->parameters.end()) return;
  Parameter& parameter = found->second;
  // Not of what came before: that may have been emitted without this one, which was frozen then.
  const auto number = [&step](const Owner& owner) {
    const Module& module = step->modules[owner.module];
    return std::max(module.next[owner.parameter], module.first_open);
  };
  CapturedTensor captured;
  const bool saves = reason.empty() && std::ranges::any_of(parameter.owners, [&](const Owner& o) {
                       return saves_(*step->modules[o.module].info, number(o));
                     });
  capture_(gradient, saves, &captured);
  if (step != step_) return;  // it has ended meanwhile
  if (!reason.empty()) {
    captured.has_summary = false;
    captured.later = nullptr;
    captured.reason = reason;
  }
  for (size_t i = 0; i < parameter.owners.size(); ++i) {
    const Owner owner = parameter.owners[i];
    Module& module = step->modules[owner.module];
    const uint32_t k = number(owner);
    module.next[owner.parameter] = k + 1;
    Pending& pending = module.pending[k];
    if (i + 1 == parameter.owners.size()) {
      pending.values[owner.parameter] = std::move(captured);
    } else {
      pending.values[owner.parameter] = captured;
    }
    if (IsComplete(&module, k)) Emit(&module, k);
  }
}

// Asked now, not when the step began: programs freeze and unfreeze modules in the middle of it.
// Asking may let other threads run, and one of them may emit the same entry.
bool ParameterGradients::IsComplete(Module* module, uint32_t k) const {
  const auto& parameters = module->info->parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const auto pending = module->pending.find(k);
    if (pending == module->pending.end()) return false;
    p = pending->second.waits_for = std::max(p, pending->second.waits_for);
    if (p == parameters.size() || pending->second.values.contains(p)) continue;
    const PyRef value = parameters[p].value;
    if (RequiresGrad(value.get())) return false;
  }
  return module->pending.contains(k);
}

void ParameterGradients::Emit(Module* module, uint32_t k) {
  while (module->first_open <= k) {  // one name is written once, and in order
    const auto pending = module->pending.find(module->first_open++);
    if (pending == module->pending.end()) continue;
    Entry entry{module->info, pending->first, {}};
    for (auto& [parameter, captured] : pending->second.values) {
      entry.values.emplace_back(module->info->parameters[parameter].name, std::move(captured));
    }
    module->pending.erase(pending);
    emit_(std::move(entry));
  }
}

void ParameterGradients::EndStep() {
  const std::shared_ptr<Step> step = step_;
  for (Module& module : step->modules) {
    while (!module.pending.empty()) Emit(&module, module.pending.rbegin()->first);
  }
  for (auto& [variable, parameter] : step->parameters) {
    if (parameter.hook == nullptr) continue;  // the usual case: the graph is gone
    auto* hook = reinterpret_cast<AccumulateHook*>(parameter.hook);
    hook->parameter = nullptr;
    hook->place = nullptr;
    parameter.hook = nullptr;
    RemoveHook(&hook->hook);
  }
}

}  // namespace msprobe::python
