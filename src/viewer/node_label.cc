#include "viewer/node_label.h"

#include "graph/node_name.h"

namespace msprobe::viewer {

namespace {

std::string_view DirectionLetter(dump::Direction direction) {
  switch (direction) {
    case dump::Direction::kForward: return "f";
    case dump::Direction::kBackward:
    case dump::Direction::kParametersGrad: return "b";
    case dump::Direction::kOther: return "";
  }
  return "";
}

}  // namespace

NodeLabel LabelOf(std::string_view name, std::string_view parent_name) {
  const graph::NodeName parts = graph::ParseNodeName(name);
  NodeLabel result;
  result.cls = parts.class_name;
  result.dir = DirectionLetter(parts.direction);
  if (parts.kind == graph::NodeKind::kModule && !parts.path.empty()) {
    std::string_view path = parts.path;
    const graph::NodeName parent = graph::ParseNodeName(parent_name);
    if (parent.kind == graph::NodeKind::kModule && !parent.path.empty() &&
        path.size() > parent.path.size() && graph::IsPathPrefix(parent.path, path)) {
      path.remove_prefix(parent.path.size() + 1);
    }
    result.label = path;
    if (parts.direction == dump::Direction::kParametersGrad) result.label += " gradients";
    if (parts.call > 0) result.label += " #" + std::to_string(parts.call);
  } else if (!parts.api_id.empty()) {
    result.label = parts.api_id;
    if (parts.call >= 0) result.label += "." + std::to_string(parts.call);
  } else {
    result.label = name;
  }
  return result;
}

}  // namespace msprobe::viewer
