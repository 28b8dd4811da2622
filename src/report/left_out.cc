#include "report/left_out.h"

#include <string_view>

namespace msprobe::report {

namespace {

using compare::NodeStatus;

/// The reasons of compare/node_compare.cc; the golden case table/left_out sees that they stay so.
bool SaysSo(NodeStatus status, std::string_view reason) {
  // No warning of its own: what both sides recorded was compared.
  const bool fine = status == NodeStatus::kPass || status == NodeStatus::kWarning;
  if (fine && reason.find("compared only in part: ") != std::string_view::npos) return true;
  return status == NodeStatus::kWarning &&
         (reason.starts_with("not compared: ") || reason.starts_with("golden has no such ") ||
          reason.starts_with("golden has parameters that target does not have"));
}

}  // namespace

bool IsLeftOut(const compare::Comparison& comparison, const compare::ValueResult& value) {
  return SaysSo(value.status, comparison.reasons[value.reason]);
}

bool IsLeftOut(const compare::Comparison& comparison, const compare::NodeResult& node) {
  return SaysSo(node.status, comparison.reasons[node.reason]);
}

}  // namespace msprobe::report
