#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace msprobe::graph {

/// Words of both graphs as numbers, so that nodes are compared without touching text.
class WordTable {
 public:
  uint32_t Intern(std::string_view word);

 private:
  std::unordered_map<std::string, uint32_t> ids_;
};

/// A tensor as another stack may show it: transposed, or with two dimensions made one.
struct TensorTrait {
  enum class Kind : uint8_t { kOther, kBool, kInteger, kFloat, kComplex };
  bool known = false;
  Kind kind = Kind::kOther;
  bool has_numbers = false;
  uint64_t elements = 0;
  uint64_t extents = 0;  ///< hash of the dimensions in any order, ones left out
  int64_t last = 0;      ///< last dimension
  double max = 0, min = 0, norm = 0;
};

/// What a forward node is, whatever it is called. Words are interned.
struct NodeTraits {
  uint32_t id_word = 0;  ///< modules: class; APIs: "Functional.linear"
  uint32_t family = 0;   ///< modules: "linear", "norm" … or the class; APIs: bare name
  uint32_t name = 0;     ///< modules: last part of the path
  uint32_t path = 0;     ///< modules: all of the path
  int64_t layer = -1;    ///< modules: last number in the path
  bool known_family = false;
  bool moves_data_only = false;  ///< APIs: view, transpose …
  bool is_wrapper = false;       ///< modules: a class that only passes calls on
  uint32_t modules_below = 0;    ///< forward modules in the subtree, without itself
  uint64_t own_weights = 0;      ///< elements
  uint64_t weights = 0;          ///< with those below
  uint64_t weights_before = 0;   ///< of all modules entered earlier: its place, however nested
  TensorTrait input;  ///< the first tensor; APIs: the largest, operands may change places
  TensorTrait output;
};

/// By node; only forward modules and APIs are filled. Reads every record once, in parallel.
std::vector<NodeTraits> ReadTraits(const Graph& graph, WordTable* words, size_t threads,
                                   const base::CancelToken* cancel);

/// How sure it is that two nodes are the same thing, from kinds, shapes, weights and numbers: 0
/// (they cannot be) … 1. Where they stand is for the caller to see.
float ModuleLikeness(const NodeTraits& target, const NodeTraits& golden);
float ApiLikeness(const NodeTraits& target, const NodeTraits& golden);

/// The same for projections of one input on one side and their concatenation on the other.
/// Modules without weights may stand between the parts.
float FusedLikeness(const std::vector<const NodeTraits*>& parts, const NodeTraits& whole);

/// Below this nothing is paired.
inline constexpr float kLeastLikeness = 0.6F;

}  // namespace msprobe::graph
