#include "python/bindings/collector.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "python/bindings/leaf_calls.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {
namespace {

void AppendNumber(std::string* text, uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text->append(digits, end);
}

PyObject* CallOriginal(CallSite* site, PyObject* const* args, size_t flags, PyObject* names) {
  return PyObject_Vectorcall(site->original.get(), args, flags, names);
}

PyObject* CallReplaced(CallSite* site, const std::vector<PyRef>& args, Py_ssize_t positional,
                       PyObject* names) {
  std::vector<PyObject*> values;
  for (const PyRef& arg : args) values.push_back(arg.get());
  return CallOriginal(site, values.data(), static_cast<size_t>(positional), names);
}

/// Whether the call is one of a root or a module; or of something compiled, in which they may be.
template <typename Modules>
bool MayBeOfModel(const CallSite& site, PyObject* const* args, size_t flags, const Modules& modules,
                  const std::vector<PyRef>& roots) {
  if (site.kind == CallKind::kCompiled) return true;
  if (site.kind != CallKind::kModule || PyVectorcall_NARGS(flags) == 0) return false;
  return modules.contains(args[0]) ||
         std::any_of(roots.begin(), roots.end(),
                     [&](const PyRef& root) { return root.get() == args[0]; });
}

}  // namespace

Collector*& TheCollector() {
  static Collector* collector = nullptr;
  return collector;
}

PyObject* Invoke(CallSite* site, PyObject* const* args, size_t flags, PyObject* names) {
  Collector* collector = TheCollector();
  if (collector == nullptr || !collector->enabled_) return CallOriginal(site, args, flags, names);
  return collector->Call(site, args, flags, names);
}

Collector::Collector(std::unique_ptr<TensorReader> reader, std::unique_ptr<AutogradAccess> autograd,
                     PyRef describe_value, PyRef size_type, PyRef format_stack,
                     std::string hidden_directory)
    : reader_(std::move(reader)),
      autograd_(std::move(autograd)),
      values_(reader_.get(), std::move(describe_value), std::move(size_type)),
      stacks_(std::move(format_stack), std::move(hidden_directory)) {
  if (autograd_ == nullptr) return;
  taps_ = std::make_unique<EdgeTaps>(autograd_.get(), reader_.get(), this);
  WatchParameters();
}

Collector::~Collector() = default;

PyObject* Collector::Call(CallSite* site, PyObject* const* args, size_t flags, PyObject* names) {
  const ThreadState& thread = CurrentThread();
  if (site->kind == CallKind::kBackward) return CallBackward(site, args, flags, names);
  if (thread.busy > 0) return CallOriginal(site, args, flags, names);
  if (!model_called_) model_called_ = MayBeOfModel(*site, args, flags, module_of_, roots_);
  if (IsToken(*site, args, flags)) return CallToken(site, args, flags, names);
  if (site->kind == CallKind::kWait) return CallWait(site, args, flags, names);
  if (thread.in_api) {
    return site->kind == CallKind::kCompiled ? CallCompiled(site, args, flags, names)
                                             : CallOriginal(site, args, flags, names);
  }
  switch (site->kind) {
    case CallKind::kGroup: return CallGroup(site, args, flags, names);
    case CallKind::kQuiet: return CallQuiet(site, args, flags, names);
    case CallKind::kModule: return CallModule(site, args, flags, names);
    case CallKind::kObject:
    case CallKind::kCompiled: {
      if (PyVectorcall_NARGS(flags) == 0) break;
      const std::shared_ptr<CallSite> own = SiteOf(site, args[0]);
      if (own != nullptr) return CallRecorded(own.get(), nullptr, args, flags, names);
      if (site->kind == CallKind::kCompiled) return CallCompiled(site, args, flags, names);
      break;
    }
    case CallKind::kWait:
    case CallKind::kBackward: break;
    case CallKind::kApi:
    case CallKind::kCustom:
    case CallKind::kDistributed: return CallRecorded(site, nullptr, args, flags, names);
  }
  return CallOriginal(site, args, flags, names);
}

