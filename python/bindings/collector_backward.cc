// What Collector does with gradients.
#include "python/bindings/collector.h"
#include "python/bindings/later_tensor.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {
namespace {

// They were kept for another module of the parameter.
void DropContents(CapturedTensor* captured) {
  captured->has_contents = false;
  if (captured->later == nullptr) return;
  captured->later = std::make_shared<LaterSummary>(std::move(captured->later));
}

}  // namespace

void Collector::WatchParameters() {
  parameter_gradients_ = std::make_unique<ParameterGradients>(
      autograd_.get(),
      [this](PyObject* gradient, bool saves, CapturedTensor* captured) {
        values_.Capture(gradient, saves, {}, captured);
      },
      [this](const ModuleInfo& module, uint32_t k) {
        return options.save_tensors || (!filter.tensor_list.empty() &&
                                        filter.SavesTensors(ParameterGradients::NameOf(module, k)));
      },
      [this](ParameterGradients::Entry entry) { EmitParameterGradients(std::move(entry)); });
}

void Collector::UseTensorHooks(TensorHooks::Functions functions) {
  auto hooks = std::make_unique<TensorHooks>(std::move(functions), reader_.get(), this);
  tensor_hooks_ = hooks.get();
  taps_ = std::move(hooks);
  WatchParameters();
}

void Collector::TakeParameterGradient(PyObject* parameter, PyObject* gradient) {
  if (gradients_ && parameter_gradients_ != nullptr) {
    RunTool("recording a parameter's gradient",
            [&] { parameter_gradients_->Accumulated(parameter, gradient); });
  }
}

bool Collector::BeginGradients(GradientRecord* record) {
  if (!gradients_ || record->step_id != step_id_) {
    ++late_gradients_;
    return false;
  }
  if (!record->begun) {
    record->begun = true;
    if (!record->decided) Decide(record);
    ++seen_;
    if (record->verdict == NameFilter::Verdict::kOutOfScope) Count(kScope);
    if (record->verdict == NameFilter::Verdict::kNotListed) Count(kList);
    record->saves_tensors = options.save_tensors || filter.SavesTensors(record->name);
    const bool wanted = record->verdict == NameFilter::Verdict::kRecord;
    if (wanted) AddConstruct(record);
    return IsFollowed(*record);
  }
  if (record->emitted) {  // a second backward through the same call: one entry has one name
    ++seen_;
    Count(kRepeated);
    return false;
  }
  return IsFollowed(*record);
}

// The end of the scope is where it is, listed or not.
bool Collector::IsFollowed(const GradientRecord& record) const {
  return record.verdict == NameFilter::Verdict::kRecord ||
         (record.verdict == NameFilter::Verdict::kNotListed && filter.EndsScope(record.name));
}

// A module is entered before what runs inside it, though its own gradients may come later.
void Collector::Decide(GradientRecord* record) {
  record->decided = true;
  GradientRecord* parent = record->parent;
  if (parent != nullptr && !parent->decided && parent->edges > 0) Decide(parent);
  record->verdict =
      filter.Enter(record->name, parent != nullptr && parent->listed, &record->listed);
}

// In the order in which backward enters the calls: a module before what runs inside it.
void Collector::AddConstruct(GradientRecord* record) {
  if (!options.construct || record->in_construct) return;
  record->in_construct = true;
  GradientRecord* parent = record->parent;
  // A module through which no gradient flows has no backward entry: what is inside hangs higher.
  while (parent != nullptr && parent->edges == 0) parent = parent->parent;
  if (parent != nullptr && !parent->in_construct) AddConstruct(parent);
  writer_->AddConstruct(record->name,
                        parent != nullptr ? std::string_view(parent->name) : std::string_view());
}

bool Collector::Capture(GradientRecord* record, PyObject* gradient, const CaptureAs& as,
                        CapturedTensor* captured) {
  return values_.Capture(gradient, record->saves_tensors, as, captured);
}

void Collector::EmitGradients(GradientRecord* record) {
  if (!record->wanted || record->emitted || record->step_id != step_id_) return;
  record->emitted = true;
  if (record->awaited && open_records_ > 0) --open_records_;
  if (record->verdict != NameFilter::Verdict::kRecord) return filter.Leave(record->name);
  RecordBuilder& builder = CurrentThread().builder;
  builder.Begin(record->name);
  builder.BeginObject();
  values_.BeginRecord(record->name, record->saves_tensors);
  const auto write = [&](const char* key, size_t begin, size_t end) {
    builder.BeginList(key);
    for (size_t i = begin; i < end; ++i) {
      GradientSlot& slot = record->slots[i];
      if (slot.sum) {
        values_.Write(&builder, {}, slot.sum.get());
        slot.sum = PyRef();
      } else if (slot.has_value) {
        values_.WriteCaptured(&builder, {}, slot.value);
        slot.value.contents = {};
        slot.value.later = nullptr;
      } else {
        builder.Null({});
      }
    }
    builder.End();
  };
  if (filter.input) write("input", record->input_count, record->slots.size());
  if (filter.output) write("output", 0, record->input_count);
  if (record->step_id != step_id_) return;  // ended by another thread meanwhile
  Emit(&builder);
  filter.Leave(record->name);
}

