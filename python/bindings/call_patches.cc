#include "python/bindings/call_patches.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "python/bindings/collector.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {
namespace {

constexpr int kEntryFlags = METH_VARARGS | METH_KEYWORDS;

}  // namespace

// A built-in function or a method of a built-in type that is watched, under one name or several.
// Lives as long as the process: bound methods may outlive the collection.
struct WatchedBuiltin {
  // The interpreter's shortcuts for some kinds of functions look at the flags of the definition and
  // call its C function: this definition's flags allow none of them.
  PyMethodDef definition;
  CallSite* site;           // of the calls
  PyMethodDef** place;      // where the object has its definition,
  vectorcallfunc* call;     // and what it is called by
  vectorcallfunc own_call;  // that stands there meanwhile
  PyMethodDef* original;
  vectorcallfunc original_call = nullptr;
  bool installed = false;
  std::vector<CallSite*> below = {};  // installed earlier than `site`, and still are

  void Install(CallSite* installs) {
    if (installed) {
      below.push_back(site);
    } else {
      *place = &definition;
      original_call = std::exchange(*call, own_call);
      installed = true;
    }
    site = installs;
  }
  void Remove(CallSite* removes) {
    if (below.empty()) {  // keeps the site, for bound methods
      *place = original;
      *call = original_call;
      installed = false;
    } else if (site == removes) {
      site = below.back();
      below.pop_back();
    } else {
      below.erase(std::find(below.begin(), below.end(), removes));
    }
  }
};

namespace {

PyObject* CallWatchedFunction(PyObject* function, PyObject* const* args, size_t flags,
                              PyObject* names) {
  const PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  return Invoke(reinterpret_cast<const WatchedBuiltin*>(definition)->site, args, flags, names);
}

PyObject* CallWatchedMethod(PyObject* descriptor, PyObject* const* args, size_t flags,
                            PyObject* names) {
  const PyMethodDef* definition = reinterpret_cast<PyMethodDescrObject*>(descriptor)->d_method;
  return Invoke(reinterpret_cast<const WatchedBuiltin*>(definition)->site, args, flags, names);
}

// An object is watched through one definition, however often the collection begins anew and however
// many names it has.
template <class Object>
WatchedBuiltin* WatchedBuiltinOf(PyObject* target, PyMethodDef* Object::* definition,
                                 vectorcallfunc call, CallSite* site) {
  static std::unordered_map<PyObject*, WatchedBuiltin*> known;
  // Neighbours, in the order in which they are put in place and taken away again: the program has
  // swept them out of the caches by then.
  static auto* all = new std::deque<WatchedBuiltin>;
  WatchedBuiltin*& watched = known[target];
  if (watched == nullptr) {
    Py_INCREF(target);  // the key must not be reused by another object
    auto* object = reinterpret_cast<Object*>(target);
    PyMethodDef*& place = object->*definition;
    watched =
        &all->emplace_back(WatchedBuiltin{*place, site, &place, &object->vectorcall, call, place});
    watched->definition.ml_flags = kEntryFlags | (place->ml_flags & METH_STATIC);
    // Functions are hashed and compared by their C function: it stays, and is not called here.
    if constexpr (std::is_same_v<Object, PyMethodDescrObject>) {
      watched->definition.ml_meth = NewMethodEntry(&watched->site);
    }
  }
  return watched;
}

WatchedBuiltin* WatchFunction(PyObject* target, CallSite* site) {
  const auto* function = reinterpret_cast<PyCFunctionObject*>(target);
  WatchedBuiltin* watched =
      WatchedBuiltinOf(target, &PyCFunctionObject::m_ml, CallWatchedFunction, site);
  site->original =
      PyRef::Steal(PyCFunction_NewEx(watched->original, function->m_self, function->m_module));
  return watched;
}

// Null: there are too many.
WatchedBuiltin* WatchMethod(PyObject* target, CallSite* site) {
  WatchedBuiltin* watched =
      WatchedBuiltinOf(target, &PyMethodDescrObject::d_method, CallWatchedMethod, site);
  if (watched->definition.ml_meth == nullptr) return nullptr;
  PyTypeObject* type = reinterpret_cast<PyMethodDescrObject*>(target)->d_common.d_type;
  site->original = PyRef::Steal(PyDescr_NewMethod(type, watched->original));
  return watched;
}

// A Python function that is watched, under one name or several. Lives as long as the process.
struct WatchedFunction {
  PyRef function;
  PyRef original;                    // its code
  std::vector<PyObject*> installed;  // the codes in its place: the last stands there
  bool shows_signature = false;
};

WatchedFunction* WatchedFunctionOf(PyObject* function) {
  static auto* functions = new std::unordered_map<PyObject*, WatchedFunction>;
  WatchedFunction& watched = (*functions)[function];
  if (!watched.function) watched.function = PyRef::Borrow(function);
  if (watched.installed.empty()) watched.original = PyRef::Borrow(PyFunction_GetCode(function));
  return &watched;
}

// A Python function that behaves as `function` does unwatched, whatever its code becomes.
PyRef CloneFunction(PyObject* function) {
  PyRef clone = PyRef::Steal(
      PyFunction_New(WatchedFunctionOf(function)->original.get(), PyFunction_GetGlobals(function)));
  if (!clone) return clone;
  for (const char* name : {"__defaults__", "__kwdefaults__", "__name__", "__qualname__"}) {
    const PyRef value = PyRef::Steal(PyObject_GetAttrString(function, name));
    if (!value || PyObject_SetAttrString(clone.get(), name, value.get()) != 0) DropError();
  }
  PyObject* closure = PyFunction_GetClosure(function);
  if (closure != nullptr && PyFunction_SetClosure(clone.get(), Py_NewRef(closure)) != 0) {
    Py_DECREF(closure);
    return {};
  }
  return clone;
}

class CodePatch : public CallPatches::Patch {
 public:
  CodePatch(PyObject* target, PyRef watched)
      : function_(WatchedFunctionOf(target)), watched_(std::move(watched)) {}
  void Install() override {
    // Not over code that somebody else has put there since.
    if (PyFunction_GetCode(function_->function.get()) == CodeBelow()) SetCode(watched_.get());
    function_->installed.push_back(watched_.get());
    // While the code takes any arguments, this tells what the function takes.
    if (!signature_ || function_->shows_signature) return;
    function_->shows_signature = true;
    SetSignature(signature_.get());
  }
  void Remove() override {
    std::vector<PyObject*>& installed = function_->installed;
    installed.erase(std::find(installed.begin(), installed.end(), watched_.get()));
    if (PyFunction_GetCode(function_->function.get()) == watched_.get()) SetCode(CodeBelow());
    if (!installed.empty() || !function_->shows_signature) return;
    function_->shows_signature = false;
    SetSignature(nullptr);
  }
  void ShowSignature(PyRef signature) { signature_ = std::move(signature); }

