#include "graph/overflow.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/thread_pool.h"

namespace msprobe::graph {
namespace {

using dump::Section;

/// Output Norm above this many times the input Norm is abnormal growth.
constexpr double kAbnormalGrowth = 100;

/// Values of an API that hold whatever was in memory: nobody has written them yet.
struct Placeholder {
  std::string_view api;
  Section section;
  std::string_view argument;  ///< position; empty: all of the section
  std::string_view keyword;
};
constexpr std::array kPlaceholders = {
    Placeholder{"empty", Section::kOutput, "", ""},
    Placeholder{"empty_like", Section::kOutput, "", ""},
    Placeholder{"new_empty", Section::kOutput, "", ""},
    Placeholder{"empty_strided", Section::kOutput, "", ""},
    Placeholder{"new_empty_strided", Section::kOutput, "", ""},
    Placeholder{"empty_with_format", Section::kOutput, "", ""},
    Placeholder{"recv", Section::kInput, "", ""},
    Placeholder{"irecv", Section::kInput, "", ""},
    Placeholder{"batch_isend_irecv", Section::kInput, "", ""},
    Placeholder{"all_gather", Section::kInput, "0", "tensor_list"},
    Placeholder{"all_gather_into_tensor", Section::kInput, "0", "output_tensor"},
    Placeholder{"all_gather_single", Section::kInput, "0", "output_tensor"},  // torch 2.14's names
    Placeholder{"reduce_scatter_single", Section::kInput, "0", "output"},
    Placeholder{"gather_single", Section::kInput, "1", "gather_tensor"},
    Placeholder{"gather_into_tensor", Section::kInput, "1", "gather_tensor"},
    Placeholder{"_all_gather_base", Section::kInput, "0", "output_tensor"},
    Placeholder{"all_to_all", Section::kInput, "0", "output_tensor_list"},
    Placeholder{"all_to_all_single", Section::kInput, "0", "output"},
    Placeholder{"reduce_scatter", Section::kInput, "0", "output"},
    Placeholder{"reduce_scatter_tensor", Section::kInput, "0", "output"},
    Placeholder{"_reduce_scatter_base", Section::kInput, "0", "output"},
    Placeholder{"scatter", Section::kInput, "0", "tensor"},
    Placeholder{"gather", Section::kInput, "1", "gather_list"},
    Placeholder{"copy_", Section::kInput, "0", ""},
    Placeholder{"fill_", Section::kInput, "0", ""},
    Placeholder{"zero_", Section::kInput, "0", ""},
    Placeholder{"normal_", Section::kInput, "0", ""},
    Placeholder{"uniform_", Section::kInput, "0", ""},
    Placeholder{"random_", Section::kInput, "0", ""},
};

/// "input.0", "input.0.3", "input.kwargs.out" → "0", "0", "out".
std::string_view ArgumentOf(std::string_view key) {
  key.remove_prefix(std::min(key.size(), key.find('.') + 1));
  if (key.starts_with("kwargs.")) key.remove_prefix(7);
  return key.substr(0, key.find('.'));
}

const Placeholder* FindPlaceholder(const NodeName& name) {
  if (name.kind != NodeKind::kApi || name.direction != dump::Direction::kForward) return nullptr;
  const auto* it = std::find_if(kPlaceholders.begin(), kPlaceholders.end(),
                                [&](const Placeholder& p) { return p.api == name.api; });
  if (it == kPlaceholders.end()) return nullptr;
  // Tensor.scatter and Torch.gather are other operations than the collectives.
  const bool distributed = it->section == Section::kInput && !it->api.ends_with('_');
  return distributed && !name.prefix.ends_with("Distributed") ? nullptr : it;
}

bool IsPlaceholder(const dump::Value& value, const Placeholder* placeholder) {
  if (placeholder == nullptr || value.section != placeholder->section) return false;
  if (placeholder->argument.empty()) return true;
  const std::string_view argument = ArgumentOf(value.key);
  return argument == placeholder->argument ||
         (!placeholder->keyword.empty() && argument == placeholder->keyword);
}

bool IsAbnormal(const dump::Statistic& statistic) {
  return statistic.has_number() && !std::isfinite(statistic.number);
}

struct Side {
  bool abnormal = false;
  double norm = 0;  ///< largest
};

}  // namespace

OverflowLevel OverflowOf(const dump::Record& record, const NodeName& name) {
  const Placeholder* placeholder = FindPlaceholder(name);
  Side in;
  Side out;
  for (const dump::Value& value : record.values) {
    if (value.kind != dump::ValueKind::kTensor || IsPlaceholder(value, placeholder)) continue;
    Side& side = value.section == Section::kOutput ? out : in;
    side.abnormal = side.abnormal || IsAbnormal(value.max) || IsAbnormal(value.min) ||
                    IsAbnormal(value.mean) || IsAbnormal(value.norm);
    if (value.norm.has_number()) side.norm = std::max(side.norm, value.norm.number);
  }
  if (out.abnormal) return in.abnormal ? OverflowLevel::kHigh : OverflowLevel::kCritical;
  if (in.abnormal) return OverflowLevel::kMedium;
  if (in.norm > 0 && out.norm / in.norm > kAbnormalGrowth) return OverflowLevel::kHigh;
  return OverflowLevel::kNone;
}

namespace {

Finiteness FinitenessOfValue(const dump::Value& value) {
  Finiteness worst = Finiteness::kFinite;
  for (const dump::Statistic* statistic : {&value.max, &value.min, &value.mean, &value.norm}) {
    if (!statistic->has_number() || std::isfinite(statistic->number)) continue;
    worst =
        std::max(worst, std::isnan(statistic->number) ? Finiteness::kNaN : Finiteness::kInfinite);
  }
  const bool masked = worst == Finiteness::kInfinite && value.min.has_number() &&
                      value.max.has_number() && std::isinf(value.min.number) &&
                      value.min.number < 0 &&
                      !(value.max.number > 0 && std::isinf(value.max.number));
  return masked ? Finiteness::kMasked : worst;
}

void Worsen(Finiteness value, std::string_view key, Finiteness* worst,
            std::string_view* worst_key) {
  if (value <= *worst) return;
  *worst = value;
  *worst_key = key;
}

/// -Inf is what masks are made of.
Finiteness FinitenessOfScalar(std::string_view text) {
  if (text == "nan" || text == "NaN") return Finiteness::kNaN;
  if (text == "inf" || text == "Infinity") return Finiteness::kInfinite;
  return Finiteness::kFinite;
}

bool WritesItsArgument(std::string_view api) {
  constexpr std::array kFillers = {"masked_fill",   "masked_fill_", "full",  "full_like",
                                   "new_full",      "fill_",        "where", "tensor",
                                   "scalar_tensor", "pad"};
  return std::ranges::find(kFillers, api) != kFillers.end();
}

}  // namespace

FinitenessReport FinitenessOf(const dump::Record& record, const NodeName& name) {
  FinitenessReport report;
  const Placeholder* placeholder = FindPlaceholder(name);
  Finiteness argument = Finiteness::kFinite;
  std::string_view argument_key;
  bool gives_tensors = false;
  for (const dump::Value& value : record.values) {
    gives_tensors |= value.kind == dump::ValueKind::kTensor && value.section == Section::kOutput;
    if (value.kind == dump::ValueKind::kScalar && value.section == Section::kInput) {
      Worsen(FinitenessOfScalar(value.value_text), value.key, &argument, &argument_key);
      report.fills_in_infinity |= value.value_text == "-inf" || value.value_text == "-Infinity";
    }
    if (value.kind != dump::ValueKind::kTensor || IsPlaceholder(value, placeholder)) continue;
    const Finiteness state = FinitenessOfValue(value);
    if (state == Finiteness::kFinite) continue;
    if (value.section == Section::kOutput || record.direction == dump::Direction::kParametersGrad) {
      Worsen(state, value.key, &report.output, &report.output_key);
    } else if (value.section == Section::kParameter) {
      Worsen(state, value.key, &report.weights, &report.weights_key);
    } else {
      Worsen(state, value.key, &report.input, &report.input_key);
    }
  }
  report.fills_in_infinity |= WritesItsArgument(name.api);
  if (name.kind == NodeKind::kApi && !gives_tensors && argument != Finiteness::kFinite) {
    report.output = argument;
    report.output_key = argument_key;
    report.output_is_argument = true;
  }
  return report;
}

void CheckOverflow(Graph* graph, size_t threads, const base::CancelToken* cancel) {
  base::ParallelFor(graph->nodes.size(), 256, threads, [&](size_t begin, size_t end) {
    if (cancel != nullptr && cancel->cancelled()) return;
    dump::Record record;
    for (size_t id = begin; id < end; ++id) {
      Node& node = graph->nodes[id];
      if (node.entry == dump::kNoEntry || !graph->dump->Read(node.entry, &record).ok()) continue;
      node.overflow = OverflowOf(record, ParseNodeName(node.name));
    }
  });
}

}  // namespace msprobe::graph
