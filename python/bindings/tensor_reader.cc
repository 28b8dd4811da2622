#include "python/bindings/tensor_reader.h"

#include "python/bindings/later_tensor.h"
#include "python/bindings/tool_errors.h"
#include "tensor/dtype.h"

namespace msprobe::python {
namespace {

// Fills `dims` and the view's shape and strides from two tuples; strides may be None.
bool ReadDims(PyObject* shape, PyObject* strides, TensorInfo* info) {
  if (!PyTuple_Check(shape)) return false;
  const auto rank = static_cast<size_t>(PyTuple_GET_SIZE(shape));
  int64_t* dims = info->dims;
  if (rank > TensorInfo::kInlineDims) {
    info->many_dims.resize(2 * rank);
    dims = info->many_dims.data();
  }
  const bool has_strides = strides != Py_None;
  if (has_strides &&
      (!PyTuple_Check(strides) || static_cast<size_t>(PyTuple_GET_SIZE(strides)) != rank)) {
    return false;
  }
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, static_cast<Py_ssize_t>(i)));
    if (has_strides) {
      dims[rank + i] = PyLong_AsLongLong(PyTuple_GET_ITEM(strides, static_cast<Py_ssize_t>(i)));
    }
  }
  info->view.shape = {dims, rank};
  info->view.strides =
      has_strides ? std::span<const int64_t>(dims + rank, rank) : std::span<const int64_t>();
  return PyErr_Occurred() == nullptr;
}

// The framework may say in words why it gives nothing.
bool IsReason(PyObject* answer, TensorInfo* info) {
  if (answer == nullptr || !PyUnicode_Check(answer)) return false;
  info->Explain(std::string(Utf8(answer)));
  return true;
}

}  // namespace

PythonTensorReader::PythonTensorReader(PyRef types, PyRef describe, PyRef summarize, PyRef fetch,
                                       PyRef is_tracer)
    : describe_(std::move(describe)),
      summarize_(std::move(summarize)),
      fetch_(std::move(fetch)),
      is_tracer_(std::move(is_tracer)) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types.get()); ++i) {
    types_.push_back(PyRef::Borrow(PyTuple_GET_ITEM(types.get(), i)));
  }
}

bool PythonTensorReader::IsTensor(PyObject* object) const {
  for (const PyRef& type : types_) {
    auto* wanted = reinterpret_cast<PyTypeObject*>(type.get());
    if (Py_TYPE(object) == wanted || PyType_IsSubtype(Py_TYPE(object), wanted)) return true;
  }
  return false;
}

void PythonTensorReader::Describe(PyObject* tensor, TensorInfo* info) {
  info->view = TensorView();
  info->on_device = false;
  info->reason = {};
  info->dtype = {};
  const PyRef answer = PyRef::Steal(PyObject_CallOneArg(describe_.get(), tensor));
  if (!answer || !PyTuple_Check(answer.get()) || PyTuple_GET_SIZE(answer.get()) != 7 ||
      !ReadDims(PyTuple_GET_ITEM(answer.get(), 3), PyTuple_GET_ITEM(answer.get(), 4), info)) {
    info->type_text = Py_TYPE(tensor)->tp_name;
    info->type = info->type_text;
    info->Explain("not readable: " + TheErrors().Take("describing a tensor"));
    info->view.shape = {};
    return;
  }
  PyObject* const* items = &PyTuple_GET_ITEM(answer.get(), 0);
  info->type_text = Utf8(items[0]);
  info->type = info->type_text;
  info->dtype_text = Utf8(items[1]);
  info->dtype = info->dtype_text;
  info->view.dtype = tensor::ParseDType(info->dtype_text);
  info->requires_grad = items[5] == Py_True;
  if (items[6] != Py_None) {  // static text: the framework's reasons are few and interned
    PyObject* reason = items[6];
    Py_INCREF(reason);  // interning may put another object in its place
    PyUnicode_InternInPlace(&reason);
    info->reason = Utf8(reason);
  }
  if (items[2] == Py_None) return;
  const int64_t address = PyLong_AsLongLong(items[2]);
  if (address == -1) {
    DropError();
    info->on_device = ElementCount(info->view.shape) != 0;  // else there is nothing to read
  } else {
    info->view.data = reinterpret_cast<const std::byte*>(address);
  }
}

