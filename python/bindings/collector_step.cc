// What Collector does between calls: modules, steps, and the counts of a step.
#include <utility>

#include "python/bindings/collector.h"
#include "python/bindings/tool_errors.h"

namespace msprobe::python {

void Collector::SetBench(BenchChecksums bench, std::optional<int64_t> differences) {
  bench_ = std::move(bench);
  values_.settings.bench = &bench_;
  if (differences) values_.settings.differences_left = *differences;
}

void Collector::SetModules(std::vector<std::shared_ptr<ModuleInfo>> modules,
                           std::vector<PyRef> roots) {
  module_of_.clear();
  named_before_.clear();
  module_calls_.clear();
  const auto objects =
      std::exchange(object_sites_, {});  // may be the last reference: they die at the end
  for (const auto& module : modules) {
    module_of_[module->module.get()] = module;
  }
  if (parameter_gradients_ != nullptr) parameter_gradients_->SetModules(modules);
  modules_.swap(modules);
  roots_.swap(roots);
}

void Collector::AddModules(std::vector<std::shared_ptr<ModuleInfo>> modules) {
  if (module_calls_.empty()) {
    for (const auto& module : modules_) module_calls_.emplace(module->prefix, module->calls);
  }
  for (auto& module : modules) {
    module->calls = module_calls_.emplace(module->prefix, module->calls).first->second;
    const auto [place, is_new] = module_of_.emplace(module->module.get(), module);
    if (!is_new) {
      named_before_.emplace(place->first, place->second);  // unless it has had a third name
      place->second = module;
    }
    modules_.push_back(std::move(module));
  }
}

void Collector::RemoveModules(const std::vector<PyObject*>& modules) {
  for (PyObject* module : modules) {  // the rest waits for SetModules()
    const auto before = named_before_.find(module);
    if (before == named_before_.end()) {
      module_of_.erase(module);
      continue;
    }
    module_of_[module] = std::move(before->second);
    named_before_.erase(before);
  }
}

void Collector::BeginStep(std::shared_ptr<DumpWriter> writer) {
  ++step_id_;
  writer_ = std::move(writer);
  TheErrors().BeginStep(writer_);
  filter.BeginStep();
  in_token_range_ = !token_range_.has_value();
  open_token_calls_ = 0;
  gradients_ = true;
  model_called_ = false;
}

void Collector::Start() {
  enabled_ = true;
  only_recompute_ = false;
}

void Collector::Stop() {
  only_recompute_ = true;
  enabled_ = enabled_ && may_go_on();
  RunTool("reading from a device", [this] { WriteDeferred(); });
}

void Collector::Note(const std::string& text) {
  CallCounter* counter = CounterOf(text);
  if (writer_ == nullptr || counter->calls++ > 0) return;
  used_counters_.push_back(counter);
  writer_->AddNote(text);
}

uint64_t Collector::EndStep() {
  RunTool("ending a step", [this] {
    DropEndedThreads();
    if (taps_ != nullptr) taps_->Purge();
    if (parameter_gradients_ != nullptr) parameter_gradients_->EndStep();
    while (!waiting_.empty()) FinishWaiting(waiting_.begin()->second.get(), false);
    if (writer_ != nullptr) ReportMissingGradients();
    WriteDeferred();
  });
  deferred_.clear();  // where writing them failed
  writes_deferred_ = false;
  in_place_calls_.clear();
  had_backward_ = false;
  enabled_ = only_recompute_ = gradients_ = false;
  for (CallCounter* counter : used_counters_) counter->calls = 0;
  used_counters_.clear();
  saved_names_.clear();
  root_calls_ = 0;
  open_records_ = 0;
  if (writer_ != nullptr) {
    static constexpr std::array<const char*, kSkipCount> kNames = {
        "scope",      "list",        "data_mode", "token_range", "exception", "repeated_backward",
        "step_ended", "fake_tensors"};
    skipped_[kUnfinished] = open_calls_;
    writer_->CountSeen(seen_);
    for (size_t i = 0; i < kSkipCount; ++i) {
      if (skipped_[i] > 0) writer_->CountSkipped(kNames[i], skipped_[i]);
    }
  }
  TheErrors().EndStep();
  const uint64_t still_run = std::exchange(open_calls_, 0);
  seen_ = 0;
  skipped_.fill(0);
  writer_ = nullptr;
  ++step_id_;
  values_.EndStep();
  // The program decides how long its models live: a process group that one of them owns would
  // otherwise run its threads into the end of the interpreter.
  SetModules({}, {});
  return still_run;
}

void Collector::Abandon() {
  enabled_ = only_recompute_ = gradients_ = false;
  waiting_.clear();
  in_place_calls_.clear();
  deferred_.clear();
  writer_ = nullptr;
  TheErrors().BeginStep(nullptr);
  ++step_id_;
}

}  // namespace msprobe::python
