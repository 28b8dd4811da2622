#include "python/bindings/value_writer.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "dump/shared_contents.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {
namespace {

constexpr uint64_t kReleaseGilBytes = 8u << 20;

std::string Text(PyObject* object) {
  const PyRef text = PyRef::Steal(PyObject_Str(object));
  if (!text) DropError();
  return std::string(Utf8(text.get()));
}

// Another view of the same memory, without asking the framework for a tensor of it.
bool Relayout(const CaptureAs& as, TensorInfo* info) {
  if (info->on_device || info->view.data == nullptr || !info->reason.empty()) return false;
  int64_t* dims = info->dims;
  if (as.layout == CaptureAs::Layout::kTransposed) {
    if (info->view.shape.size() != 2 || info->view.strides.size() != 2) return false;
    const int64_t turned[4] = {info->view.shape[1], info->view.shape[0], info->view.strides[1],
                               info->view.strides[0]};
    std::copy(turned, turned + 4, dims);
    info->view.shape = {dims, 2};
    info->view.strides = {dims + 2, 2};
    return true;
  }
  if (!IsContiguous(info->view) || as.shape == nullptr || !PyTuple_Check(as.shape)) return false;
  const Py_ssize_t rank = PyTuple_GET_SIZE(as.shape);
  if (rank > TensorInfo::kInlineDims) return false;
  const int64_t count = ElementCount(info->view.shape);
  for (Py_ssize_t i = 0; i < rank; ++i) dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(as.shape, i));
  if (PyErr_Occurred() != nullptr) {
    DropError();
    return false;
  }
  const std::span<const int64_t> shape(dims, static_cast<size_t>(rank));
  if (ElementCount(shape) != count) return false;
  info->view.shape = shape;
  info->view.strides = {};
  return true;
}

bool IsNamedTuple(PyObject* value, PyObject* fields_name) {
  return !PyTuple_CheckExact(value) && PyTuple_Check(value) &&
         _PyType_Lookup(Py_TYPE(value), fields_name) != nullptr;
}

}  // namespace

ValueWriter::ValueWriter(TensorReader* reader, PyRef describe_value, PyRef size_type)
    : reader_(reader),
      describe_value_(std::move(describe_value)),
      size_type_(std::move(size_type)),
      fields_name_(PyRef::Steal(PyUnicode_InternFromString("__dataclass_fields__"))),
      named_fields_name_(PyRef::Steal(PyUnicode_InternFromString("_fields"))) {}

void ValueWriter::BeginRecord(std::string_view name, bool save_tensors) {
  ResumeRecord(name, save_tensors, 0);
}

void ValueWriter::ResumeRecord(std::string_view name, bool save_tensors, uint32_t tensor_index) {
  Place& now = Now();
  now.record = name;
  now.open.Clear();  // also where a record before was given up
  now.save_tensors = save_tensors;
  now.awaits_copies = false;
  now.tensor_index = tensor_index;
  now.moment = 0;
}

ValueWriter::Place& ValueWriter::Now() {
  static thread_local Place place;
  return place;
}

void ValueWriter::Write(RecordBuilder* builder, std::string_view key, PyObject* value, int depth) {
  if (value == Py_None || depth > kMaxDepth) return builder->Null(key);
  if (reader_->IsTensor(value)) return WriteTensor(builder, key, value);
  if (PyBool_Check(value)) return builder->Bool(key, value == Py_True);
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return builder->Int(key, number);
    const std::string digits = Text(value);  // none: more than Python writes
    return digits.empty() ? builder->Object(key, "int") : builder->Scalar(key, "int", digits);
  }
  if (PyFloat_CheckExact(value)) return builder->Double(key, PyFloat_AS_DOUBLE(value));
  if (PyUnicode_CheckExact(value)) {
    PyRef held;
    return builder->String(key, Readable(value, &held));
  }
  const bool is_size = reinterpret_cast<PyObject*>(Py_TYPE(value)) == size_type_.get();
  const bool is_sequence = (PyTuple_Check(value) && !is_size) || PyList_Check(value);
  PyObject* fields = is_sequence || PyType_Check(value)
                         ? nullptr
                         : _PyType_Lookup(Py_TYPE(value), fields_name_.get());
  const bool has_fields = fields != nullptr && PyDict_Check(fields);
  if (!is_sequence && !has_fields && !PyDict_Check(value)) {
    return WriteOther(builder, key, value, depth);
  }
  OpenContainers& open = Now().open;
  if (!open.Enter(value)) return builder->Null(key);
  if (is_sequence) {
    WriteSequence(builder, key, value, depth);
  } else if (PyDict_Check(value)) {
    WriteDict(builder, key, value, depth);
  } else {
    WriteFields(builder, key, value, PyRef::Borrow(fields).get(), depth);
  }
  open.Leave();
}