bool PythonTensorReader::SummarizeOnDevice(PyObject* tensor, SummaryMode mode, TensorInfo* info,
                                           TensorSummary* summary) {
  // Checksums need the bytes.
  if (mode != SummaryMode::kStatistics || summarize_.get() == Py_None) {
    if (!Fetch(tensor, info)) return false;
    *summary = Summarize(info->view, mode);
    return true;
  }
  const PyRef answer = PyRef::Steal(PyObject_CallOneArg(summarize_.get(), tensor));
  if (IsReason(answer.get(), info)) return false;
  if (!answer || answer.get() == Py_None || !PyTuple_Check(answer.get()) ||
      PyTuple_GET_SIZE(answer.get()) != 6) {
    info->Explain("not readable on its device: " + TheErrors().Take("summarizing a tensor"));
    return false;
  }
  summary->statistics = ToStatistics(answer.get(), info->view.dtype);
  return true;
}

std::shared_ptr<LaterValues> PythonTensorReader::Start(PyObject* tensor, const TensorInfo& info,
                                                       SummaryMode mode, bool wants_contents) {
  if (!later_.start || ElementCount(info.view.shape) == 0) return nullptr;
  const bool reduces = mode == SummaryMode::kStatistics;
  const bool copies = wants_contents || !reduces;
  PyRef handle = PyRef::Steal(PyObject_CallFunctionObjArgs(later_.start.get(), tensor,
                                                           reduces ? Py_True : Py_False,
                                                           copies ? Py_True : Py_False, nullptr));
  if (!handle) {
    TheErrors().Take("starting to read a tensor");
    return nullptr;
  }
  if (handle.get() == Py_None) return nullptr;  // summarize() and fetch() say why
  return std::make_shared<LaterTensor>(std::move(handle), later_.summary.get(), later_.buffer.get(),
                                       info, mode, wants_contents);
}

bool PythonTensorReader::Wait() {
  if (!later_.wait) return true;
  const PyRef done = PyRef::Steal(PyObject_CallNoArgs(later_.wait.get()));
  if (!done) TheErrors().Take("waiting for a device");
  return done.get() != Py_False;
}

void PythonTensorReader::AwaitCopy(PyObject* tensor, TensorInfo* info) {
  if (!later_.await_copy) return;
  const PyRef reason = PyRef::Steal(PyObject_CallOneArg(later_.await_copy.get(), tensor));
  if (!reason) TheErrors().Take("waiting for a copy");
  IsReason(reason.get(), info);
}

bool PythonTensorReader::Fetch(PyObject* tensor, TensorInfo* info) {
  const PyRef bytes = PyRef::Steal(PyObject_CallOneArg(fetch_.get(), tensor));
  if (IsReason(bytes.get(), info)) return false;
  Py_buffer buffer;
  if (!bytes || PyObject_GetBuffer(bytes.get(), &buffer, PyBUF_SIMPLE) != 0) {
    info->Explain("not readable: " + TheErrors().Take("fetching a tensor"));
    return false;
  }
  const auto* begin = static_cast<const std::byte*>(buffer.buf);
  info->bytes.assign(begin, begin + buffer.len);
  PyBuffer_Release(&buffer);
  const size_t wanted =
      static_cast<size_t>(ElementCount(info->view.shape)) * ElementSize(info->view.dtype);
  if (info->bytes.size() != wanted) {
    info->reason = "the framework gave another number of bytes than shape and dtype say";
    return false;
  }
  info->view.data = info->bytes.data();
  info->view.strides = {};
  info->view.conjugate = info->view.negative = false;
  return true;
}

bool PythonTensorReader::IsTracer(PyObject* tensor) const {
  if (is_tracer_.get() == Py_None) return false;
  const PyRef answer = PyRef::Steal(PyObject_CallOneArg(is_tracer_.get(), tensor));
  if (!answer) TheErrors().Take("looking for a tracer");
  return answer.get() == Py_True;
}

}  // namespace msprobe::python
