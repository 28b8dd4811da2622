#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "graph/match.h"

namespace msprobe::graph {

/// All module paths of one graph as a tree of their parts ("encoder", "layers", "0").
class PathTree {
 public:
  static constexpr uint32_t kNoPath = UINT32_MAX;
  static constexpr uint32_t kRoot = 0;

  explicit PathTree(const Graph& graph);

  uint32_t path_of(NodeId node) const { return path_of_node_[node]; }  ///< kNoPath: no module
  size_t size() const { return parts_.size(); }
  uint32_t parent(uint32_t path) const { return parents_[path]; }  ///< below `path`, as an id
  std::string_view part(uint32_t path) const { return parts_[path]; }
  std::string_view class_name(uint32_t path) const { return classes_[path]; }

  /// The path `relative` below `from`, kNoPath if the graph has none.
  uint32_t Find(uint32_t from, std::string_view relative) const;

 private:
  struct Key {
    uint32_t parent;
    std::string_view part;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()(key.part) ^ (key.parent * 0x9E3779B97F4A7C15ULL);
    }
  };

  uint32_t Add(std::string_view path);

  std::unordered_map<Key, uint32_t, KeyHash> children_;
  std::vector<uint32_t> parents_ = {kNoPath};
  std::vector<std::string_view> parts_ = {{}};
  std::vector<std::string_view> classes_ = {"TopLayer"};
  std::vector<uint32_t> path_of_node_;
};

/// Where the paths of the target lie in the golden graph, by the rules of a layer mapping.
struct PathMap {
  PathMap(const PathTree& target, const PathTree& golden, const LayerMapping& mapping);

  std::vector<uint32_t> golden;  ///< by target path; kNoPath: golden has no such path
  std::vector<bool> renamed;     ///< by target path: a rule applied to it or to a path above it
  /// By number of the rule: both of its paths were found. A rule that another one overrules counts.
  std::vector<bool> applied_rules;
};

}  // namespace msprobe::graph