bool ValueWriter::IsSeveral(PyObject* result) const {
  return PyTuple_Check(result) &&
         reinterpret_cast<PyObject*>(Py_TYPE(result)) != size_type_.get() &&
         !IsNamedTuple(result, named_fields_name_.get());
}

void ValueWriter::WriteSequence(RecordBuilder* builder, std::string_view key, PyObject* value,
                                int depth) {
  if (IsNamedTuple(value, named_fields_name_.get())) {
    const PyRef fields = PyRef::Steal(PyObject_GetAttr(value, named_fields_name_.get()));
    if (!fields) DropError();
    if (fields && PyTuple_Check(fields.get()) &&
        PyTuple_GET_SIZE(fields.get()) == PyTuple_GET_SIZE(value)) {
      builder->BeginObject(key);
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
        PyRef held;
        Write(builder, Readable(PyTuple_GET_ITEM(fields.get(), i), &held),
              PyTuple_GET_ITEM(value, i), depth + 1);
      }
      builder->End();
      return;
    }
  }
  builder->BeginList(key);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
    Write(builder, {}, PyRef::Borrow(PySequence_Fast_GET_ITEM(value, i)).get(), depth + 1);
  }
  builder->End();
}

void ValueWriter::WriteDict(RecordBuilder* builder, std::string_view key, PyObject* value,
                            int depth) {
  builder->BeginObject(key);
  PyObject *name = nullptr, *item = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(value, &position, &name, &item)) {
    const PyRef held[] = {PyRef::Borrow(name), PyRef::Borrow(item)};
    PyRef readable;
    Write(builder, Readable(name, &readable), item, depth + 1);
  }
  builder->End();
}

void ValueWriter::WriteFields(RecordBuilder* builder, std::string_view key, PyObject* value,
                              PyObject* fields, int depth) {
  builder->BeginObject(key);
  PyObject *name = nullptr, *unused = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(fields, &position, &name, &unused)) {
    const PyRef item = PyRef::Steal(PyObject_GetAttr(value, name));
    if (!item) DropError();
    if (item) Write(builder, Utf8(name), item.get(), depth + 1);
  }
  builder->End();
}

PyObject* ValueWriter::HeldName(PyObject* value) const {
  for (const auto& [type, name] : holders_) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(value)) == type.get()) return name.get();
  }
  return nullptr;
}

void ValueWriter::EndStep() {
  // What their end runs may come back to this set.
  for (PyTypeObject* type : std::exchange(plain_types_, {})) Py_DECREF(type);
}

void ValueWriter::WriteOther(RecordBuilder* builder, std::string_view key, PyObject* value,
                             int depth) {
  PyTypeObject* type = Py_TYPE(value);
  if (!plain_types_.contains(type)) {
    const PyRef answer = PyRef::Steal(PyObject_CallOneArg(describe_value_.get(), value));
    if (!answer) TheErrors().Take("describing a value");
    if (answer && PyTuple_Check(answer.get()) && PyTuple_GET_SIZE(answer.get()) == 2) {
      const std::string_view name = Utf8(PyTuple_GET_ITEM(answer.get(), 0));
      const std::string_view json = Utf8(PyTuple_GET_ITEM(answer.get(), 1));
      PyObject* held_name = HeldName(value);
      if (held_name == nullptr) return builder->Scalar(key, name, json);
      builder->BeginObject(key);
      builder->Json("type", '"' + std::string(name) + '"');
      builder->Json("value", json);
      const PyRef held = PyRef::Steal(PyObject_GetAttr(value, held_name));
      if (!held) DropError();
      if (held) Write(builder, Utf8(held_name), held.get(), depth + 1);
      return builder->End();
    }
    if (answer) {
      Py_INCREF(type);
      plain_types_.insert(type);
    }
  }
#if PY_VERSION_HEX >= 0x030B0000
  const PyRef name = PyRef::Steal(PyType_GetQualName(type));
#else
  const PyRef name =
      PyRef::Steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__qualname__"));
#endif
  if (!name) DropError();
  PyRef held;
  builder->Object(key, Readable(name.get(), &held));
}

TensorSummary ValueWriter::SummarizeView(const TensorView& view, uint64_t moment) {
  stats::SummaryCache::Key key;
  const TensorSummary* known = summaries_.Find(view, settings.mode, moment, &key);
  if (known != nullptr) return *known;
  TensorSummary summary;
  const auto bytes = static_cast<uint64_t>(ElementCount(view.shape)) * ElementSize(view.dtype);
  if (bytes < kReleaseGilBytes) {
    summary = stats::SummaryCache::Compute(view, settings.mode, &key);
  } else {  // other threads of the program go on while a large tensor is read
    Py_BEGIN_ALLOW_THREADS;
    summary = stats::SummaryCache::Compute(view, settings.mode, &key);
    Py_END_ALLOW_THREADS;
  }
  summaries_.Keep(key, summary);
  return summary;
}

