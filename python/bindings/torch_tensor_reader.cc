#include "python/bindings/torch_tensor_reader.h"

#include "tensor/dtype.h"

namespace msprobe::python {
namespace {

// The part of the DLPack 1.x ABI that is needed to look at a tensor.
struct DlTensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t rank;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DlExchangeApi {
  struct {
    uint32_t major, minor;
  } version;
  const DlExchangeApi* previous;
  void* allocate;
  void* export_managed;
  void* import_managed;
  int (*describe)(void* object, DlTensor* out);
  void* current_work_stream;
};
constexpr int32_t kDlCpu = 1;

DType ToDType(uint8_t code, uint8_t bits) {
  const auto pick = [bits](DType b8, DType b16, DType b32, DType b64) {
    return bits == 8    ? b8
           : bits == 16 ? b16
           : bits == 32 ? b32
           : bits == 64 ? b64
                        : DType::kUnknown;
  };
  constexpr auto kNo = DType::kUnknown;
  switch (code) {
    case 0: return pick(DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64);
    case 1: return pick(DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64);
    case 2: return pick(kNo, DType::kFloat16, DType::kFloat32, DType::kFloat64);
    case 4: return bits == 16 ? DType::kBFloat16 : kNo;
    case 5:
      return bits == 128 ? DType::kComplex128
                         : pick(kNo, kNo, DType::kComplex32, DType::kComplex64);
    case 6: return DType::kBool;
    case 10: return DType::kFloat8E4M3Fn;
    case 11: return DType::kFloat8E4M3FnUz;
    case 12: return DType::kFloat8E5M2;
    case 13: return DType::kFloat8E5M2FnUz;
    case 14: return DType::kFloat8E8M0Fnu;
    default: return kNo;
  }
}

PyCFunction NoArgsMethod(PyObject* type, const char* name) {
  const PyRef descriptor = PyRef::Steal(PyObject_GetAttrString(type, name));
  if (!descriptor) {
    DropError();
    return nullptr;
  }
  if (Py_TYPE(descriptor.get()) != &PyMethodDescr_Type) return nullptr;
  const PyMethodDef* method = reinterpret_cast<PyMethodDescrObject*>(descriptor.get())->d_method;
  return (method->ml_flags & METH_NOARGS) != 0 ? method->ml_meth : nullptr;
}

bool CallFlag(PyCFunction method, PyObject* tensor) {
  const PyRef answer = PyRef::Steal(method(tensor, nullptr));
  if (!answer) DropError();
  return answer.get() == Py_True;
}

}  // namespace

TorchTensorReader::TorchTensorReader(Types torch, PyRef describe, PyRef summarize, PyRef fetch,
                                     PyRef is_tracer)
    : PythonTensorReader(PyRef::Steal(PyTuple_Pack(1, torch.tensor.get())), std::move(describe),
                         std::move(summarize), std::move(fetch), std::move(is_tracer)),
      torch_(std::move(torch)),
      tensor_(reinterpret_cast<PyTypeObject*>(torch_.tensor.get())),
      parameter_(reinterpret_cast<PyTypeObject*>(torch_.parameter.get())) {
  PyObject* base = torch_.tensor_base.get();
  is_negative_ = NoArgsMethod(base, "is_neg");
  is_conjugate_ = NoArgsMethod(base, "is_conj");
  storage_offset_ = NoArgsMethod(base, "storage_offset");
  const PyRef grad = PyRef::Steal(PyObject_GetAttrString(base, "requires_grad"));
  if (grad && Py_TYPE(grad.get()) == &PyGetSetDescr_Type) {
    const PyGetSetDef* definition = reinterpret_cast<PyGetSetDescrObject*>(grad.get())->d_getset;
    requires_grad_ = definition->get;
    requires_grad_closure_ = definition->closure;
  }
  if (torch_.use_exchange_api && is_negative_ && is_conjugate_ && storage_offset_ &&
      requires_grad_) {
    const PyRef capsule =
        PyRef::Steal(PyObject_GetAttrString(torch_.tensor.get(), "__dlpack_c_exchange_api__"));
    if (capsule) {
      const auto* api = static_cast<const DlExchangeApi*>(
          PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
      if (api != nullptr && api->version.major == 1 && api->describe != nullptr) {
        exchange_api_ = api;
      }
    }
  }
  DropError();
}

void TorchTensorReader::Describe(PyObject* tensor, TensorInfo* info) {
  const bool is_plain = Py_TYPE(tensor) == tensor_ || Py_TYPE(tensor) == parameter_;
  if (exchange_api_ != nullptr && is_plain && DescribeFast(tensor, info)) return;
  PythonTensorReader::Describe(tensor, info);
  // Other classes may have methods of their own, which nothing here may call.
  if (is_plain && info->view.data == nullptr) TakeFlags(tensor, info);
  if (torch_.force_device_path && info->view.data != nullptr) {
    info->view.data = nullptr;
    info->on_device = ElementCount(info->view.shape) != 0;
  }
}

void TorchTensorReader::TakeFlags(PyObject* tensor, TensorInfo* info) const {
  info->view.negative = is_negative_ != nullptr && CallFlag(is_negative_, tensor);
  info->view.conjugate = tensor::IsComplex(info->view.dtype) && is_conjugate_ != nullptr &&
                         CallFlag(is_conjugate_, tensor);
}

bool TorchTensorReader::DescribeFast(PyObject* tensor, TensorInfo* info) const {
  DlTensor dl;
  const auto* api = static_cast<const DlExchangeApi*>(exchange_api_);
  if (api->describe(tensor, &dl) != 0) {
    DropError();
    return false;
  }
  const DType dtype = ToDType(dl.code, dl.bits);
  if (dtype == DType::kUnknown || dl.lanes != 1) return false;
  const auto rank = static_cast<size_t>(dl.rank);
  info->type = "torch.Tensor";
  info->dtype = tensor::DTypeName(dtype, tensor::DTypeSpelling::kTorch);
  info->reason = {};
  info->on_device = false;
  info->view.dtype = dtype;
  info->view.shape = {dl.shape, rank};
  info->view.strides = {dl.strides, dl.strides != nullptr ? rank : 0};
  const PyRef grad = PyRef::Steal(requires_grad_(tensor, requires_grad_closure_));
  info->requires_grad = grad.get() == Py_True;
  TakeFlags(tensor, info);
  if (dl.device_type != kDlCpu || torch_.force_device_path) {
    info->view.data = nullptr;
    info->on_device = ElementCount(info->view.shape) != 0;  // else there is nothing to read
    return true;
  }
  info->view.data = static_cast<const std::byte*>(dl.data) + dl.byte_offset;
  if (ElementCount(info->view.shape) != 0 && !StorageHolds(tensor, *info)) {
    info->view.data = nullptr;
    info->reason = "the storage of the tensor has been freed or is too small";
  }
  return true;
}

// A freed storage shows as a null pointer, but only where the tensor begins with the storage. There
// nothing more is asked, since it would cost each tensor two calls into torch: a storage that was
// resized to something smaller, but not freed, is not noticed.
bool TorchTensorReader::StorageHolds(PyObject* tensor, const TensorInfo& info) const {
  const int64_t offset = ToInt64(PyRef::Steal(storage_offset_(tensor, nullptr)), 0);
  if (offset == 0) return info.view.data != nullptr;
  int64_t last = offset;
  for (size_t i = 0; i < info.view.shape.size(); ++i) {
    if (!info.view.strides.empty()) last += (info.view.shape[i] - 1) * info.view.strides[i];
  }
  static PyObject* const storage_name = PyUnicode_InternFromString("untyped_storage");
  static PyObject* const bytes_name = PyUnicode_InternFromString("nbytes");
  const PyRef storage = PyRef::Steal(PyObject_CallMethodNoArgs(tensor, storage_name));
  if (!storage) {
    DropError();
    return false;
  }
  const int64_t bytes =
      ToInt64(PyRef::Steal(PyObject_CallMethodNoArgs(storage.get(), bytes_name)), 0);
  return (last + 1) * static_cast<int64_t>(ElementSize(info.view.dtype)) <= bytes;
}

}  // namespace msprobe::python
