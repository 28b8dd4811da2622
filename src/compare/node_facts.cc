#include "compare/node_facts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/thread_pool.h"
#include "compare/reduction_length.h"
#include "compare/scalar_argument.h"
#include "compare/tolerance.h"
#include "compare/value_error.h"
#include "dump/record.h"
#include "graph/node_name.h"

namespace msprobe::compare {

namespace {

using dump::Record;
using dump::Section;
using dump::Value;
using dump::ValueKind;

void Mix(uint64_t word, uint64_t* hash) {
  *hash = (*hash ^ word) * 0x9e3779b97f4a7c15u;
  *hash ^= *hash >> 32;
}

/// "parameters.weight"; with the shapes if they are why the values differ.
std::string ParameterText(const Value& value, const Value& golden) {
  std::string text(value.key);
  if (value.shape_text != golden.shape_text) {
    text.append(" has the shape ").append(value.shape_text);
    text.append(", golden's ").append(golden.shape_text);
  }
  return text;
}

/// By the checksum if there is one, else by the statistics; with shape and dtype.
TensorUse Identify(const Record& record, const Value& value) {
  TensorUse use;
  uint64_t shape_hash = 1 + static_cast<uint64_t>(value.dtype);
  uint64_t count = 1;
  for (uint32_t i = 0; i < value.shape_size; ++i) {
    const auto extent = static_cast<uint64_t>(record.extents[value.shape_begin + i]);
    Mix(extent, &shape_hash);
    count *= extent;
  }
  const bool has_statistics = value.max.has_number() && value.norm.has_number();
  if (has_statistics) {
    use.norm = value.norm.number;
    use.view_fingerprint = 1 + static_cast<uint64_t>(value.dtype);
    Mix(count, &use.view_fingerprint);
    Mix(std::bit_cast<uint64_t>(value.max.number), &use.view_fingerprint);
    Mix(std::bit_cast<uint64_t>(value.min.number), &use.view_fingerprint);
  }
  if (!value.md5.empty()) {
    use.fingerprint = shape_hash;
    Mix(std::hash<std::string_view>()(value.md5), &use.fingerprint);
  } else if (has_statistics) {
    use.fingerprint = shape_hash;
    for (const dump::Statistic* statistic : {&value.max, &value.min, &value.mean, &value.norm}) {
      Mix(std::bit_cast<uint64_t>(statistic->number), &use.fingerprint);
    }
  }
  return use;
}

/// parameters_grad is what a node made, though its record calls it parameters.
Section SectionOf(const Record& record, const Value& value) {
  return record.direction == dump::Direction::kParametersGrad ? Section::kOutput : value.section;
}

graph::NodeId ForwardOf(const graph::Graph& graph, const graph::Node& node) {
  const bool gradients = node.direction == dump::Direction::kParametersGrad;
  if (!gradients && node.direction != dump::Direction::kBackward) return graph::kNoNode;
  const graph::NodeName name = graph::ParseNodeName(node.name);
  if (!gradients) return graph.Find(graph::ForwardOf(node.name, name));
  std::string forward(node.name.substr(0, name.direction_begin));
  forward.append("forward").append(node.name.substr(name.direction_begin + name.direction_size));
  return graph.Find(forward);
}

/// A module is as coarse as what it runs. Gradients are as coarse as the forward they belong to:
/// autocast computes them in short dtypes too, and records them in the long ones.
void SpreadDTypes(const graph::Graph& graph, std::vector<NodeFacts>* nodes) {
  std::unordered_map<std::string_view, DType> modules;  // by "Module.path.Class."
  const std::vector<graph::NodeId> order = graph::CompletionOrder(graph);
  for (const graph::NodeId id : order) {
    const graph::NodeId parent = graph.nodes[id].parent;
    const DType dtype = (*nodes)[id].dtype;
    if (parent == graph::kNoNode) continue;
    (*nodes)[parent].dtype = Coarser((*nodes)[parent].dtype, dtype);
    if (graph.nodes[id].kind != graph::NodeKind::kModule) continue;
    const std::string_view name = graph.nodes[id].name;
    const size_t size = graph::ParseNodeName(name).direction_begin;
    DType& module = modules.try_emplace(name.substr(0, size), dtype).first->second;
    module = Coarser(module, dtype);
  }
  for (const graph::NodeId id : order) {
    const graph::Node& node = graph.nodes[id];
    if (!node.is_backward && node.direction != dump::Direction::kParametersGrad) continue;
    const graph::NodeName name = graph::ParseNodeName(node.name);
    DType& dtype = (*nodes)[id].dtype;
    const auto module = modules.find(node.name.substr(0, name.direction_begin));
    if (module != modules.end()) {
      dtype = Coarser(dtype, module->second);
    } else if (name.kind == graph::NodeKind::kApi) {
      const graph::NodeId forward = (*nodes)[id].forward;
      if (forward != graph::kNoNode) dtype = Coarser(dtype, (*nodes)[forward].dtype);
    }
  }
}

/// The scalar argument that is farthest off, of those that no rule excuses.
void ChooseArgument(const FactTable& table, const ToleranceProfile::Rule* rule, NodeFacts* facts) {
  facts->argument_error = 0;
  facts->differing_argument = 0;
  for (uint32_t i = facts->arguments_begin; i < facts->arguments_end; ++i) {
    const FactTable::Argument& argument = table.arguments[i];
    if (argument.error <= facts->argument_error) continue;
    if (rule != nullptr && rule->Excuses(table.texts.text(argument.name))) continue;
    facts->argument_error = argument.error;
    facts->argument_is_number = argument.is_number;
    facts->differing_argument = argument.text;
  }
}

/// Which errors are more than rounding.
void Decide(const Comparison& comparison, graph::NodeId id, const ToleranceProfile* profile,
            const FactTable& table, NodeFacts* facts) {
  const ToleranceProfile::Rule* rule = nullptr;
  std::optional<double> roundings;
  if (profile != nullptr) {
    rule = profile->RuleOf(comparison.target->nodes[id].name);
    roundings = profile->Roundings(facts->dtype);
  }
  // In short dtypes the roundings of all layers behind come together in a gradient, and change
  // which elements a ReLU lets through.
  constexpr double kShortGradients = 0.5;
  const graph::Node& node = comparison.target->nodes[id];
  const bool gradient = node.is_backward || node.direction == dump::Direction::kParametersGrad;
  const bool is_short = UnitRoundoff(facts->dtype) > UnitRoundoff(DType::kFloat32);
  facts->tolerance = RoundingTolerance(comparison.mode, facts->dtype, facts->reduction, roundings);
  if (gradient && is_short && comparison.mode != CompareMode::kMd5 && !roundings) {
    facts->tolerance = std::max(facts->tolerance, kShortGradients);
  }
  if (rule != nullptr) facts->tolerance = rule->bound;
  facts->parameter_tolerance = facts->tolerance;
  ChooseArgument(table, rule, facts);
  // The program says a number as exactly as it computed it, whatever the dtype of the tensors; only
  // where that is another one, it may come from it (its eps, its lowest number).
  constexpr double kArgument = 8 * 0x1p-24;
  const bool as_tensors = rule != nullptr || facts->dtypes_differ;
  facts->argument_tolerance = as_tensors ? facts->tolerance : std::min(facts->tolerance, kArgument);
  if (rule != nullptr) {
    facts->parameter_tolerance = rule->parameters.value_or(rule->bound);
    // Whole numbers are exact only where no rule says otherwise.
    const double larger = std::max(facts->tolerance, facts->parameter_tolerance);
    if (facts->integer_error <= rule->integers.value_or(larger)) {
      facts->inputs_differ = facts->outputs_differ = facts->parameters_differ = false;
    }
  }
  facts->inputs_differ |= facts->error_in > facts->tolerance;
  facts->outputs_differ |= facts->error_out > facts->tolerance;
  facts->parameters_differ |= facts->parameter_error > facts->parameter_tolerance;
}

/// Gradients that cancel to nothing (the bias in front of a softmax) hold rounding only: they
/// are measured against the largest gradient of the same node as well. A vector is a sum over all
/// rows, whose terms are about as large as those of the matrix beside it.
double SmallestScale(const Value& value, double gradient_peak) {
  constexpr double kCancelled = 0.01;
  return (value.shape_size <= 1 ? 1 : kCancelled) * gradient_peak;
}

template <typename Wanted>
std::vector<TensorUse> InputsOf(const Comparison& comparison, graph::NodeId id, Wanted wanted) {
  std::vector<TensorUse> uses;
  Record record;
  if (!ReadRecordOf(*comparison.target, id, &record)) return uses;
  for (const Value& value : record.values) {
    const bool is_input = value.kind == ValueKind::kTensor && value.section == Section::kInput;
    if (is_input && wanted(value)) uses.push_back(Identify(record, value));
  }
  return uses;
}

}  // namespace

void FactGatherer::Add(graph::NodeId id, const Record* record, const Record& golden,
                       std::span<const ValueResult> results) {
  facts_ = &table_.nodes.emplace_back();
  facts_->forward = ForwardOf(*comparison_.target, comparison_.target->nodes[id]);
  if (record == nullptr) return;
  record_ = record;
  facts_->is_collective = record->is_distributed;
  // An unmatched node only passes data on: what goes in and out still has fingerprints.
  results_ = results.size() == record->values.size() ? results.data() : nullptr;
  NoteSizes(id, golden);
  facts_->arguments_begin = static_cast<uint32_t>(table_.arguments.size());
  if (results_ != nullptr) Measure(golden);
  facts_->arguments_end = static_cast<uint32_t>(table_.arguments.size());
  AddUses(id);
}

void FactGatherer::NoteSizes(graph::NodeId id, const Record& golden) {
  for (size_t i = 0; i < record_->values.size(); ++i) {
    const Value& value = record_->values[i];
    if (value.kind != ValueKind::kTensor) continue;
    facts_->dtype = Coarser(facts_->dtype, value.dtype);
    facts_->dtypes_differ |= results_ != nullptr && !results_[i].dtype_equal;
  }
  facts_->reduction = ReductionLength(comparison_.target->nodes[id], *record_);
  if (!facts_->dtypes_differ) return;
  for (const Value& value : golden.values) facts_->dtype = Coarser(facts_->dtype, value.dtype);
}

/// The largest element of all gradients that the node made; 0 in forward.
double FactGatherer::GradientPeak() const {
  double peak = 0;
  if (record_->direction != dump::Direction::kBackward &&
      record_->direction != dump::Direction::kParametersGrad) {
    return peak;
  }
  for (const Value& value : record_->values) {
    for (const dump::Statistic* extreme : {&value.max, &value.min}) {
      if (SectionOf(*record_, value) != Section::kOutput || !extreme->has_number()) continue;
      if (std::isfinite(extreme->number)) peak = std::max(peak, std::fabs(extreme->number));
    }
  }
  return peak;
}

void FactGatherer::NoteArgument(uint32_t place, const Value& value, const Value& golden) {
  table_.arguments.push_back({place, table_.texts.Intern(ArgumentName(value)),
                              table_.texts.Intern(ArgumentText(value, golden)),
                              IsNumber(value) && IsNumber(golden),
                              ArgumentError(*record_, value, golden)});
}

void FactGatherer::Measure(const Record& golden) {
  const double gradient_peak = GradientPeak();
  errors_.assign(record_->values.size(), 0);
  for (size_t i = 0; i < record_->values.size(); ++i) {
    const Value& value = record_->values[i];
    const Section section = SectionOf(*record_, value);
    const uint32_t partner = results_[i].golden_value;
    if (value.kind == ValueKind::kScalar && section == Section::kInput &&
        results_[i].status == NodeStatus::kError && partner < golden.values.size()) {
      NoteArgument(static_cast<uint32_t>(i), value, golden.values[partner]);
    }
    if (value.kind != ValueKind::kTensor) continue;
    const ValueError measured = MeasureValue(comparison_.mode, *record_, value, results_[i],
                                             SmallestScale(value, gradient_peak));
    facts_->has_inputs |= section == Section::kInput;
    facts_->outputs_equal &=
        section != Section::kOutput || (measured.compared && measured.error == 0);
    if (!measured.compared) {
      facts_->inputs_unknown |= section != Section::kOutput && results_[i].reason != 0;
      continue;
    }
    facts_->compared = true;
    errors_[i] = measured.error;
    Note(value, partner < golden.values.size() ? golden.values[partner] : value, section,
         measured.error);
  }
}

/// Whole numbers are exact, whatever the node computes beside them; of others it is not known
/// yet which error is rounding.
void FactGatherer::Note(const Value& value, const Value& golden, Section section, double error) {
  const bool is_integer = UnitRoundoff(value.dtype) == 0;
  const bool differs = error > 0 && is_integer;
  facts_->has_integers |= is_integer;
  if (is_integer) facts_->integer_error = std::max(facts_->integer_error, error);
  switch (section) {
    case Section::kInput:
      facts_->error_in = std::max(facts_->error_in, error);
      facts_->inputs_differ |= differs;
      break;
    case Section::kOutput:
      facts_->error_out = std::max(facts_->error_out, error);
      facts_->outputs_differ |= differs;
      break;
    case Section::kParameter:
      if (error > 10 * facts_->parameter_error) {
        facts_->differing_parameter = table_.texts.Intern(ParameterText(value, golden));
      }
      facts_->parameter_error = std::max(facts_->parameter_error, error);
      facts_->parameters_differ |= differs;
      break;
  }
}

void FactGatherer::AddUses(graph::NodeId id) {
  const auto size = [&] { return static_cast<uint32_t>(table_.uses.size()); };
  const auto add = [&](Section wanted, bool differing_only) {
    for (size_t i = 0; i < record_->values.size(); ++i) {
      const Value& value = record_->values[i];
      const double error = results_ == nullptr ? 0 : errors_[i];
      if (value.kind != ValueKind::kTensor || SectionOf(*record_, value) != wanted) continue;
      if (differing_only && results_ != nullptr && error == 0) continue;
      table_.uses.push_back(Identify(*record_, value));
      table_.uses.back().error = error;
    }
  };
  facts_->inputs_begin = size();
  add(Section::kInput, true);
  facts_->inputs_end = facts_->outputs_begin = size();
  add(Section::kOutput, false);
  facts_->outputs_end = size();
  if (facts_->parameter_error == 0) return;
  for (size_t i = 0; i < record_->values.size(); ++i) {
    const Value& value = record_->values[i];
    if (SectionOf(*record_, value) != Section::kParameter || errors_[i] == 0) continue;
    table_.differing_parameters.push_back({Identify(*record_, value).fingerprint, id, errors_[i]});
  }
}

void AppendFacts(FactTable part, FactTable* table) {
  const auto shift = static_cast<uint32_t>(table->uses.size());
  const auto arguments = static_cast<uint32_t>(table->arguments.size());
  std::vector<uint32_t> text_ids;
  for (const std::string& text : part.texts.reasons()) {
    text_ids.push_back(table->texts.Intern(text));
  }
  for (NodeFacts& facts : part.nodes) {
    for (uint32_t* place :
         {&facts.inputs_begin, &facts.inputs_end, &facts.outputs_begin, &facts.outputs_end}) {
      *place += shift;
    }
    facts.differing_parameter = text_ids[facts.differing_parameter];
    facts.arguments_begin += arguments;
    facts.arguments_end += arguments;
    table->nodes.push_back(facts);
  }
  for (FactTable::Argument& argument : part.arguments) {
    argument.name = text_ids[argument.name];
    argument.text = text_ids[argument.text];
    table->arguments.push_back(argument);
  }
  table->uses.insert(table->uses.end(), part.uses.begin(), part.uses.end());
  table->differing_parameters.insert(table->differing_parameters.end(),
                                     part.differing_parameters.begin(),
                                     part.differing_parameters.end());
}

void FinishFacts(const Comparison& comparison, size_t threads, const ToleranceProfile* profile,
                 FactTable* table) {
  constexpr size_t kNodesPerPart = 512;
  SpreadDTypes(*comparison.target, &table->nodes);
  base::ParallelFor(table->nodes.size(), kNodesPerPart, threads, [&](size_t begin, size_t end) {
    for (size_t id = begin; id < end; ++id) {
      Decide(comparison, static_cast<graph::NodeId>(id), profile, *table, &table->nodes[id]);
    }
  });
}

std::vector<TensorUse> AllInputs(const Comparison& comparison, graph::NodeId id) {
  return InputsOf(comparison, id, [](const Value&) { return true; });
}

double InputError(const graph::Graph& graph, const FactTable& facts, graph::NodeId id) {
  const graph::Node& node = graph.nodes[id];
  const graph::NodeName name = graph::ParseNodeName(node.name);
  double error = facts.nodes[id].error_in;
  const auto add = [&](graph::NodeId pass) {
    if (pass == graph::kNoNode) return;
    error = std::max({error, facts.nodes[pass].error_in, facts.nodes[pass].parameter_error});
  };
  add(facts.nodes[id].forward);
  if (name.direction == dump::Direction::kParametersGrad) {
    const std::string module(node.name.substr(0, name.direction_begin));
    const std::string_view call = node.name.substr(name.direction_begin + name.direction_size);
    add(graph.Find(module + "forward" + std::string(call)));
    add(graph.Find(module + "backward" + std::string(call)));
  }
  return error;
}

bool TakesOtherArgument(const Comparison& comparison, const NodeFacts& facts, graph::NodeId id) {
  if (facts.argument_error <= facts.argument_tolerance) return false;
  if (facts.inputs_differ || facts.parameters_differ) return false;
  const graph::NodeName name = graph::ParseNodeName(comparison.target->nodes[id].name);
  const graph::NodeId partner = comparison.match.golden_of_target[id];
  return name.kind == graph::NodeKind::kApi &&
         name.api == graph::ParseNodeName(comparison.golden->nodes[partner].name).api;
}

bool ReadRecordOf(const graph::Graph& graph, graph::NodeId id, Record* record) {
  const dump::EntryId entry = graph.nodes[id].entry;
  if (entry != dump::kNoEntry && graph.dump->Read(entry, record).ok()) return true;
  record->values.clear();
  return false;
}

std::vector<uint64_t> GoldenOutputs(const Comparison& comparison, graph::NodeId id) {
  std::vector<uint64_t> fingerprints;
  Record record, golden;
  const graph::NodeId partner = comparison.match.golden_of_target[id];
  const NodeResult& result = comparison.nodes[id];
  if (!ReadRecordOf(*comparison.target, id, &record) ||
      !ReadRecordOf(*comparison.golden, partner, &golden) ||
      record.values.size() != result.values_size) {
    return fingerprints;
  }
  for (size_t i = 0; i < record.values.size(); ++i) {
    const Value& value = record.values[i];
    if (value.kind != ValueKind::kTensor || SectionOf(record, value) != Section::kOutput) continue;
    const uint32_t place = comparison.values[result.values_begin + i].golden_value;
    const bool known = place < golden.values.size();
    fingerprints.push_back(known ? Identify(golden, golden.values[place]).fingerprint : 0);
  }
  return fingerprints;
}

std::vector<TensorUse> WholeNumberInputs(const Comparison& comparison, graph::NodeId id) {
  return InputsOf(comparison, id,
                  [](const Value& value) { return UnitRoundoff(value.dtype) == 0; });
}

FactTable GatherFacts(const Comparison& comparison, size_t threads,
                      const ToleranceProfile* profile) {
  constexpr size_t kNodesPerPart = 512;
  const size_t count = comparison.nodes.size();
  std::vector<FactTable> parts((count + kNodesPerPart - 1) / kNodesPerPart);
  base::ParallelFor(count, kNodesPerPart, threads, [&](size_t begin, size_t end) {
    Record record, golden;
    FactGatherer gatherer(comparison, &parts[begin / kNodesPerPart]);
    for (auto id = static_cast<graph::NodeId>(begin); id < end; ++id) {
      const bool known = ReadRecordOf(*comparison.target, id, &record);
      const graph::NodeId partner = comparison.match.golden_of_target[id];
      if (partner != graph::kNoNode) ReadRecordOf(*comparison.golden, partner, &golden);
      const NodeResult& result = comparison.nodes[id];
      gatherer.Add(id, known ? &record : nullptr, golden,
                   std::span(comparison.values).subspan(result.values_begin, result.values_size));
    }
  });
  FactTable table;
  size_t uses = 0;
  for (const FactTable& part : parts) uses += part.uses.size();
  table.nodes.reserve(count);
  table.uses.reserve(uses);
  for (FactTable& part : parts) AppendFacts(std::move(part), &table);
  FinishFacts(comparison, threads, profile, &table);
  return table;
}

FactTable TakeFacts(Comparison* comparison, size_t threads, const ToleranceProfile* profile) {
  if (comparison->facts == nullptr) return GatherFacts(*comparison, threads, profile);
  FactTable facts = std::move(*std::exchange(comparison->facts, nullptr));
  FinishFacts(*comparison, threads, profile, &facts);
  return facts;
}

}  // namespace msprobe::compare
