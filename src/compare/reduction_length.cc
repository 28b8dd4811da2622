#include "compare/reduction_length.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

namespace msprobe::compare {

namespace {

using dump::Record;
using dump::Section;
using dump::Value;
using dump::ValueKind;

enum class Sum : uint8_t {
  kUnknown,
  kNone,         ///< element by element, or only moved
  kProduct,      ///< over the last extent of the first tensor
  kSecond,       ///< over the last extent of the second: addmm(bias, a, b)
  kConvolution,  ///< over all of a weight but its first extent
  kTransposed,   ///< the same, over all but its second
  kLastExtent,   ///< softmax, layer_norm
  kChannel,      ///< batch_norm, group_norm: over all elements of a channel
  kRatio,        ///< mean, sum, losses: as many as inputs there are for an output
  kAttention,    ///< over the width of a head, then over the keys
};

struct SumOfApis {
  Sum sum;
  std::string_view names;  // of APIs and classes of modules, spaces between them
};

constexpr SumOfApis kSums[] = {
    {Sum::kNone,
     "abs add addcdiv addcmul arange cat chunk clamp clone concat contiguous cos "
     "detach div dropout embedding eq erf exp expand flatten float full gather ge "
     "gelu getitem gt half hardswish iadd idiv imul isub itruediv le log lt "
     "masked_fill maximum minimum mul ne neg one_hot ones pad permute pow radd "
     "reciprocal relu repeat reshape rmul roll rsqrt rsub select sigmoid silu sin "
     "split sqrt square squeeze stack sub tanh tensor to transpose tril triu truediv "
     "type type_as unsqueeze view where zeros zeros_like bfloat16 unbind GELU ReLU "
     "SiLU Dropout Embedding Sigmoid Tanh Identity Flatten leaky_relu LeakyReLU "
     "softplus"},
    {Sum::kProduct, "matmul mm bmm mv dot linear rmatmul Linear"},
    {Sum::kSecond, "addmm baddbmm addmv addbmm"},
    {Sum::kConvolution, "conv1d conv2d conv3d Conv1d Conv2d Conv3d"},
    {Sum::kTransposed,
     "conv_transpose1d conv_transpose2d conv_transpose3d ConvTranspose1d "
     "ConvTranspose2d ConvTranspose3d"},
    {Sum::kLastExtent,
     "softmax log_softmax layer_norm rms_norm normalize LayerNorm RMSNorm Softmax "
     "LogSoftmax"},
    {Sum::kChannel,
     "batch_norm BatchNorm1d BatchNorm2d BatchNorm3d instance_norm group_norm "
     "GroupNorm SyncBatchNorm"},
    {Sum::kRatio,
     "mean sum norm var std var_mean prod logsumexp cross_entropy nll_loss mse_loss "
     "l1_loss smooth_l1_loss binary_cross_entropy kl_div avg_pool1d avg_pool2d "
     "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
     "AdaptiveAvgPool2d AvgPool2d CrossEntropyLoss MSELoss mean_square"},
    {Sum::kAttention, "scaled_dot_product_attention"},
};

const std::unordered_map<std::string_view, Sum>& SumsByApi() {
  static const auto* const kByApi = [] {
    auto* sums = new std::unordered_map<std::string_view, Sum>;
    for (const auto& [sum, names] : kSums) {
      for (size_t begin = 0; begin < names.size();) {
        const size_t end = std::min(names.find(' ', begin), names.size());
        sums->emplace(names.substr(begin, end - begin), sum);
        begin = end + 1;
      }
    }
    return sums;
  }();
  return *kByApi;
}

/// "Torch.matmul.0.forward" → "matmul"; "Module.a.0.Linear.forward.0" → "Linear".
std::string_view Operation(const graph::Node& node) {
  std::string_view name = node.name;
  if (node.kind == graph::NodeKind::kApi) {
    name.remove_prefix(std::min(name.find('.'), name.size() - 1) + 1);
    name = name.substr(0, name.find('.'));
    while (name.starts_with('_')) name.remove_prefix(1);
    while (name.ends_with('_')) name.remove_suffix(1);
    return name;
  }
  for (int part = 0; part < 2; ++part) name = name.substr(0, name.rfind('.'));
  return name.substr(name.rfind('.') + 1);
}

class Extents {
 public:
  explicit Extents(const Record& record) : record_(record) {}

