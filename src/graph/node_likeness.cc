#include "graph/node_likeness.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/thread_pool.h"
#include "graph/module_family.h"
#include "graph/node_name.h"
#include "tensor/dtype.h"

namespace msprobe::graph {
namespace {

using dump::Section;
using dump::Value;
using dump::ValueKind;

TensorTrait::Kind KindOf(DType dtype) {
  if (dtype == DType::kBool) return TensorTrait::Kind::kBool;
  if (tensor::IsIntegral(dtype)) return TensorTrait::Kind::kInteger;
  if (tensor::IsFloatingPoint(dtype)) return TensorTrait::Kind::kFloat;
  return tensor::IsComplex(dtype) ? TensorTrait::Kind::kComplex : TensorTrait::Kind::kOther;
}

TensorTrait TraitOf(const dump::Record& record, const Value& value) {
  TensorTrait trait;
  trait.known = true;
  trait.kind = KindOf(value.dtype);
  trait.elements = 1;
  std::vector<int64_t> extents(record.extents.begin() + value.shape_begin,
                               record.extents.begin() + value.shape_begin + value.shape_size);
  if (!extents.empty()) trait.last = extents.back();
  std::sort(extents.begin(), extents.end());
  for (const int64_t extent : extents) {
    trait.elements *= static_cast<uint64_t>(extent);
    if (extent == 1) continue;
    trait.extents = (trait.extents ^ static_cast<uint64_t>(extent)) * 0x9E3779B97F4A7C15ULL;
    trait.extents ^= trait.extents >> 31;
  }
  trait.has_numbers = value.max.has_number() && value.min.has_number() && value.norm.has_number();
  if (trait.has_numbers) {
    trait.max = value.max.number;
    trait.min = value.min.number;
    trait.norm = value.norm.number;
  }
  return trait;
}

uint64_t Elements(const dump::Record& record, const Value& value) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < value.shape_size; ++i) {
    elements *= static_cast<uint64_t>(record.extents[value.shape_begin + i]);
  }
  return elements;
}

void ReadRecordTraits(const dump::Record& record, bool is_api, NodeTraits* traits) {
  for (const Value& value : record.values) {
    if (value.kind != ValueKind::kTensor) continue;
    if (value.section == Section::kParameter) {
      traits->own_weights += Elements(record, value);
      continue;
    }
    const bool is_input = value.section == Section::kInput;
    TensorTrait& trait = is_input ? traits->input : traits->output;
    const bool larger = is_input && is_api && Elements(record, value) > trait.elements;
    if (!trait.known || larger) trait = TraitOf(record, value);
  }
  traits->weights = traits->own_weights;
}

int64_t LastNumber(std::string_view path) {
  while (!path.empty()) {
    const size_t dot = path.rfind('.');
    const std::string_view part = dot == std::string_view::npos ? path : path.substr(dot + 1);
    const bool digits = !part.empty() && part.size() < 10 &&
                        std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (digits) return std::stoll(std::string(part));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  }
  return -1;
}

bool SameShape(const TensorTrait& a, const TensorTrait& b) {
  if (!a.known || !b.known) return a.known == b.known;
  return a.kind == b.kind && a.elements == b.elements &&
         (a.extents == b.extents || a.last == b.last);
}

bool Near(double a, double b) {
  constexpr double kTolerance = 0.01;
  return std::fabs(a - b) <= kTolerance * std::max(std::fabs(a), std::fabs(b));
}

/// The numbers say that it is the same data; that they do not says nothing.
bool SameNumbers(const TensorTrait& a, const TensorTrait& b) {
  if (!a.has_numbers || !b.has_numbers || !(a.norm > 0) || a.max == a.min) return false;
  return Near(a.max, b.max) && Near(a.min, b.min) && Near(a.norm, b.norm);
}

/// Exactly equal, as two uses of one tensor are.
bool SameTensor(const TensorTrait& a, const TensorTrait& b) {
  if (a.elements != b.elements) return false;
  if (!a.has_numbers || !b.has_numbers) return true;
  return a.max == b.max && a.min == b.min && (std::isnan(a.norm) || Near(a.norm, b.norm));
}

}  // namespace

uint32_t WordTable::Intern(std::string_view word) {
  return ids_.try_emplace(std::string(word), static_cast<uint32_t>(ids_.size())).first->second;
}