PyObject* Collector::CallModule(CallSite* site, PyObject* const* args, size_t flags,
                                PyObject* names) {
  const auto module = PyVectorcall_NARGS(flags) == 0 ? module_of_.end() : module_of_.find(args[0]);
  if (module == module_of_.end()) return CallOriginal(site, args, flags, names);
  if (IsPartOfRunning(*module->second)) return CallOriginal(site, args, flags, names);
  return CallRecorded(site, module->second, args, flags, names);
}

PyObject* Collector::CallCompiled(CallSite* site, PyObject* const* args, size_t flags,
                                  PyObject* names) {
  if (tensor_hooks_ == nullptr) return CallOriginal(site, args, flags, names);
  const Py_ssize_t positional = PyVectorcall_NARGS(flags);
  FlatTensors tensors;
  const Py_ssize_t count = positional + (names != nullptr ? PyTuple_GET_SIZE(names) : 0);
  for (Py_ssize_t i = 0; i < count; ++i) values_.Flatten(args[i], &tensors);
  std::vector<PyRef> replaced;
  RunTool("taking hooks away",
          [&] { replaced = tensor_hooks_->WithoutHooks(args, count, tensors); });
  if (replaced.empty()) return CallOriginal(site, args, flags, names);
  return CallReplaced(site, replaced, positional, names);
}

PyObject* Collector::CallBackward(CallSite* site, PyObject* const* args, size_t flags,
                                  PyObject* names) {
  if (tensor_hooks_ == nullptr) return CallOriginal(site, args, flags, names);
  had_backward_ = true;
  tensor_hooks_->BeginPass();
  PyObject* result = CallOriginal(site, args, flags, names);
  const SavedError error;  // of the program: passes through unchanged
  RunTool("writing gradients", [this] { tensor_hooks_->EndPass(); });
  return result;
}

PyObject* Collector::CallGroup(CallSite* site, PyObject* const* args, size_t flags,
                               PyObject* names) {
  ThreadState& thread = CurrentThread();
  Frame& frame = thread.Push();
  frame.kind = CallKind::kGroup;
  frame.name = site->prefix;
  frame.recorded = true;
  frame.listed = false;
  if (site->counter->calls++ == 0) {
    used_counters_.push_back(site->counter);
    if (options.construct && writer_ != nullptr) writer_->AddConstruct(frame.name, {});
  }
  PyObject* result = CallOriginal(site, args, flags, names);
  --thread.depth;
  return result;
}

PyObject* Collector::CallRecorded(CallSite* site, std::shared_ptr<ModuleInfo> module,
                                  PyObject* const* args, size_t flags, PyObject* names) {
  ThreadState& thread = CurrentThread();
  const bool in_range = InTokenRange(thread);
  if (!in_range && !only_recompute_) return CallOutside(site, args, flags, names);
  if (!in_range || (only_recompute_ && (taps_ == nullptr || !taps_->in_backward()))) {
    return site->kind == CallKind::kCompiled ? CallCompiled(site, args, flags, names)
                                             : CallOriginal(site, args, flags, names);
  }
  const Arguments arguments{
      args, PyVectorcall_NARGS(flags), names,
      module != nullptr || site->kind == CallKind::kObject || site->kind == CallKind::kCompiled ? 1
                                                                                                : 0,
      site->in_place};
  Frame& frame = thread.Push();
  frame.kind = site->kind;
  const bool is_api = module == nullptr;
  frame.module = std::move(module);
  frame.recorded = false;
  frame.leaf = {};
  frame.in_place = site->in_place;
  frame.watch_begin = thread.watch.size();
  frame.step_id = step_id_;
  bool real = false;
  const bool entered = RunTool("recording a call", [&] {
    real = CollectInputs(arguments, &frame.inputs);
    if (!IsOfThisStep(frame)) {
      real = false;
    } else if (real) {
      Enter(&thread, &frame, site, arguments);
    } else {
      ++seen_;
      Count(kFakeTensors);
    }
    // The program may let go of its tensors while it runs.
    if (frame.kind != CallKind::kDistributed) frame.inputs.Clear();
  });
  if (!entered) GiveUp(&thread, &frame);
  thread.in_api = is_api;
  if (!real) {  // it computes no values, or the step has ended
    frame.inputs.Clear();
    frame.module = nullptr;
    --thread.depth;
    PyObject* result = CallOriginal(site, args, flags, names);
    thread.in_api = false;
    return result;
  }
  PyObject* result = !frame.replaced.empty()
                         ? CallReplaced(site, frame.replaced, arguments.positional, names)
                     : site->kind == CallKind::kCompiled ? CallCompiled(site, args, flags, names)
                                                         : CallOriginal(site, args, flags, names);
  if (is_api) thread.in_api = false;
  if (result != nullptr && frame.give_back) {
    RunTool("handing inputs back", [&] { result = tensor_hooks_->GiveBack(&frame, result); });
  }
  if (result == nullptr) {
    const SavedError error;  // of the program: passes through unchanged
    RunTool("ending a call", [&] {
      if (frame.recorded && IsOfThisStep(frame)) Count(kException);
      Pop(&thread, &frame);
    });
    return nullptr;
  }
  if (IsOfThisStep(frame) &&
      !RunTool("recording a result", [&] { Exit(&thread, &frame, result); })) {
    GiveUp(&thread, &frame);
  }
  RunTool("ending a call", [&] { Pop(&thread, &frame); });
  return TheErrors().Return(result);
}

