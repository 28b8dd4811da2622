#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/tolerance.h"
#include "tensor/dtype.h"

namespace msprobe::compare {

/// A tensor that a node took or made. Equal fingerprints on the target side: the same data.
struct TensorUse {
  uint64_t fingerprint = 0;  ///< 0: nothing to tell it by
  /// The same for every reshaped or transposed view of the data; 0: nothing to tell it by. Then
  /// the norms must be equal up to the rounding of another order of summation.
  uint64_t view_fingerprint = 0;
  double norm = 0;
  double error = 0;  ///< against golden
};

/// What one node's values say about where an error came in.
struct NodeFacts {
  bool compared = false;  ///< matched, readable, and some value could be compared
  bool inputs_differ = false;
  bool parameters_differ = false;
  bool outputs_differ = false;
  bool inputs_unknown = false;  ///< some tensor input could not be compared
  bool has_inputs = false;      ///< tensors, parameters not counted
  bool is_collective = false;
  graph::NodeId forward = graph::kNoNode;  ///< the call whose gradients or parameters' ones it made
  DType dtype = DType::kUnknown;  ///< the coarsest that took part: on both sides, inside it as well
  double reduction = 1;           ///< terms of its longest sum
  double tolerance = 0;           ///< errors up to this are rounding
  double error_in = 0;
  double error_out = 0;
  double parameter_error = 0;
  std::string differing_parameter;              ///< the first that is about as far off as any
  uint32_t inputs_begin = 0, inputs_end = 0;    ///< into FactTable::uses: differing inputs only
  uint32_t outputs_begin = 0, outputs_end = 0;  ///< all outputs

  bool differs() const { return inputs_differ || parameters_differ || outputs_differ; }
};

struct FactTable {
  std::vector<NodeFacts> nodes;  ///< by target node
  std::vector<TensorUse> uses;
  struct Parameter {
    uint64_t fingerprint;
    graph::NodeId node;
    double error;
  };
  std::vector<Parameter> differing_parameters;  ///< by how little so ever
};

/// Reads the target's records once. The same for any number of threads. `profile` may be null.
FactTable GatherFacts(const Comparison& comparison, size_t threads,
                      const ToleranceProfile* profile);

/// Inputs of the target's node that are bool or integers, also those that agree.
std::vector<TensorUse> WholeNumberInputs(const Comparison& comparison, graph::NodeId id);

}  // namespace msprobe::compare
