#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/node_facts.h"
#include "compare/reason_table.h"
#include "compare/tensor_compare.h"
#include "compare/value_pairing.h"
#include "compare/verdict.h"
#include "dump/record.h"

namespace msprobe::compare {

/// What comparing some nodes makes. `values_begin` and `reason` of the results count from the start
/// of this part; parts are put together in their order, whatever thread made them.
struct NodeResults {
  std::vector<graph::NodeId> ids;
  std::vector<NodeResult> nodes;  ///< by position in `ids`
  std::vector<ValueResult> values;
  std::vector<stats::UlpCounts> ulps;  ///< as Comparison::ulps
  ReasonTable reasons;
  std::vector<base::Diagnostic> damaged;   ///< records and tensors
  std::vector<DamagedNode> damaged_nodes;  ///< as Comparison::damaged
  std::vector<graph::NodeId> huge;         ///< left out: compare them one at a time, see below
  /// Pairs of which only now is it known that they are none, or unlike.
  std::vector<std::pair<graph::NodeId, graph::MatchReason>> broken;
  FactTable facts;  ///< by position in `ids`, if they were gathered
};

/// Compares nodes by their own records; what depends on other nodes comes later.
class NodeComparer {
 public:
  struct Sides {
    const graph::Graph& target;
    const graph::Graph& golden;
    const graph::Match& match;
  };

  /// With `tensor_threads` > 0 every node is compared, with that many threads for one tensor.
  /// With 0, nodes that hold a huge tensor are put into NodeResults::huge instead.
  NodeComparer(const Sides& sides, CompareMode mode, size_t tensor_threads,
               const base::CancelToken* cancel, NodeResults* results);

  void Compare(graph::NodeId target_node);
  /// Of the node that was compared last, from the same records.
  void GatherFacts(graph::NodeId target_node, FactGatherer* gatherer);
  /// Of a node that only golden has, its record is looked at.
  void CheckGoldenOnly(graph::NodeId golden_node);

 private:
  bool ComparePair(graph::NodeId target_node, graph::NodeId golden_node, NodeResult* result);
  graph::MatchReason CheckPair(graph::NodeId target_node, bool readable);
  bool ReadRecords(graph::NodeId target, graph::NodeId golden, NodeResult* result);
  bool ReadRecord(bool golden, graph::NodeId id, dump::Record* record, std::string* damage);
  bool ReadAlone(bool golden, graph::NodeId id, dump::Record* record);
  bool HasHugeTensor() const;
  void CompareValues(NodeResult* result);
  void CompareValue(size_t index, ValueResult* result, Evidence* evidence);
  void CompareMeta(const dump::Value& target, const dump::Value& golden, ValueResult* result);
  bool SameShape(const dump::Value& target, const dump::Value& golden) const;
  void CompareTensor(const dump::Value& target, const dump::Value& golden, ValueResult* result,
                     Evidence* evidence);
  void CompareStatistics(const dump::Value& target, const dump::Value& golden, ValueResult* result,
                         Evidence* evidence);
  bool CompareNumbers(const dump::Value& target, const dump::Value& golden, ValueResult* result,
                      Evidence* evidence);
  void CompareChecksums(const dump::Value& target, const dump::Value& golden, ValueResult* result,
                        Evidence* evidence);
  void CompareElements(const dump::Value& target, const dump::Value& golden, ValueResult* result,
                       Evidence* evidence);
  void CompareWithoutFile(const dump::Value& target, const dump::Value& golden, ValueResult* result,
                          Evidence* evidence);
  void Judge(graph::NodeId node, NodeResult* result);
  void JudgeValues(NodeResult* result);
  void Raise(NodeStatus status, std::string_view reason, NodeResult* result);
  void Raise(NodeStatus status, std::string_view reason, ValueResult* result);
  void AddReason(std::string_view reason, ValueResult* result);

  Sides sides_;
  CompareMode mode_;
  size_t tensor_threads_;
  const base::CancelToken* cancel_;
  NodeResults& results_;
  bool by_mapping_ = false;
  bool golden_damaged_ = false;
  bool target_read_ = false;                                 ///< target_record_ is that of the node
  graph::MatchReason mismatch_ = graph::MatchReason::kNone;  ///< paired in spite of it
  dump::Record target_record_;
  dump::Record golden_record_;
  ValuePairs pairs_;
  std::vector<Evidence> evidence_;
};

}  // namespace msprobe::compare