void Collector::GiveUp(ThreadState* thread, Frame* frame) {
  if (frame->recorded && IsOfThisStep(*frame)) {
    writer_->CountNotRecordable(frame->name, "error in msprobe");
    --open_calls_;
  }
  frame->recorded = false;
  frame->replaced.clear();
  if (taps_ != nullptr) taps_->Leave(thread, frame);
  frame->gradient = GradientRecordRef();
}

bool Collector::CollectInputs(const Arguments& arguments, FlatTensors* inputs) const {
  inputs->Clear();
  const Py_ssize_t named = arguments.names != nullptr ? PyTuple_GET_SIZE(arguments.names) : 0;
  for (Py_ssize_t i = arguments.skip; i < arguments.positional + named; ++i) {
    values_.Flatten(arguments.values[i], inputs);
  }
  for (const PyRef& tensor : inputs->tensors) {
    if (reader_->IsTracer(tensor.get())) return false;
  }
  return true;
}

void Collector::NameCall(Frame* frame, CallSite* site) {
  uint32_t& calls = frame->module != nullptr ? *frame->module->calls : site->counter->calls;
  const uint32_t n = calls++;
  if (frame->module != nullptr) {
    frame->name.assign(frame->module->prefix).append(".forward.");
    AppendNumber(&frame->name, n);
    frame->backward_name.assign(frame->module->prefix).append(".backward.");
    AppendNumber(&frame->backward_name, n);
    return;
  }
  if (n == 0) used_counters_.push_back(site->counter);
  frame->name.assign(site->prefix);
  AppendNumber(&frame->name, n);
  frame->backward_name.assign(frame->name).append(".backward");
  frame->name.append(".forward");
}

const Frame* Collector::Parent(const ThreadState& thread) const {
  for (size_t i = thread.depth - 1; i-- > 0;) {
    const Frame& frame = *thread.frames[i];
    if (frame.recorded && (frame.kind == CallKind::kModule || frame.kind == CallKind::kGroup)) {
      return &frame;
    }
  }
  return nullptr;
}