  std::span<const int64_t> Of(const Value& value) const {
    return {record_.extents.data() + value.shape_begin, value.shape_size};
  }
  double Elements(const Value& value) const {
    double count = 1;
    for (const int64_t extent : Of(value)) count *= static_cast<double>(extent);
    return count;
  }
  double Last(const Value& value) const {
    return value.shape_size == 0 ? 1 : static_cast<double>(Of(value).back());
  }
  double Longest() const {
    double longest = 1;
    for (const Value& value : record_.values) {
      if (value.kind != ValueKind::kTensor) continue;
      for (const int64_t extent : Of(value)) {
        longest = std::max(longest, static_cast<double>(extent));
      }
    }
    return longest;
  }
  /// The `n`-th tensor of a section; null if there are fewer.
  const Value* Tensor(Section section, size_t n) const {
    for (const Value& value : record_.values) {
      if (value.kind == ValueKind::kTensor && value.section == section && n-- == 0) return &value;
    }
    return nullptr;
  }
  /// Of a functional the second input, of a module a parameter.
  const Value* Weight() const {
    for (const Value& value : record_.values) {
      if (value.section == Section::kParameter && value.key.ends_with("weight")) return &value;
    }
    return Tensor(Section::kInput, 1);
  }

 private:
  const Record& record_;
};

/// All elements of the weight but those of one extent.
double WeightBut(const Extents& extents, size_t extent, double otherwise) {
  const Value* weight = extents.Weight();
  if (weight == nullptr || weight->shape_size <= extent) return otherwise;
  const auto outer = static_cast<double>(extents.Of(*weight)[extent]);
  return outer > 0 ? extents.Elements(*weight) / outer : 1;
}

double Ratio(double inputs, double outputs) { return outputs > 0 ? inputs / outputs : 1; }

double ForwardLength(Sum sum, const Extents& extents) {
  const Value* first = extents.Tensor(Section::kInput, 0);
  const Value* second = extents.Tensor(Section::kInput, 1);
  const Value* output = extents.Tensor(Section::kOutput, 0);
  if (sum == Sum::kUnknown || first == nullptr) return extents.Longest();
  switch (sum) {
    case Sum::kNone: return 1;
    case Sum::kProduct:
    case Sum::kLastExtent: return extents.Last(*first);
    case Sum::kSecond: return second == nullptr ? extents.Longest() : extents.Last(*second);
    case Sum::kConvolution: return WeightBut(extents, 0, extents.Longest());
    case Sum::kTransposed: return WeightBut(extents, 1, extents.Longest());
    case Sum::kChannel: {
      const size_t channel = first->shape_size > 1 ? 1 : 0;
      if (first->shape_size == 0) return 1;
      return Ratio(extents.Elements(*first), static_cast<double>(extents.Of(*first)[channel]));
    }
    case Sum::kRatio:
      return output == nullptr ? extents.Longest()
                               : Ratio(extents.Elements(*first), extents.Elements(*output));
    case Sum::kAttention: {
      const double width = extents.Last(*first);
      if (second == nullptr || second->shape_size < 2) return width;
      return std::max(width, static_cast<double>(extents.Of(*second)[second->shape_size - 2]));
    }
    case Sum::kUnknown: break;
  }
  return extents.Longest();
}

/// Gradients of what was broadcast are sums; those of weights run over all rows.
double BackwardLength(Sum sum, const Extents& extents) {
  const Value* gradient = extents.Tensor(Section::kInput, 0);
  if (gradient == nullptr) return extents.Longest();
  double length = sum == Sum::kNone ? 1 : extents.Longest();
  const double elements = extents.Elements(*gradient);
  if (sum != Sum::kNone) return std::max(length, Ratio(elements, extents.Last(*gradient)));
  for (size_t i = 0;; ++i) {
    const Value* made = extents.Tensor(Section::kOutput, i);
    if (made == nullptr) return length;
    length = std::max(length, Ratio(elements, extents.Elements(*made)));
  }
}

}  // namespace

double ReductionLength(const graph::Node& node, const Record& record) {
  const Extents extents(record);
  if (node.children_size > 0 || node.direction == dump::Direction::kParametersGrad) {
    return extents.Longest();
  }
  const auto found = SumsByApi().find(Operation(node));
  const Sum sum = found == SumsByApi().end() ? Sum::kUnknown : found->second;
  const double length = node.direction == dump::Direction::kBackward ? BackwardLength(sum, extents)
                                                                     : ForwardLength(sum, extents);
  return std::max(1.0, length);
}

}  // namespace msprobe::compare