 private:
  // All functions, at the beginning and at the end of every step: names are made once.
  void SetCode(PyObject* code) {
    static PyObject* const name = PyUnicode_InternFromString("__code__");
    Set(name, code);
  }
  void SetSignature(PyObject* signature) {
    static PyObject* const name = PyUnicode_InternFromString("__signature__");
    Set(name, signature);
  }
  void Set(PyObject* name, PyObject* value) {
    if (PyObject_SetAttr(function_->function.get(), name, value) != 0) {
      TheErrors().Take("watching a function");
    }
  }
  PyObject* CodeBelow() const {
    return function_->installed.empty() ? function_->original.get() : function_->installed.back();
  }

  WatchedFunction* function_;
  PyRef watched_, signature_;
};

class AttributePatch : public CallPatches::Patch {
 public:
  AttributePatch(PyObject* owner, const std::string& name, PyRef replacement)
      : owner_(PyRef::Borrow(owner)),
        name_(PyRef::Steal(PyUnicode_FromString(name.c_str()))),
        replacement_(std::move(replacement)) {}
  void Install() override {
    if (!Put()) TheErrors().Take("watching an attribute");
  }
  void Remove() override {
    if (!TakeBack()) TheErrors().Take("putting an attribute back");
  }
  /// Whether the owner, which may be a built-in type, takes another attribute.
  bool CanInstall() { return Put() && TakeBack(); }

 private:
  bool Put() {
    const PyRef table = PyRef::Steal(PyObject_GetAttrString(owner_.get(), "__dict__"));
    if (!table) DropError();
    original_ = PyRef();
    if (table) original_ = PyRef::Steal(PyObject_GetItem(table.get(), name_.get()));
    if (!original_) DropError();
    return PyObject_SetAttr(owner_.get(), name_.get(), replacement_.get()) == 0;
  }
  bool TakeBack() {
    return 0 == (original_ ? PyObject_SetAttr(owner_.get(), name_.get(), original_.get())
                           : PyObject_DelAttr(owner_.get(), name_.get()));
  }