// Hooks are lost where the tensor that they belong to is changed.
void Collector::ReportMissingGradients() {
  for (const GradientRecordRef& record : in_place_calls_) {
    if (!had_backward_ || record->begun) continue;
    if (!record->decided) Decide(record.get());
    if (record->verdict != NameFilter::Verdict::kRecord) continue;
    ++seen_;
    writer_->CountNotRecordable(record->name,
                                "the framework gives no gradient of a call that changes its input "
                                "in place; the call before it may lack one, too");
  }
}

// What a module leaves in its attributes for later: auxiliary losses.
void Collector::FlattenKept(Frame* frame, FlatTensors* kept) const {
  static PyObject* const dict_name = PyUnicode_InternFromString("__dict__");
  // Where torch keeps the parts of a module: parameters are leaves, children are called themselves.
  static PyObject* const parameters_name = PyUnicode_InternFromString("_parameters");
  static PyObject* const modules_name = PyUnicode_InternFromString("_modules");
  const PyRef attributes = PyRef::Steal(PyObject_GetAttr(frame->module->module.get(), dict_name));
  if (!attributes || !PyDict_Check(attributes.get())) return DropError();
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(attributes.get(), &position, &name, &value)) {
    if (name == parameters_name || name == modules_name) continue;
    const PyRef held = PyRef::Borrow(value);  // computed attributes may run what changes it
    values_.FlattenNewest(value, kept);
  }
}

void Collector::UseLeaf(PyObject* node, PyObject* variable) {
  if (!options.modules || parameter_gradients_ == nullptr) return;
  if (parameter_gradients_->Watch(node, variable)) return;
  // It may have been made by a module that runs.
  const ThreadState& thread = CurrentThread();
  for (size_t i = thread.depth; i-- > 0;) {
    if (thread.frames[i]->module != nullptr) FollowParameters(*thread.frames[i]->module);
  }
  parameter_gradients_->Watch(node, variable);
}

// Programs add, replace and tie parameters in the middle of a step.
void Collector::FollowParameters(const ModuleInfo& module) {
  if (autograd_ == nullptr || !parameters_name_) return;
  const PyRef table = PyRef::Steal(PyObject_GetAttr(module.module.get(), parameters_name_.get()));
  if (!table || !PyDict_Check(table.get())) return DropError();
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  size_t known = 0;  // they mostly are as they were, in their order
  while (PyDict_Next(table.get(), &position, &name, &value)) {
    if (value == Py_None) continue;
    if (known < module.parameters.size() && module.parameters[known].value.get() == value) {
      ++known;
    } else if (reader_->IsTensor(value)) {
      const PyRef held[] = {PyRef::Borrow(name), PyRef::Borrow(value)};
      PyRef readable;
      parameter_gradients_->Follow(module.module.get(), Readable(name, &readable), value);
    }
  }
}

void Collector::EmitParameterGradients(ParameterGradients::Entry entry) {
  if (!gradients_ || writer_ == nullptr) return;
  const std::string name = ParameterGradients::NameOf(*entry.module, entry.k);
  ++seen_;
  bool listed = false;
  const auto verdict = filter.Enter(name, entry.module->listed, &listed);
  if (verdict == NameFilter::Verdict::kOutOfScope) {
    Count(kScope);
  } else if (verdict == NameFilter::Verdict::kNotListed) {
    Count(kList);
  } else if (!filter.backward) {
    Count(kDataMode);
  } else {
    // It stands under its module's backward. One that is never called (a ParameterList) has none.
    if (options.construct && *entry.module->calls == 0) writer_->AddConstruct(name, {});
    RecordBuilder& builder = CurrentThread().builder;
    builder.Begin(name);
    builder.BeginObject();
    const bool saves = options.save_tensors || filter.SavesTensors(name);
    values_.BeginRecord(name, saves);
    for (auto& [parameter, captured] : entry.values) {
      if (!saves) DropContents(&captured);
      builder.BeginList(parameter);
      values_.WriteCaptured(&builder, {}, captured, name + "." + std::string(parameter));
      builder.End();
    }
    Emit(&builder);
  }
  filter.Leave(name);
}

}  // namespace msprobe::python
