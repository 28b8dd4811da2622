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
  std::string_view partner;   ///< last of matched_node_link; empty: unmatched
  std::string_view children;  ///< the list subnodes
  std::string_view shape;     ///< of the first output; empty: none
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

/// Shape of the first value of an output_data object, still escaped; empty: none.
std::string_view FirstShape(std::string_view output_data);

/// Calls take(string) for every string of a JSON list of strings, still escaped. `list` must be
/// followed by 64 readable bytes.
template <class Take>
void ForEachString(std::string_view list, const Take& take) {
  using Step = formats::JsonScanner::Step;
  if (list.empty() || list[0] != '[') return;
  formats::JsonScanner strings(list, 0);
  for (Step step = strings.Next(); step != Step::kEnd; step = strings.Next()) {
    std::string_view value;
    if (step != Step::kMember || strings.TakeValue(&value) != Step::kMember) return;
    if (value.size() >= 2 && value.front() == '"') take(value.substr(1, value.size() - 2));
  }
}

std::optional<compare::NodeStatus> ParseNodeStatus(std::string_view word);
compare::Role ParseRole(std::string_view word);
graph::OverflowLevel ParseOverflow(std::string_view word);
graph::NodeKind ParseKind(std::string_view number);

}  // namespace msprobe::visfile