  PyRef owner_, name_, replacement_, original_;
};

// A callable for the site, whose original is `owner.name`. What a class holds is bound as it was:
// to the class that it is asked of, to an instance, or to nothing.
PyRef NewAttribute(PyObject* owner, const std::string& name, CallSite* site) {
  PyRef callable = NewCallable(site);
  if (!PyType_Check(owner)) return callable;
  const PyRef text = PyRef::Steal(PyUnicode_FromString(name.c_str()));
  const PyRef held = PyRef::Borrow(
      text ? _PyType_Lookup(reinterpret_cast<PyTypeObject*>(owner), text.get()) : nullptr);
  if (!held) return callable;  // of the class of the class
  const bool in_python = PyObject_TypeCheck(held.get(), &PyClassMethod_Type);
  if (in_python || Py_TYPE(held.get()) == &PyClassMethodDescr_Type) {
    site->original = in_python ? PyRef::Steal(PyObject_GetAttrString(held.get(), "__func__"))
                               : PyRef::Borrow(held.get());
    return PyRef::Steal(PyClassMethod_New(callable.get()));
  }
  const bool is_bound = Py_TYPE(held.get())->tp_descr_get != nullptr &&
                        !PyObject_TypeCheck(held.get(), &PyStaticMethod_Type);
  return is_bound ? std::move(callable) : PyRef::Steal(PyStaticMethod_New(callable.get()));
}

}  // namespace

CallCounter* CounterOf(const std::string& prefix) {
  static std::unordered_map<std::string, std::unique_ptr<CallCounter>> counters;
  std::unique_ptr<CallCounter>& counter = counters[prefix];
  if (counter == nullptr) counter = std::make_unique<CallCounter>();
  return counter.get();
}

bool ChangesFirstArgument(const std::string& prefix) {
  static const std::unordered_set<std::string_view> kOperators = {
      "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__",   "__ipow__",
      "__iand__", "__ior__",  "__ixor__", "__ilshift__",  "__irshift__",   "__setitem__"};
  // Of ops: they write into a parameter. Methods of tensors that are called so give a new tensor.
  static const std::unordered_set<std::string_view> kFunctions = {
      "assign",         "assign_add",     "assign_sub",     "index_add",        "inplace_index_add",
      "scatter_add",    "scatter_sub",    "scatter_mul",    "scatter_div",      "scatter_max",
      "scatter_min",    "scatter_update", "scatter_nd_add", "scatter_nd_sub",   "scatter_nd_mul",
      "scatter_nd_div", "scatter_nd_max", "scatter_nd_min", "scatter_nd_update"};
  if (prefix.empty()) return false;  // all modules are called through one function
  std::string_view name(prefix);
  name.remove_suffix(1);
  name.remove_prefix(name.rfind('.') + 1);
  if (kOperators.contains(name)) return true;
  if (name.ends_with('_') && !name.ends_with("__")) return true;
  if (prefix.starts_with("Functional.")) return kFunctions.contains(name);
  if (!prefix.starts_with("Primitive.")) return false;
  return name.starts_with("Assign") || name.starts_with("Inplace") || name.starts_with("Scatter") ||
         name.starts_with("Apply");
}

CallPatches::CallPatches() = default;
CallPatches::~CallPatches() { Remove(); }

