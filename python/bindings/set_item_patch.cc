#include <algorithm>
#include <vector>

#include "python/bindings/call_patches.h"

namespace msprobe::python {
namespace {

std::vector<CallSite*> installed;  // the last is the one that sees the calls
objobjargproc original_set_item = nullptr;

int WatchedSetItem(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr || installed.empty()) return original_set_item(self, key, value);  // del
  PyObject* args[] = {self, key, value};
  const PyRef done = PyRef::Steal(Invoke(installed.back(), args, 3, nullptr));
  return done ? 0 : -1;
}

// Exchanges the function in the slot of a type and of the subclasses that have inherited it.
void Exchange(PyObject* type, objobjargproc from, objobjargproc to) {
  PyMappingMethods* mapping = reinterpret_cast<PyTypeObject*>(type)->tp_as_mapping;
  if (mapping == nullptr || mapping->mp_ass_subscript != from) return;
  mapping->mp_ass_subscript = to;
  const PyRef subclasses = PyRef::Steal(PyObject_CallMethod(type, "__subclasses__", nullptr));
  if (!subclasses) return DropError();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(subclasses.get()); ++i) {
    Exchange(PyList_GET_ITEM(subclasses.get(), i), from, to);
  }
}

class SetItemPatch : public CallPatches::Patch {
 public:
  SetItemPatch(PyObject* type, CallSite* site) : type_(PyRef::Borrow(type)), site_(site) {}
  void Install() override {
    if (installed.empty()) Exchange(type_.get(), original_set_item, WatchedSetItem);
    installed.push_back(site_);
  }
  void Remove() override {
    installed.erase(std::find(installed.begin(), installed.end(), site_));
    if (installed.empty()) Exchange(type_.get(), WatchedSetItem, original_set_item);
  }

 private:
  PyRef type_;
  CallSite* site_;
};

}  // namespace

std::unique_ptr<CallPatches::Patch> NewSetItemPatch(PyObject* type, CallSite* site) {
  const PyMappingMethods* mapping = reinterpret_cast<PyTypeObject*>(type)->tp_as_mapping;
  static PyObject* watched_type = nullptr;
  if (mapping == nullptr || mapping->mp_ass_subscript == nullptr) return nullptr;
  if (watched_type != nullptr && watched_type != type) return nullptr;
  watched_type = type;
  if (original_set_item == nullptr) original_set_item = mapping->mp_ass_subscript;
  return std::make_unique<SetItemPatch>(type, site);
}

}  // namespace msprobe::python
