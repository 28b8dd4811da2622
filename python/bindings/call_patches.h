#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/call_site.h"
#include "python/bindings/py_ref.h"

namespace msprobe::python {

struct WatchedBuiltin;

/// Puts the collector into the calls of functions, without replacing the functions: whoever holds
/// one (`from torch import relu`) holds the same object before, while and after it is watched, and
/// its calls are seen.
///
///   built-in function, method of a built-in type   the object's own call pointers
///   Python function                                its code object
///   `__setitem__` of a built-in type               the slot of the type and its subclasses
///   other callables                                cannot be changed in place: the attribute of
///                                                  their owner is replaced
class CallPatches {
 public:
  CallPatches();
  ~CallPatches();
  CallPatches(const CallPatches&) = delete;
  CallPatches& operator=(const CallPatches&) = delete;

  /// `trampoline(function, hook)` makes the code object that calls `hook(args, kwargs)`.
  /// Null: `target` cannot be watched in place.
  CallSite* Add(PyObject* target, CallKind kind, std::string prefix, PyObject* trampoline);
  /// Watches `owner.name` by putting another object in its place. Null: the owner takes none.
  CallSite* AddAttribute(PyObject* owner, const std::string& name, CallKind kind,
                         std::string prefix);
  /// Watches `owner.name`, a Python function that has another name elsewhere: while it is watched,
  /// a copy of it stands there.
  CallSite* AddCopy(PyObject* owner, const std::string& name, CallKind kind, std::string prefix,
                    PyObject* trampoline);
  void Install();
  void Remove();
  bool installed() const { return installed_; }
  size_t size() const { return builtins_.size() + patches_.size(); }

  class Patch {
   public:
    virtual ~Patch() = default;
    virtual void Install() = 0;
    virtual void Remove() = 0;
  };

 private:
  std::vector<std::pair<WatchedBuiltin*, CallSite*>> builtins_;
  std::vector<std::unique_ptr<Patch>> patches_;  // of everything else
  bool installed_ = false;
};

/// A callable that runs `hook(args tuple, kwargs dict)` for a site: what trampolines call.
PyRef NewPackedHook(CallSite* site);
/// A callable that stands for the site's original, also as a method.
PyRef NewCallable(CallSite* site);
/// The function that torch calls for `tensor[key] = value` on plain tensors; null: not a slot of
/// `type`'s own.
std::unique_ptr<CallPatches::Patch> NewSetItemPatch(PyObject* type, CallSite* site);
/// A C function of (self, args, kwargs) for a method of a built-in type, that finds its site by
/// itself; null when there are more watched methods than such functions.
PyCFunction NewMethodEntry(CallSite* const* site);

}  // namespace msprobe::python