CallSite* CallPatches::Add(PyObject* target, CallKind kind, std::string prefix,
                           PyObject* trampoline) {
  if (PyInstanceMethod_Check(target)) target = PyInstanceMethod_GET_FUNCTION(target);
  auto site = std::make_unique<CallSite>();
  site->kind = kind;
  site->counter = CounterOf(prefix);
  site->in_place = ChangesFirstArgument(prefix);
  site->prefix = std::move(prefix);
  std::unique_ptr<Patch> patch;
  WatchedBuiltin* builtin = nullptr;
  if (PyCFunction_CheckExact(target)) {
    builtin = WatchFunction(target, site.get());
  } else if (Py_TYPE(target) == &PyMethodDescr_Type) {
    builtin = WatchMethod(target, site.get());
  } else if (PyFunction_Check(target)) {
    site->original = CloneFunction(target);
    const PyRef hook = NewPackedHook(site.get());
    const PyRef made =
        PyRef::Steal(PyObject_CallFunctionObjArgs(trampoline, target, hook.get(), nullptr));
    if (made && PyTuple_Check(made.get()) && PyTuple_GET_SIZE(made.get()) == 2) {
      PyObject* watched = PyTuple_GET_ITEM(made.get(), 0);
      if (TheCollector() != nullptr) TheCollector()->stacks().Hide(watched);
      auto code = std::make_unique<CodePatch>(target, PyRef::Borrow(watched));
      PyObject* signature = PyTuple_GET_ITEM(made.get(), 1);
      if (signature != Py_None) code->ShowSignature(PyRef::Borrow(signature));
      patch = std::move(code);
    }
  } else if (Py_TYPE(target) == &PyWrapperDescr_Type &&
             PyUnicode_CompareWithASCIIString(PyDescr_NAME(target), "__setitem__") == 0) {
    site->original = PyRef::Borrow(target);
    const PyRef type = PyRef::Steal(PyObject_GetAttrString(target, "__objclass__"));
    if (type) patch = NewSetItemPatch(type.get(), site.get());
  }
  DropError();
  if ((patch == nullptr && builtin == nullptr) || !site->original) return nullptr;
  if (builtin != nullptr) {
    if (installed_) builtin->Install(site.get());
    builtins_.emplace_back(builtin, site.get());
  } else {
    if (installed_) patch->Install();
    patches_.push_back(std::move(patch));
  }
  return site.release();
}

CallSite* CallPatches::AddCopy(PyObject* owner, const std::string& name, CallKind kind,
                               std::string prefix, PyObject* trampoline) {
  const PyRef target = PyRef::Steal(PyObject_GetAttrString(owner, name.c_str()));
  if (!target || !PyFunction_Check(target.get())) {
    DropError();
    return nullptr;
  }
  PyRef copy = CloneFunction(target.get());
  for (const char* attribute : {"__doc__", "__module__", "__dict__"}) {
    const PyRef value = PyRef::Steal(PyObject_GetAttrString(target.get(), attribute));
    const PyRef own = value && PyDict_Check(value.get()) ? PyRef::Steal(PyDict_Copy(value.get()))
                                                         : PyRef::Borrow(value.get());
    if (!own || PyObject_SetAttrString(copy.get(), attribute, own.get()) != 0) DropError();
  }
  const size_t before = patches_.size();
  CallSite* site = Add(copy.get(), kind, std::move(prefix), trampoline);
  if (site == nullptr) return nullptr;
  // The copy is always watched; what comes and goes is its place.
  patches_[before]->Install();
  patches_[before] = std::make_unique<AttributePatch>(owner, name, std::move(copy));
  if (installed_) patches_.back()->Install();
  return site;
}

CallSite* CallPatches::AddAttribute(PyObject* owner, const std::string& name, CallKind kind,
                                    std::string prefix) {
  PyRef target = PyRef::Steal(PyObject_GetAttrString(owner, name.c_str()));
  if (!target) {
    DropError();
    return nullptr;
  }
  auto site = std::make_unique<CallSite>();
  site->kind = kind;
  site->counter = CounterOf(prefix);
  site->in_place = ChangesFirstArgument(prefix);
  site->prefix = std::move(prefix);
  site->original = std::move(target);
  PyRef attribute = NewAttribute(owner, name, site.get());
  if (!attribute || !site->original) {
    DropError();
    return nullptr;
  }
  auto patch = std::make_unique<AttributePatch>(owner, name, std::move(attribute));
  if (!patch->CanInstall()) {
    DropError();
    return nullptr;
  }
  patches_.push_back(std::move(patch));
  if (installed_) patches_.back()->Install();
  return site.release();
}

void CallPatches::Install() {
  if (installed_) return;
  installed_ = true;
  for (const auto& [builtin, site] : builtins_) builtin->Install(site);
  for (const auto& patch : patches_) patch->Install();
}

void CallPatches::Remove() {
  if (!installed_) return;
  installed_ = false;
  for (auto patch = patches_.rbegin(); patch != patches_.rend(); ++patch) (*patch)->Remove();
  for (const auto& [builtin, site] : builtins_) builtin->Remove(site);
}

}  // namespace msprobe::python