void Collector::Enter(ThreadState* thread, Frame* frame, CallSite* site,
                      const Arguments& arguments) {
  NameCall(frame, site);
  const Frame* parent = Parent(*thread);
  const bool inside_listed = thread->depth > 1 && thread->frames[thread->depth - 2]->listed;
  const auto verdict = filter.Enter(frame->name, inside_listed, &frame->listed);
  if (frame->module == nullptr) frame->listed = inside_listed;  // only modules take what is inside
  if (frame->module != nullptr && frame->listed) frame->module->listed = true;
  frame->recorded = false;
  ++seen_;
  if (verdict == NameFilter::Verdict::kOutOfScope) {
    Count(kScope);
  } else if (verdict == NameFilter::Verdict::kNotListed) {
    Count(kList);
  } else if (!filter.forward) {
    Count(kDataMode);
  } else {
    frame->recorded = true;
    ++open_calls_;
    if (options.construct) {
      writer_->AddConstruct(
          frame->name, parent != nullptr ? std::string_view(parent->name) : std::string_view());
    }
    if (options.stacks) {
      StackFrames frames = stacks_.Capture();
      if (!IsOfThisStep(*frame)) return;
      writer_->AddStack(frame->name, std::move(frames));
    }
    if (options.modules && options.apis && !values_.settings.structure_only) {
      TheLeafCalls().Enter(*thread, frame, *site);
    }
    WriteInputs(frame, arguments);
    if (!IsOfThisStep(*frame)) return;
  }
  if (taps_ == nullptr || !filter.backward || frame->kind == CallKind::kDistributed ||
      !taps_->GradMode(*frame)) {
    return;
  }
  if (frame->module != nullptr) FollowParameters(*frame->module);
  frame->gradient = GradientRecordRef(new GradientRecord);
  GradientRecord* record = frame->gradient.get();
  record->name = frame->backward_name;
  record->step_id = step_id_;
  for (size_t i = thread->depth - 1; i-- > 0;) {
    if (!thread->frames[i]->gradient || thread->frames[i]->kind != CallKind::kModule) continue;
    record->parent = thread->frames[i]->gradient.get();
    ++record->parent->references;
    break;
  }
  taps_->Enter(thread, frame, frame->inputs, arguments);
}

void Collector::WriteInputs(Frame* frame, const Arguments& arguments) {
  frame->saves_tensors = options.save_tensors || filter.SavesTensors(frame->name);
  RecordBuilder& builder = frame->builder;
  builder.Begin(frame->name);
  builder.BeginObject();
  values_.BeginRecord(frame->name, frame->saves_tensors);
  values_.AtMoment(frame->leaf.inputs);
  if (filter.input) {
    builder.BeginList("input_args");
    for (Py_ssize_t i = arguments.skip; i < arguments.positional; ++i) {
      values_.Write(&builder, {}, arguments.values[i]);
    }
    builder.End();
    builder.BeginObject("input_kwargs");
    const Py_ssize_t named = arguments.names != nullptr ? PyTuple_GET_SIZE(arguments.names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) {
      PyRef held;
      values_.Write(&builder, Readable(PyTuple_GET_ITEM(arguments.names, i), &held),
                    arguments.values[arguments.positional + i]);
    }
    builder.End();
  }
  frame->tensor_index = values_.tensor_index();
}

void Collector::WriteResult(Frame* frame, PyObject* result) {
  RecordBuilder& builder = frame->builder;
  if (filter.output) {
    values_.AwaitCopies(true);
    builder.BeginList("output");
    if (values_.IsSeveral(result)) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result); ++i) {
        values_.Write(&builder, {}, PyTuple_GET_ITEM(result, i));
      }
    } else {
      values_.Write(&builder, {}, result);
    }
    builder.End();
    values_.AwaitCopies(false);
  }
  if (frame->module != nullptr) WriteParameters(*frame->module, &builder);
}

// Those of now: torch.func.functional_call puts others in the places of the module's own.
void Collector::WriteParameters(const ModuleInfo& module, RecordBuilder* builder) {
  builder->BeginObject("parameters");
  const PyRef table = PyRef::Steal(
      parameters_name_ ? PyObject_GetAttr(module.module.get(), parameters_name_.get()) : nullptr);
  if (table && PyDict_Check(table.get())) {
    PyObject *name = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(table.get(), &position, &name, &value)) {
      if (value == Py_None) continue;
      const PyRef held[] = {PyRef::Borrow(name), PyRef::Borrow(value)};
      PyRef readable;
      values_.Write(builder, Readable(name, &readable), value);
    }
  } else {
    DropError();
    for (const ModuleInfo::Parameter& parameter : module.parameters) {
      values_.Write(builder, parameter.name, parameter.value.get());
    }
  }
  builder->End();
}

