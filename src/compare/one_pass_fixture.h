#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "compare/comparison.h"
#include "compare/node_facts.h"
#include "graph/graph.h"
#include "graph/match.h"

namespace msprobe::compare {

/// What a test looks at.
struct TestResult {
  Comparison comparison;
  std::vector<base::Diagnostic> diagnostics;

  const NodeResult& node(const std::string& name) const {
    const graph::NodeId id = comparison.target->Find(name);
    EXPECT_NE(id, graph::kNoNode) << name;
    return comparison.nodes[id == graph::kNoNode ? 0 : id];
  }
  const ValueResult& value(const std::string& name, size_t index) const {
    return comparison.values[node(name).values_begin + index];
  }
  const std::string& reason(const std::string& name) const {
    return comparison.reasons[node(name).reason];
  }
};

using GraphPointer = std::shared_ptr<const graph::Graph>;

inline TestResult CompareGraphs(const GraphPointer& target, const GraphPointer& golden,
                                const graph::MatchOptions& match_options,
                                const CompareOptions& options) {
  base::Diagnostics diagnostics;
  auto match = graph::MatchGraphs(*target, *golden, match_options);
  EXPECT_TRUE(match.ok());
  const CompareMode mode = ChooseMode(*target->dump, *golden->dump, &diagnostics);
  auto comparison = Compare(target, golden, std::move(*match), mode, options, &diagnostics);
  EXPECT_TRUE(comparison.ok());
  return {std::move(*comparison), diagnostics.entries()};
}

/// Everything about nodes, values and facts as text.
inline std::string ShownInFull(const Comparison& comparison) {
  std::ostringstream text;
  for (size_t id = 0; id < comparison.nodes.size(); ++id) {
    const NodeResult& node = comparison.nodes[id];
    const graph::Match& match = comparison.match;
    text << id << " with " << match.golden_of_target[id] << " why "
         << static_cast<int>(match.target_reason[id]) << match.mismatched[id] << " is "
         << node.index << " " << node.worst_below << " " << node.worst_count << " "
         << NodeStatusName(node.status) << " " << comparison.reasons[node.reason] << "\n";
    for (uint32_t i = 0; i < node.values_size; ++i) {
      const ValueResult& value = comparison.values[node.values_begin + i];
      for (const double metric : value.metrics) text << " " << metric;
      text << " " << value.golden_value << value.md5_compared << value.md5_equal << value.unreadable
           << value.by_statistics << value.nan_on_both_sides << value.requires_grad_equal << " "
           << NodeStatusName(value.status) << " " << comparison.reasons[value.reason] << "\n";
    }
  }
  for (size_t id = 0; id < comparison.match.target_of_golden.size(); ++id) {
    text << id << " of " << comparison.match.target_of_golden[id] << " why "
         << static_cast<int>(comparison.match.golden_reason[id]) << "\n";
  }
  return text.str();
}

inline std::string ShownInFull(const FactTable& facts) {
  std::ostringstream text;
  for (const NodeFacts& node : facts.nodes) {
    text << node.compared << node.inputs_differ << node.parameters_differ << node.outputs_differ
         << node.inputs_unknown << node.has_inputs << node.is_collective << " " << node.forward
         << " " << static_cast<int>(node.dtype) << " " << node.reduction << " " << node.tolerance
         << " " << node.error_in << " " << node.error_out << " " << node.parameter_error << " "
         << facts.texts.text(node.differing_parameter) << " " << node.argument_error
         << node.outputs_equal << " " << facts.texts.text(node.differing_argument) << " "
         << node.inputs_begin << " " << node.inputs_end << " " << node.outputs_begin << " "
         << node.outputs_end << "\n";
  }
  for (const TensorUse& use : facts.uses) {
    text << use.fingerprint << " " << use.view_fingerprint << " " << use.norm << " " << use.error
         << "\n";
  }
  for (const FactTable::Parameter& parameter : facts.differing_parameters) {
    text << parameter.fingerprint << " " << parameter.node << " " << parameter.error << "\n";
  }
  return text.str();
}

/// Compares in one pass over the records, and shows that passes of their own for matching and for
/// the facts find the same.
inline TestResult CompareInOnePass(const GraphPointer& target, const GraphPointer& golden,
                                   graph::MatchOptions match_options, size_t threads) {
  CompareOptions options;
  options.threads = threads;
  const TestResult apart = CompareGraphs(target, golden, match_options, options);
  match_options.leave_records = options.gather_facts = true;
  TestResult result = CompareGraphs(target, golden, match_options, options);
  EXPECT_EQ(ShownInFull(result.comparison), ShownInFull(apart.comparison));
  if (result.comparison.facts != nullptr) {
    FactTable facts = *result.comparison.facts;
    FinishFacts(result.comparison, threads, nullptr, &facts);
    EXPECT_EQ(ShownInFull(facts), ShownInFull(GatherFacts(apart.comparison, threads, nullptr)));
  }
  return result;
}

}  // namespace msprobe::compare