std::vector<NodeTraits> ReadTraits(const Graph& graph, WordTable* words, size_t threads,
                                   const base::CancelToken* cancel) {
  std::vector<NodeTraits> all(graph.nodes.size());
  for (NodeId id = 1; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].direction != dump::Direction::kForward) continue;
    const NodeName name = ParseNodeName(graph.nodes[id].name);
    NodeTraits& traits = all[id];
    if (name.kind == NodeKind::kApi) {
      traits.id_word = words->Intern(name.api_id);
      const std::string bare = BareApiName(name.api);
      traits.family = words->Intern(bare);
      traits.moves_data_only = MovesDataOnly(bare);
      continue;
    }
    const ModuleFamily family = FamilyOf(name.class_name);
    traits.id_word = words->Intern(family.class_name);
    traits.family = words->Intern(family.name);
    traits.known_family = family.is_known;
    traits.is_wrapper = family.is_wrapper;
    traits.name = words->Intern(name.path.substr(name.path.rfind('.') + 1));
    traits.path = words->Intern(name.path);
    traits.layer = LastNumber(name.path);
  }
  base::ParallelFor(graph.nodes.size(), 256, threads, [&](size_t begin, size_t end) {
    dump::Record record;
    for (size_t id = begin; id < end; ++id) {
      if (cancel != nullptr && cancel->cancelled()) return;
      const Node& node = graph.nodes[id];
      const bool wanted = node.direction == dump::Direction::kForward;
      if (!wanted || node.entry == dump::kNoEntry) continue;
      if (!graph.dump->Read(node.entry, &record).ok()) continue;
      ReadRecordTraits(record, node.kind == NodeKind::kApi, &all[id]);
    }
  });
  for (const NodeId id : CompletionOrder(graph)) {
    const Node& node = graph.nodes[id];
    const bool counts = node.direction == dump::Direction::kForward &&
                        node.kind == NodeKind::kModule && node.parent != kNoNode;
    if (!counts) continue;
    all[node.parent].weights += all[id].weights;
    all[node.parent].modules_below += all[id].modules_below + 1;
  }
  uint64_t before = 0;
  for (const NodeId id : EntryOrder(graph)) {
    all[id].weights_before = before;
    before += all[id].own_weights;
  }
  return all;
}

float ModuleLikeness(const NodeTraits& target, const NodeTraits& golden) {
  if ((target.modules_below == 0) != (golden.modules_below == 0)) return 0;
  if (target.weights != golden.weights) return 0;
  if (!SameShape(target.output, golden.output)) return 0;
  if (target.input.known && golden.input.known && target.input.elements != golden.input.elements) {
    return 0;
  }
  const bool same_class = target.id_word == golden.id_word;
  const bool same_family = target.family == golden.family;
  if (!same_family && target.known_family && golden.known_family) return 0;
  float likeness = 0.45F;
  if (target.weights > 0) likeness += 0.2F;
  likeness += same_class ? 0.15F : same_family ? 0.12F : 0;
  if (SameNumbers(target.output, golden.output)) likeness += 0.15F;
  if (target.name == golden.name) likeness += 0.08F;
  if (target.path == golden.path) likeness += 0.02F;
  if (target.layer >= 0 && target.layer == golden.layer) likeness += 0.05F;
  return std::min(likeness, 1.0F);
}

float ApiLikeness(const NodeTraits& target, const NodeTraits& golden) {
  if (target.family != golden.family || !SameShape(target.output, golden.output)) return 0;
  if (target.input.known != golden.input.known ||
      (target.input.known && target.input.elements != golden.input.elements)) {
    return 0;
  }
  const bool same_numbers = SameNumbers(target.output, golden.output);
  float likeness = target.moves_data_only ? 0.25F : 0.5F;
  if (target.id_word == golden.id_word) likeness += 0.15F;
  if (target.output.extents == golden.output.extents) likeness += 0.1F;
  if (target.output.last == golden.output.last) likeness += 0.1F;
  if (same_numbers) likeness += target.moves_data_only ? 0.35F : 0.2F;
  return std::min(likeness, 1.0F);
}

float FusedLikeness(const std::vector<const NodeTraits*>& parts, const NodeTraits& whole) {
  if (whole.modules_below > 0 || whole.own_weights == 0 || !whole.output.known) return 0;
  uint64_t weights = 0;
  int64_t last = 0;
  uint64_t elements = 0;
  const NodeTraits* first = parts.front();
  for (const NodeTraits* part : parts) {
    if (part->modules_below > 0 || part->own_weights == 0 || !part->output.known) return 0;
    if (part->family != whole.family && part->known_family && whole.known_family) return 0;
    if (part->family != first->family || !SameTensor(part->input, first->input)) return 0;
    weights += part->own_weights;
    last += part->output.last;
    elements += part->output.elements;
  }
  const bool adds_up = weights == whole.own_weights && last == whole.output.last &&
                       elements == whole.output.elements &&
                       first->input.elements == whole.input.elements;
  if (!adds_up) return 0;
  float likeness = first->family == whole.family ? 0.8F : 0.7F;
  const auto larger = [](const NodeTraits* a, const NodeTraits* b) {
    return a->output.max < b->output.max;
  };
  const double max = (*std::max_element(parts.begin(), parts.end(), larger))->output.max;
  if (whole.output.has_numbers && first->output.has_numbers && Near(max, whole.output.max)) {
    likeness += 0.15F;
  }
  return likeness;
}

}  // namespace msprobe::graph
