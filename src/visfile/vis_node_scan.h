#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "formats/json/json_scanner.h"
#include "graph/graph.h"

namespace msprobe::visfile {

/// What the index needs of one node object of a `.vis`; names are still escaped.
struct ScannedNode {
  std::string_view parent;
  std::string_view partner;  ///< last of matched_node_link; empty: unmatched
  graph::NodeKind kind = graph::NodeKind::kModule;
  graph::OverflowLevel overflow = graph::OverflowLevel::kNone;
  int32_t micro_step = 0;
  std::optional<float> precision_index;
  std::optional<float> own_index;  ///< msprobe.index
  std::optional<compare::NodeStatus> status;
  compare::Role role = compare::Role::kNone;
};

/// Reads the members of the node object that the scanner has entered. False: damaged.
bool ScanVisNode(formats::JsonScanner* members, ScannedNode* node);

std::optional<compare::NodeStatus> ParseNodeStatus(std::string_view word);
compare::Role ParseRole(std::string_view word);
graph::OverflowLevel ParseOverflow(std::string_view word);
graph::NodeKind ParseKind(std::string_view number);

}  // namespace msprobe::visfile
