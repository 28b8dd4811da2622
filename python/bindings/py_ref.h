#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string_view>
#include <utility>

#if PY_VERSION_HEX < 0x030A0000
inline PyObject* Py_NewRef(PyObject* object) {
  Py_INCREF(object);
  return object;
}
inline PyObject* Py_XNewRef(PyObject* object) {
  Py_XINCREF(object);
  return object;
}
#endif

namespace msprobe::python {

/// Owns one reference to a Python object. Needs the GIL wherever it is copied or destroyed.
class PyRef {
 public:
  PyRef() = default;
  PyRef(const PyRef& other) : object_(Py_XNewRef(other.object_)) {}
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object_); }

  /// Takes over a reference that the caller owns; null is allowed.
  static PyRef Steal(PyObject* object) {
    PyRef ref;
    ref.object_ = object;
    return ref;
  }
  static PyRef Borrow(PyObject* object) { return Steal(Py_XNewRef(object)); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Keeps an exception of the user's code pending while the tool does its own work.
class SavedError {
 public:
  SavedError() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~SavedError() { PyErr_Restore(type_, value_, traceback_); }
  SavedError(const SavedError&) = delete;
  SavedError& operator=(const SavedError&) = delete;

 private:
  PyObject* type_;
  PyObject* value_;
  PyObject* traceback_;
};

/// Forgets the error that is set, if any; see ToolErrors::Drop().
void DropError();

/// UTF-8 of a str that lives as long as `object`; empty for anything else.
inline std::string_view Utf8(PyObject* object) {
  if (object == nullptr || !PyUnicode_Check(object)) return {};
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) {
    DropError();
    return {};
  }
  return {text, static_cast<size_t>(size)};
}

/// The same where half of a surrogate pair, which has no place in UTF-8, is written out, and of
/// anything else what str() gives. Lives as long as `object` and `held`.
inline std::string_view Readable(PyObject* object, PyRef* held) {
  if (object == nullptr) return {};
  if (!PyUnicode_Check(object)) {
    *held = PyRef::Steal(PyObject_Str(object));
    object = held->get();
  }
  const std::string_view plain = Utf8(object);
  if (object != nullptr && plain.empty() && PyUnicode_GET_LENGTH(object) > 0) {
    *held = PyRef::Steal(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
    if (*held) {
      return {PyBytes_AS_STRING(held->get()), static_cast<size_t>(PyBytes_GET_SIZE(held->get()))};
    }
  }
  DropError();
  return plain;
}

/// Calls a C getter or a function without arguments that gives an int; `fallback` on errors.
inline int64_t ToInt64(PyRef number, int64_t fallback) {
  if (!number) {
    DropError();
    return fallback;
  }
  const int64_t value = PyLong_AsLongLong(number.get());
  if (value == -1 && PyErr_Occurred()) {
    DropError();
    return fallback;
  }
  return value;
}

}  // namespace msprobe::python
