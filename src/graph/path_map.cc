#include "graph/path_map.h"

#include <algorithm>
#include <string>

#include "graph/node_name.h"

namespace msprobe::graph {
namespace {

/// Takes the first part off `*path`.
std::string_view NextPart(std::string_view* path) {
  const size_t dot = path->find('.');
  const std::string_view part = path->substr(0, dot);
  path->remove_prefix(dot == std::string_view::npos ? path->size() : dot + 1);
  return part;
}

}  // namespace

PathTree::PathTree(const Graph& graph) : path_of_node_(graph.nodes.size(), kNoPath) {
  std::string_view last_path;
  uint32_t last = kRoot;
  for (NodeId id = 1; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].kind != NodeKind::kModule) continue;
    const NodeName name = ParseNodeName(graph.nodes[id].name);
    if (name.direction == dump::Direction::kOther) continue;
    if (name.path != last_path) {
      last_path = name.path;
      last = Add(name.path);
    }
    path_of_node_[id] = last;
    if (last != kRoot && classes_[last].empty()) classes_[last] = name.class_name;
  }
}

uint32_t PathTree::Add(std::string_view path) {
  uint32_t at = kRoot;
  while (!path.empty()) {
    const std::string_view part = NextPart(&path);
    const auto [it, is_new] =
        children_.try_emplace({at, part}, static_cast<uint32_t>(parts_.size()));
    if (is_new) {
      parents_.push_back(at);
      parts_.push_back(part);
      classes_.emplace_back();
    }
    at = it->second;
  }
  return at;
}

uint32_t PathTree::Find(uint32_t from, std::string_view relative) const {
  uint32_t at = from;
  while (!relative.empty() && at != kNoPath) {
    const auto it = children_.find({at, NextPart(&relative)});
    at = it == children_.end() ? kNoPath : it->second;
  }
  return at;
}

PathMap::PathMap(const PathTree& target, const PathTree& golden_tree, const LayerMapping& mapping)
    : golden(target.size(), PathTree::kNoPath), renamed(target.size(), false) {
  std::vector<bool> by_rule(target.size(), false);
  golden[PathTree::kRoot] = PathTree::kRoot;
  // Ids grow downwards, so that a path is settled before those below it. Of two rules for one
  // path that of the outer class counts.
  for (uint32_t path = 0; path < target.size(); ++path) {
    if (path != PathTree::kRoot && !by_rule[path]) {
      const uint32_t parent = target.parent(path);
      renamed[path] = renamed[parent];
      if (golden[parent] != PathTree::kNoPath) {
        golden[path] = golden_tree.Find(golden[parent], target.part(path));
      }
    }
    if (mapping.by_class.empty() || target.class_name(path).empty()) continue;
    const auto rules = mapping.by_class.find(std::string(target.class_name(path)));
    if (rules == mapping.by_class.end()) continue;
    for (const LayerMapping::Rule& rule : rules->second) {
      const uint32_t inner = target.Find(path, rule.target_path);
      if (inner == PathTree::kNoPath) continue;
      const uint32_t partner = golden[path] == PathTree::kNoPath
                                   ? PathTree::kNoPath
                                   : golden_tree.Find(golden[path], rule.golden_path);
      if (partner != PathTree::kNoPath) {
        if (applied_rules.size() <= rule.number) applied_rules.resize(rule.number + 1);
        applied_rules[rule.number] = true;
      }
      if (by_rule[inner]) continue;
      by_rule[inner] = true;
      renamed[inner] = true;
      golden[inner] = partner;
    }
  }
}

}  // namespace msprobe::graph