bool ValueWriter::Summarized(PyObject* tensor, uint64_t moment, TensorSummary* summary) {
  if (settings.structure_only) return false;
  TensorInfo& info = Now().info;
  if (info.on_device) {
    return reader_->SummarizeOnDevice(tensor, settings.mode, &info, summary);
  }
  if (info.view.data == nullptr && ElementCount(info.view.shape) != 0) return false;
  if (!info.reason.empty()) return false;
  *summary = SummarizeView(info.view, moment);
  return true;
}

std::shared_ptr<LaterValues> ValueWriter::Start(PyObject* tensor, bool save) {
  const TensorInfo& info = Now().info;
  // Whether a tensor differs from that of another dump is to be known before it is saved.
  if (!settings.defers || !info.on_device || settings.structure_only) return nullptr;
  if (save && settings.bench != nullptr) return nullptr;
  return reader_->Start(tensor, info, settings.mode, save);
}

bool ValueWriter::WantsContents(const TensorSummary& summary, bool has_summary) {
  if (settings.bench == nullptr) return true;
  if (!has_summary || settings.differences_left == 0) return false;
  const Place& now = Now();
  const auto entry = settings.bench->find(std::string(now.record));
  if (entry == settings.bench->end() || now.tensor_index - 1 >= entry->second.size()) return false;
  char checksum[9];
  std::snprintf(checksum, sizeof checksum, "%08x", summary.crc32);
  if (entry->second[now.tensor_index - 1] == checksum) return false;
  if (settings.differences_left > 0) --settings.differences_left;
  return true;
}

void ValueWriter::Describe(PyObject* tensor, bool awaits_copy) {
  TensorInfo& info = Now().info;
  reader_->Describe(tensor, &info);
  if (info.on_device) {
    has_devices_ = true;
  } else if (awaits_copy && has_devices_ && info.view.data != nullptr && !settings.structure_only) {
    reader_->AwaitCopy(tensor, &info);
  }
}

void ValueWriter::WriteTensor(RecordBuilder* builder, std::string_view key, PyObject* tensor) {
  Place& now = Now();
  TensorInfo& info = now.info;
  TensorSummary summary;
  Describe(tensor, now.awaits_copies);
  TensorDescription description;
  description.later = Start(tensor, now.save_tensors);
  const bool at_once = description.later == nullptr;
  const bool has_summary = at_once && Summarized(tensor, now.moment, &summary);
  ++now.tensor_index;
  description.mode = settings.mode;
  description.structure_only = settings.structure_only;
  if (at_once && now.save_tensors && info.reason.empty() && WantsContents(summary, has_summary)) {
    if (info.view.data != nullptr || ElementCount(info.view.shape) == 0 ||
        (info.on_device && reader_->Fetch(tensor, &info))) {
      description.contents = &info.view;
    }
  }
  description.type = info.type;
  description.dtype = info.dtype;
  description.shape = info.view.shape;
  description.summary = has_summary ? &summary : nullptr;
  description.requires_grad = info.requires_grad;
  description.reason = info.reason;
  builder->Tensor(key, description);
}

bool ValueWriter::Capture(PyObject* tensor, bool save, const CaptureAs& as,
                          CapturedTensor* captured) {
  TensorInfo& info = Now().info;
  Describe(tensor, true);
  if (as.layout != CaptureAs::Layout::kAsItIs && !Relayout(as, &info)) return false;
  captured->later = Start(tensor, save);
  const bool at_once = captured->later == nullptr;
  captured->has_summary = at_once && Summarized(tensor, as.moment, &captured->summary);
  captured->type = info.type;
  captured->dtype = info.dtype;
  captured->element_type = info.view.dtype;
  captured->shape.assign(info.view.shape.begin(), info.view.shape.end());
  captured->requires_grad = info.requires_grad;
  captured->reason = info.reason;
  captured->has_contents = false;
  captured->contents = nullptr;
  if (!at_once || !save || !info.reason.empty()) return true;
  if (info.on_device && !reader_->Fetch(tensor, &info)) return true;
  if (info.view.data == nullptr && ElementCount(info.view.shape) != 0) return true;
  captured->contents = dump::TakeContents(info.view);
  if (captured->contents == nullptr && ElementCount(info.view.shape) != 0) throw std::bad_alloc();
  captured->has_contents = true;
  return true;
}

