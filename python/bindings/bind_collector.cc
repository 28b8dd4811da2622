// msprobe._core: what the Python half of the collector sets up and switches.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include "python/bindings/call_patches.h"
#include "python/bindings/collector.h"
#include "python/bindings/hook_object.h"
#include "python/bindings/leaf_calls.h"
#include "python/bindings/module_walk.h"
#include "python/bindings/tool_errors.h"
#include "python/bindings/torch_tensor_reader.h"

namespace nb = nanobind;

namespace msprobe::python {
namespace {

PyRef Ref(nb::handle object) { return PyRef::Borrow(object.ptr()); }

std::vector<PyRef> Refs(nb::handle objects) {
  std::vector<PyRef> refs;
  for (nb::handle object : nb::iter(objects)) refs.push_back(Ref(object));
  return refs;
}

PyMethodDef register_hook_method = {
    "_register_hook", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(RegisterHook)),
    METH_FASTCALL, nullptr};

Collector& The() {
  if (TheCollector() == nullptr) throw nb::value_error("The collector has not been set up.");
  return *TheCollector();
}

// In strict mode, what went wrong since the program had control.
void RaiseErrors() {
  PyObject* none = TheErrors().Return(Py_NewRef(Py_None));
  if (none == nullptr) throw nb::python_error();
  Py_DECREF(none);
}

// `framework`: see msprobe/framework.py.
void SetUp(nb::dict framework) {
  if (TheCollector() != nullptr) throw nb::value_error("The collector has been set up already.");
  std::unique_ptr<PythonTensorReader> reader;
  const nb::dict reading = nb::cast<nb::dict>(framework["reader"]);
  if (reading.contains("exchange")) {
    const nb::dict exchange = nb::cast<nb::dict>(reading["exchange"]);
    TorchTensorReader::Types types;
    types.tensor = Ref(exchange["tensor"]);
    types.tensor_base = Ref(exchange["tensor_base"]);
    types.parameter = Ref(exchange["parameter"]);
    types.use_exchange_api = nb::cast<bool>(exchange["enabled"]);
    types.force_device_path = nb::cast<bool>(exchange["force_device_path"]);
    reader = std::make_unique<TorchTensorReader>(std::move(types), Ref(reading["describe"]),
                                                 Ref(reading["summarize"]), Ref(reading["fetch"]),
                                                 Ref(reading["is_tracer"]));
  } else {
    reader = std::make_unique<PythonTensorReader>(Ref(reading["types"]), Ref(reading["describe"]),
                                                  Ref(reading["summarize"]), Ref(reading["fetch"]),
                                                  Ref(reading["is_tracer"]));
  }
  if (reading.contains("later")) {
    const nb::dict later = nb::cast<nb::dict>(reading["later"]);
    reader->UseLater({Ref(later["start"]), Ref(later["wait"]), Ref(later["summary"]),
                      Ref(later["buffer"]), Ref(later["await_copy"])});
  }
  std::unique_ptr<AutogradAccess> autograd;
  if (framework.contains("autograd") && !framework["autograd"].is_none()) {
    autograd = std::make_unique<AutogradAccess>(framework["autograd"].ptr());
    if (PyErr_Occurred()) throw nb::python_error();
  }
  TheCollector() =
      new Collector(std::move(reader), std::move(autograd), Ref(framework["describe_value"]),
                    Ref(framework["size_type"]), Ref(framework["format_stack"]),
                    nb::cast<std::string>(framework["hidden_directory"]));
  if (framework.contains("tensor_hooks")) {
    const nb::dict hooks = nb::cast<nb::dict>(framework["tensor_hooks"]);
    The().UseTensorHooks({Ref(hooks["grad_mode"]), Ref(hooks["hook_inputs"]),
                          Ref(hooks["hook_output"]), Ref(hooks["without_hooks"])});
  }
  if (framework.contains("holders")) {
    for (const auto& [type, name] : nb::cast<nb::dict>(framework["holders"])) {
      The().values().AddHolder(Ref(type), Ref(name));
    }
  }
  if (framework.contains("modes")) {
    for (const auto& [count, off] : nb::cast<nb::dict>(framework["modes"])) {
      HiddenFromModes::AddKind(Ref(count), Ref(off));
    }
  }
  if (framework.contains("leaf_calls")) {
    const nb::dict leaf = nb::cast<nb::dict>(framework["leaf_calls"]);
    TheLeafCalls().Use(
        {Refs(leaf["types"]), Refs(leaf["codes"]), Refs(leaf["tables"]), Refs(leaf["own_tables"])});
  }
  if (framework.contains("name_object")) The().SetObjectNames(Ref(framework["name_object"]));
  if (framework.contains("parameters")) The().SetParametersName(Ref(framework["parameters"]));
}

std::vector<NameFilter::Item> Items(const std::vector<std::string>& texts) {
  std::vector<NameFilter::Item> items;
  for (const std::string& text : texts) items.push_back({text});
  return items;
}

void Configure(nb::dict options) {
  Collector& collector = The();
  const auto flag = [&](const char* name) { return nb::cast<bool>(options[name]); };
  const auto texts = [&](const char* name) {
    return Items(nb::cast<std::vector<std::string>>(options[name]));
  };
  collector.options = {flag("modules"), flag("apis"), flag("stacks"), flag("construct"),
                       flag("save_tensors")};
  NameFilter& filter = collector.filter;
  filter.scope = texts("scope");
  filter.list = texts("list");
  filter.tensor_list = texts("tensor_list");
  filter.forward = flag("forward");
  filter.backward = flag("backward");
  filter.takes_inside = flag("modules") && flag("apis");
  filter.input = flag("input");
  filter.output = flag("output");
  const auto mode = nb::cast<std::string>(options["summary_mode"]);
  ValueSettings& settings = collector.values().settings;
  settings.mode = mode == "md5"   ? SummaryMode::kCrc32
                  : mode == "xor" ? SummaryMode::kXor
                                  : SummaryMode::kStatistics;
  settings.structure_only = flag("structure_only");
  settings.defers = flag("defers");
  settings.bench = nullptr;
}

nb::dict MatchedFilters() {
  nb::dict result;
  const auto add = [&](const char* name, const std::vector<NameFilter::Item>& items) {
    nb::list matched;
    for (const NameFilter::Item& item : items)
      matched.append(nb::make_tuple(item.text, item.matched));
    result[name] = matched;
  };
  const NameFilter& filter = The().filter;
  add("scope", filter.scope);
  add("list", filter.list);
  add("tensor_list", filter.tensor_list);
  return result;
}

// [(module, prefix, [(parameter name, parameter)])]
std::vector<std::shared_ptr<ModuleInfo>> ToModules(nb::list modules) {
  std::vector<std::shared_ptr<ModuleInfo>> infos;
  for (nb::handle entry : modules) {
    const auto item = nb::cast<nb::tuple>(entry);
    auto info = std::make_shared<ModuleInfo>();
    info->module = Ref(item[0]);
    info->prefix = nb::cast<std::string>(item[1]);
    for (nb::handle named : nb::cast<nb::list>(item[2])) {
      const auto parameter = nb::cast<nb::tuple>(named);
      info->parameters.push_back({nb::cast<std::string>(parameter[0]), Ref(parameter[1])});
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

void SetModules(nb::list modules, nb::list roots) {
  std::vector<PyRef> held;
  for (nb::handle root : roots) held.push_back(Ref(root));
  The().SetModules(ToModules(modules), std::move(held));
}

CallKind ToKind(const std::string& kind) {
  if (kind == "module") return CallKind::kModule;
  if (kind == "distributed") return CallKind::kDistributed;
  if (kind == "object") return CallKind::kObject;
  if (kind == "compiled") return CallKind::kCompiled;
  if (kind == "backward") return CallKind::kBackward;
  if (kind == "wait") return CallKind::kWait;
  if (kind == "group") return CallKind::kGroup;
  if (kind == "quiet") return CallKind::kQuiet;
  if (kind == "custom") return CallKind::kCustom;
  return CallKind::kApi;
}

void BindPatches(nb::module_& m) {
  nb::class_<CallPatches>(m, "CallPatches")
      .def(nb::init<>())
      .def("add",
           [](CallPatches& patches, nb::object target, const std::string& kind, std::string prefix,
              nb::object trampoline) {
             return patches.Add(target.ptr(), ToKind(kind), std::move(prefix), trampoline.ptr()) !=
                    nullptr;
           })
      .def("add_copy",
           [](CallPatches& patches, nb::object owner, const std::string& name,
              const std::string& kind, std::string prefix, nb::object trampoline) {
             return patches.AddCopy(owner.ptr(), name, ToKind(kind), std::move(prefix),
                                    trampoline.ptr()) != nullptr;
           })
      .def("add_attribute",
           [](CallPatches& patches, nb::object owner, const std::string& name,
              const std::string& kind, std::string prefix) {
             return patches.AddAttribute(owner.ptr(), name, ToKind(kind), std::move(prefix)) !=
                    nullptr;
           })
      .def("install", &CallPatches::Install)
      .def("remove", &CallPatches::Remove)
      .def("__len__", &CallPatches::size)
      .def_prop_ro("installed", &CallPatches::installed);
}

}  // namespace

void BindCollector(nb::module_& m) {
  BindPatches(m);
  m.def("set_up", &SetUp);
  m.def("configure", &Configure);
  m.def(
      "set_bench",
      [](BenchChecksums checksums, std::optional<int64_t> differences) {
        The().SetBench(std::move(checksums), differences);
      },
      nb::arg("checksums"), nb::arg("differences").none());
  m.def("matched_filters", &MatchedFilters);
  m.def("walk_modules", [](nb::object model, nb::str prefix, nb::object tables) {
    PyRef entries = WalkModules(model.ptr(), prefix.ptr(), tables.ptr());
    if (!entries) throw nb::python_error();
    return nb::steal(entries.release());
  });
  m.def("set_modules", &SetModules);
  m.def("add_modules", [](nb::list modules) { The().AddModules(ToModules(modules)); });
  m.def("remove_modules", [](nb::list modules) {
    std::vector<PyObject*> objects;
    for (nb::handle module : modules) objects.push_back(module.ptr());
    The().RemoveModules(objects);
  });
  m.def(
      "set_token_range",
      [](std::optional<std::pair<int64_t, int64_t>> range) { The().SetTokenRange(range); },
      nb::arg("range").none());
  m.def("set_waitable", [](nb::object type) { The().SetWaitable(Ref(type)); });
  m.def("begin_step",
        [](std::shared_ptr<DumpWriter> writer) { The().BeginStep(std::move(writer)); });
  m.def("start", [] { The().Start(); });
  m.def("stop", [] { The().Stop(); });
  m.def("end_step", [] { return The().EndStep(); });
  m.def("note", [](const std::string& text) { The().Note(text); });
  m.def("abandon", [] {
    if (TheCollector() != nullptr) TheCollector()->Abandon();
  });
  m.def("recording", [] { return TheCollector() != nullptr && The().recording(); });
  m.def("in_backward", [] { return The().in_backward(); });
  m.def("expects_more", [] { return The().expects_more(); });
  m.def("may_go_on", [] { return The().may_go_on(); });
  m.def("root_calls", [] { return The().root_calls(); });
  m.def("model_called", [] { return The().model_called(); });
  m.def("recorded", [] { return The().recorded(); });
  m.def("late_gradients", [] { return The().late_gradients(); });
  m.def(
      "save",
      [](const std::string& name, nb::object value, bool has_number) {
        const uint32_t number = The().Save(name, value.ptr(), has_number);
        RaiseErrors();
        return number;
      },
      nb::arg("name"), nb::arg("value").none(), nb::arg("has_number") = false);
  m.def("raise_errors", &RaiseErrors);
  m.def("parameter_gradient", [](nb::object parameter, nb::object gradient) {
    The().TakeParameterGradient(parameter.ptr(), gradient.ptr());
    RaiseErrors();
  });
  m.def("register_hook_function",
        [] { return nb::steal(PyCFunction_New(&register_hook_method, nullptr)); });
}

}  // namespace msprobe::python
