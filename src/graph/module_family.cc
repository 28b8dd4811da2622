#include "graph/module_family.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace msprobe::graph {
namespace {

std::string SmallLetters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

constexpr std::array<std::string_view, 14> kWrappers = {
    "distributeddataparallel",
    "dataparallel",
    "fullyshardeddataparallel",
    "fsdp",
    "optimizedmodule",
    "float16module",
    "bfloat16module",
    "checkpointwrapper",
    "offloadwrapper",
    "deepspeedengine",
    "pipelineparallel",
    "mixedprecisionmodel",
    "ddp",
    "activationwrapper",
};

/// Part of a class name in small letters, and the family it speaks of; the first one counts.
struct Word {
  std::string_view part;
  std::string_view family;
};
constexpr std::array kWords = {
    Word{"rotary", "rotary"},
    Word{"embedding", "embedding"},
    Word{"dropout", "dropout"},
    Word{"droppath", "dropout"},
    Word{"rmsnorm", "rms norm"},
    Word{"batchnorm", "batch norm"},
    Word{"groupnorm", "group norm"},
    Word{"layernorm", "layer norm"},
    Word{"loss", "loss"},
    Word{"crossentropy", "loss"},
    Word{"softmax", "softmax"},
    Word{"router", "router"},
    Word{"gating", "router"},
    Word{"decoderlayer", "layer"},
    Word{"encoderlayer", "layer"},
    Word{"transformerlayer", "layer"},
    Word{"attention", "attention"},
    Word{"feedforward", "mlp"},
    Word{"mlp", "mlp"},
    Word{"conv1d", ""},  // a linear layer in one stack, a convolution in the other
    Word{"conv2d", "convolution 2d"},
    Word{"conv3d", "convolution 3d"},
    Word{"linear", "linear"},
    Word{"gelu", "gelu"},
    Word{"silu", "silu"},
    Word{"swiglu", "swiglu"},
    Word{"relu", "relu"},
    Word{"sigmoid", "sigmoid"},
    Word{"tanh", "tanh"},
    Word{"pool", "pool"},
};

struct Alias {
  std::string_view api;
  std::string_view name;
};
constexpr std::array kAliases = {
    Alias{"bmm", "matmul"},
    Alias{"mm", "matmul"},
    Alias{"truediv", "div"},
    Alias{"true_divide", "div"},
    Alias{"divide", "div"},
    Alias{"iadd", "add"},
    Alias{"radd", "add"},
    Alias{"isub", "sub"},
    Alias{"subtract", "sub"},
    Alias{"imul", "mul"},
    Alias{"rmul", "mul"},
    Alias{"multiply", "mul"},
    Alias{"itruediv", "div"},
    Alias{"reshape", "view"},
    Alias{"swapaxes", "transpose"},
    Alias{"permute", "transpose"},
    Alias{"t", "transpose"},
    Alias{"concat", "cat"},
    Alias{"layer_norm", "layernorm"},
};

constexpr std::array<std::string_view, 30> kMoves = {
    "view",     "transpose", "contiguous", "expand",  "expand_as", "unsqueeze",
    "squeeze",  "flatten",   "unflatten",  "split",   "chunk",     "unbind",
    "getitem",  "narrow",    "select",     "to",      "float",     "half",
    "bfloat16", "type",      "type_as",    "clone",   "detach",    "repeat_interleave",
    "cat",      "stack",     "copy",       "setitem", "cpu",       "npu",
};

}  // namespace

ModuleFamily FamilyOf(std::string_view class_name) {
  ModuleFamily family;
  const std::string whole = SmallLetters(class_name);
  family.is_wrapper = std::ranges::find(kWrappers, whole) != kWrappers.end();
  // Fully sharded modules of torch ≥ 2.4 get a class of their own.
  const bool sharded = class_name.starts_with("FSDP") && class_name.size() > 4;
  family.class_name = std::string(sharded ? class_name.substr(4) : class_name);
  const std::string small = SmallLetters(family.class_name);
  family.name = small;
  for (const Word& word : kWords) {
    if (small.find(word.part) == std::string::npos) continue;
    if (word.family.empty()) break;
    family.name = word.family;
    family.is_known = true;
    break;
  }
  return family;
}

std::string BareApiName(std::string_view api) {
  while (api.starts_with('_')) api.remove_prefix(1);
  while (api.ends_with('_')) api.remove_suffix(1);
  const std::string name = SmallLetters(api);
  const auto* alias =
      std::ranges::find_if(kAliases, [&](const Alias& known) { return known.api == name; });
  return alias == kAliases.end() ? name : std::string(alias->name);
}

bool MovesDataOnly(std::string_view bare_name) {
  return std::ranges::find(kMoves, bare_name) != kMoves.end();
}

}  // namespace msprobe::graph