void Collector::Exit(ThreadState* thread, Frame* frame, PyObject* result) {
  if (frame->gradient) {
    FlatTensors outputs;
    values_.Flatten(result, &outputs);
    FlatTensors kept;
    // Where calls of APIs are seen, their nodes are known.
    if (frame->module != nullptr && !options.apis) FlattenKept(frame, &kept);
    taps_->Exit(thread, frame, outputs, kept);
    if (frame->gradient->edges > 0) {
      if (frame->gradient->awaited) ++open_records_;
      if (frame->in_place && tensor_hooks_ != nullptr) in_place_calls_.push_back(frame->gradient);
    }
  }
  if (!frame->recorded) return;
  PyRef tensors;
  if (frame->kind == CallKind::kDistributed) {
    if (DeferUntilWaited(frame, result)) return;
    tensors = CollectiveResult(*frame, result);
  }
  values_.ResumeRecord(frame->name, frame->saves_tensors, frame->tensor_index);
  values_.AtMoment(LeafCalls::Results(*thread, *frame));
  WriteResult(frame, tensors ? tensors.get() : result);
  if (IsOfThisStep(*frame)) Emit(&frame->builder);
}

void Collector::Pop(ThreadState* thread, Frame* frame) {
  if (IsOfThisStep(*frame)) {
    filter.Leave(frame->name);
    if (frame->recorded) --open_calls_;
  }
  if (taps_ != nullptr) taps_->Leave(thread, frame);
  frame->inputs.Clear();
  frame->module = nullptr;
  --thread->depth;
}

// Records keep their order: those behind one that waits for a device wait as well.
void Collector::Emit(RecordBuilder* builder) {
  if (!builder->settled() || !deferred_.empty() || writes_deferred_) return Defer(builder);
  Write(builder);
}

void Collector::Defer(RecordBuilder* builder) {
  constexpr uint64_t kMostBytes = 256u << 20;
  deferred_bytes_ += builder->size() + builder->later_bytes();
  deferred_.push_back(std::move(*builder));
  if (deferred_bytes_ > kMostBytes) WriteDeferred();
}

void Collector::WriteDeferred() {
  if (writes_deferred_) return;
  writes_deferred_ = true;
  while (!deferred_.empty()) {  // other threads may add to them while this one waits
    std::vector<RecordBuilder> records;
    std::swap(records, deferred_);
    deferred_bytes_ = 0;
    if (!reader_->Wait()) {  // they stay the first
      std::swap(records, deferred_);
      for (RecordBuilder& record : records) deferred_.push_back(std::move(record));
      break;
    }
    for (RecordBuilder& record : records) {
      record.Settle();
      Write(&record);
    }
  }
  writes_deferred_ = false;
}

void Collector::Write(RecordBuilder* builder) {
  const std::shared_ptr<DumpWriter> writer = writer_;
  if (writer == nullptr) return;
  AddResult added = writer->Add(builder, Wait::kNo);
  if (added == AddResult::kFull) {  // the disk is slow: the program waits, other threads go on
    Py_BEGIN_ALLOW_THREADS;
    added = writer->Add(builder, Wait::kYes);
    Py_END_ALLOW_THREADS;
  }
  if (added == AddResult::kAdded) ++recorded_;
}

uint32_t Collector::Save(std::string_view name, PyObject* value, bool has_number) {
  if (writer_ == nullptr) return 0;
  std::string entry(name);
  const uint32_t n = saved_names_[entry]++;
  if (!has_number || n > 0) {  // backward may go through a value more than once
    entry.push_back('.');
    AppendNumber(&entry, n);
  }
  entry.append(".debug");  // without which mindstudio-probe's compare does not see a value in it
  ++seen_;
  RunTool("saving a value", [&] {
    const uint64_t step = step_id_;
    RecordBuilder& builder = CurrentThread().builder;
    builder.Begin(entry);
    values_.BeginRecord(entry, options.save_tensors);
    values_.ExpectDevices();
    values_.AwaitCopies(true);
    values_.Write(&builder, {}, value);
    if (step == step_id_) Emit(&builder);  // it may have ended meanwhile
  });
  return n;
}

}  // namespace msprobe::python