void ValueWriter::WriteCaptured(RecordBuilder* builder, std::string_view key,
                                const CapturedTensor& tensor, std::string_view data_name) {
  ++Now().tensor_index;
  TensorDescription description;
  description.data_name = data_name;
  description.type = tensor.type;
  description.dtype = tensor.dtype;
  description.shape = tensor.shape;
  description.summary = tensor.has_summary ? &tensor.summary : nullptr;
  description.mode = settings.mode;
  description.structure_only = settings.structure_only;
  description.requires_grad = tensor.requires_grad;
  description.reason = tensor.reason;
  description.later = tensor.later;
  TensorView view;
  if (tensor.has_contents && WantsContents(tensor.summary, tensor.has_summary)) {
    view.dtype = tensor.element_type;
    view.shape = tensor.shape;
    description.contents = &view;
    description.taken = tensor.contents;
  }
  builder->Tensor(key, description);
}

void ValueWriter::Flatten(PyObject* value, FlatTensors* flat, int depth) const {
  if (reader_->IsTensor(value)) {
    flat->tensors.push_back(PyRef::Borrow(value));
    return;
  }
  if (depth > kMaxDepth || value == Py_None || PyLong_Check(value) || PyFloat_Check(value) ||
      PyUnicode_Check(value) || PyType_Check(value)) {
    return;
  }
  const bool is_list = PyTuple_Check(value) || PyList_Check(value);
  PyObject* fields =
      is_list || PyDict_Check(value) ? value : _PyType_Lookup(Py_TYPE(value), fields_name_.get());
  if (fields != nullptr && (is_list || PyDict_Check(fields))) {
    if (!flat->open.Enter(value)) return;
    FlattenContainer(value, PyRef::Borrow(fields).get(), flat, depth);
    flat->open.Leave();
  } else if (PyObject* name = HeldName(value)) {
    const PyRef held = PyRef::Steal(PyObject_GetAttr(value, name));
    if (!held) return DropError();
    Flatten(held.get(), flat, depth + 1);
  }
}

void ValueWriter::FlattenNewest(PyObject* value, FlatTensors* flat) const {
  int left = 256;  // however much a module keeps, a call costs no more
  FlattenNewest(value, flat, 2, &left);
}

void ValueWriter::FlattenNewest(PyObject* value, FlatTensors* flat, int levels, int* left) const {
  --*left;
  const bool is_list = PyList_Check(value) || PyTuple_Check(value);
  if (!is_list && !PyDict_Check(value)) return Flatten(value, flat, kMaxDepth);
  if (levels == 0) return;
  if (is_list) {
    for (Py_ssize_t i = PySequence_Fast_GET_SIZE(value); i-- > 0 && *left > 0;) {
      if (i >= PySequence_Fast_GET_SIZE(value)) continue;  // it has become shorter meanwhile
      const PyRef item = PyRef::Borrow(PySequence_Fast_GET_ITEM(value, i));
      FlattenNewest(item.get(), flat, levels - 1, left);
    }
    return;
  }
  if (PyDict_GET_SIZE(value) > *left && PyDict_CheckExact(value)) {
    static PyObject* const reversed_name = PyUnicode_InternFromString("__reversed__");
    const PyRef newest = PyRef::Steal(PyObject_CallMethodNoArgs(value, reversed_name));
    for (PyRef key; newest && *left > 0;) {
      key = PyRef::Steal(PyIter_Next(newest.get()));
      const PyRef item = PyRef::Borrow(key ? PyDict_GetItemWithError(value, key.get()) : nullptr);
      if (!item) break;
      FlattenNewest(item.get(), flat, levels - 1, left);
    }
    return DropError();
  }
  PyObject *name = nullptr, *item = nullptr;
  Py_ssize_t position = 0;
  while (*left > 0 && PyDict_Next(value, &position, &name, &item)) {
    const PyRef held = PyRef::Borrow(item);
    FlattenNewest(item, flat, levels - 1, left);
  }
}

void ValueWriter::FlattenContainer(PyObject* value, PyObject* fields, FlatTensors* flat,
                                   int depth) const {
  if (PyTuple_Check(value) || PyList_Check(value)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
      Flatten(PyRef::Borrow(PySequence_Fast_GET_ITEM(value, i)).get(), flat, depth + 1);
    }
    return;
  }
  PyObject *name = nullptr, *item = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(fields, &position, &name, &item)) {
    const PyRef member =
        fields == value ? PyRef::Borrow(item) : PyRef::Steal(PyObject_GetAttr(value, name));
    if (!member) DropError();
    if (member) Flatten(member.get(), flat, depth + 1);
  }
}

}  // namespace msprobe::python
