#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dump/record.h"
#include "graph/graph.h"

namespace msprobe::graph {

/// The parts of a node id. Views point into the id.
///   Module.{path}.{Class}.{forward|backward|parameters_grad}[.{call}]
///   {Prefix}.{api}.{call}.{forward|backward}
struct NodeName {
  NodeKind kind = NodeKind::kApi;
  bool known_prefix = true;
  dump::Direction direction = dump::Direction::kOther;
  std::string_view prefix;      ///< "Module", "Functional"; the whole id if it has no dot
  std::string_view path;        ///< modules: attribute path inside the model
  std::string_view class_name;  ///< modules
  std::string_view api;         ///< APIs: name without prefix and call number
  std::string_view api_id;      ///< APIs: "{Prefix}.{api}"
  int64_t call = -1;            ///< -1: the id has no call number
  size_t direction_begin = 0;   ///< where "forward" stands in the id
  size_t direction_size = 0;
};

NodeName ParseNodeName(std::string_view id);

/// The id of the same call in the other direction; empty if `id` is neither forward nor backward.
std::string ForwardOf(std::string_view id, const NodeName& name);
std::string BackwardOf(std::string_view id, const NodeName& name);

/// True if a module with the path `outer` can contain one with the path `inner`.
bool IsPathPrefix(std::string_view outer, std::string_view inner);

}  // namespace msprobe::graph
