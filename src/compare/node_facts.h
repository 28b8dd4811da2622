#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/reason_table.h"
#include "compare/tolerance.h"
#include "dump/record.h"
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
  bool has_integers = false;    ///< whole numbers or bools that could be compared
  bool is_collective = false;
  bool outputs_equal = true;               ///< all outputs that are tensors, as far as is recorded
  bool argument_is_number = false;         ///< the scalar argument that differs most
  bool dtypes_differ = false;              ///< some tensor has another dtype than golden's
  graph::NodeId forward = graph::kNoNode;  ///< the call whose gradients or parameters' ones it made
  DType dtype = DType::kUnknown;  ///< the coarsest that took part: on both sides, inside it as well
  double reduction = 1;           ///< terms of its longest sum
  double tolerance = 0;           ///< errors up to this are rounding
  double parameter_tolerance = 0;  ///< the same for those of parameters
  double error_in = 0;
  double error_out = 0;
  double parameter_error = 0;
  double integer_error = 0;                     ///< of all whole numbers, inputs or not
  double argument_error = 0;                    ///< of scalar arguments: see ArgumentError();
                                                ///< finished: of those that no rule excuses
  double argument_tolerance = 0;                ///< numbers nearer than that are the same argument
  uint32_t differing_argument = 0;              ///< into FactTable::texts: ArgumentText()
  uint32_t differing_parameter = 0;             ///< into FactTable::texts: the first that is about
                                                ///< as far off as any
  uint32_t inputs_begin = 0, inputs_end = 0;    ///< into FactTable::uses: differing inputs only
  uint32_t outputs_begin = 0, outputs_end = 0;  ///< all outputs
  uint32_t arguments_begin = 0, arguments_end = 0;  ///< into FactTable::arguments

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
  struct Argument {
    uint32_t value;  ///< of the target's record
    uint32_t name;   ///< into texts: ArgumentName()
    uint32_t text;   ///< into texts: ArgumentText()
    bool is_number;  ///< on both sides
    double error;    ///< ArgumentError()
  };
  std::vector<Argument> arguments;  ///< scalar ones that differ, also by their spelling only
  ReasonTable texts;                ///< names of some of them, and differing arguments

  const std::string& DifferingParameter(graph::NodeId id) const {
    return texts.text(nodes[id].differing_parameter);
  }
  const std::string& DifferingArgument(graph::NodeId id) const {
    return texts.text(nodes[id].differing_argument);
  }
};

/// Notes the facts of nodes as they are compared, from their records.
class FactGatherer {
 public:
  /// Both are kept by reference. Of the comparison only its mode, graphs and match are used.
  FactGatherer(const Comparison& comparison, FactTable* table)
      : comparison_(comparison), table_(*table) {}

  /// The next node. `record`: the target's, null where there is none that can be read; `golden`: of
  /// its partner, empty where there is none. `results`: by value of `record`; empty for nodes
  /// without a partner.
  void Add(graph::NodeId id, const dump::Record* record, const dump::Record& golden,
           std::span<const ValueResult> results);

 private:
  void NoteSizes(graph::NodeId id, const dump::Record& golden);
  double GradientPeak() const;
  void Measure(const dump::Record& golden);
  void NoteArgument(uint32_t place, const dump::Value& value, const dump::Value& golden);
  void Note(const dump::Value& value, const dump::Value& golden, dump::Section section,
            double error);
  void AddUses(graph::NodeId id);

  const Comparison& comparison_;
  FactTable& table_;
  NodeFacts* facts_ = nullptr;
  const dump::Record* record_ = nullptr;
  const ValueResult* results_ = nullptr;
  std::vector<double> errors_;
};

/// Puts a part behind those before it.
void AppendFacts(FactTable part, FactTable* table);

/// What can only be said when all nodes are known: tolerances, and which errors are above them.
/// `profile` may be null.
void FinishFacts(const Comparison& comparison, size_t threads, const ToleranceProfile* profile,
                 FactTable* table);

/// Reads the target's records once more. The same for any number of threads.
FactTable GatherFacts(const Comparison& comparison, size_t threads,
                      const ToleranceProfile* profile);

/// The facts that comparing has gathered, finished; else GatherFacts().
FactTable TakeFacts(Comparison* comparison, size_t threads, const ToleranceProfile* profile);

/// Inputs of the target's node, also those that agree.
std::vector<TensorUse> AllInputs(const Comparison& comparison, graph::NodeId id);
/// The error of all that goes into a node: gradients are computed from the forward as well, those
/// of parameters from what goes into backward.
double InputError(const graph::Graph& graph, const FactTable& facts, graph::NodeId id);

/// Golden's partner is a call of the same API with the same tensors, but with another scalar.
bool TakesOtherArgument(const Comparison& comparison, const NodeFacts& facts, graph::NodeId id);

/// Fingerprints of golden's data in the places of the outputs of the target's node; 0: nothing to
/// tell it by. Empty if a record cannot be read.
std::vector<uint64_t> GoldenOutputs(const Comparison& comparison, graph::NodeId id);

/// False, and an empty record, where there is none that can be read.
bool ReadRecordOf(const graph::Graph& graph, graph::NodeId id, dump::Record* record);

/// Inputs of the target's node that are bool or integers, also those that agree.
std::vector<TensorUse> WholeNumberInputs(const Comparison& comparison, graph::NodeId id);

}  // namespace msprobe::compare
