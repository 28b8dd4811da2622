#include <optional>
#include <tuple>
#include <unordered_map>

#include "graph/node_name.h"
#include "graph/pairing.h"
#include "graph/path_map.h"

namespace msprobe::graph {
namespace {

using dump::Direction;

size_t Mix(size_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL; }

/// One call of one module, whatever its class is.
struct ModuleKey {
  uint32_t path;
  Direction direction;
  int64_t call;
  bool operator==(const ModuleKey&) const = default;
};

/// Where an API was called: inside a node, or at the top level behind a module.
struct Scope {
  NodeId node = kNoNode;
  bool behind = false;
  bool operator==(const Scope&) const = default;
};

/// The calls of one API inside one scope.
struct ApiKey {
  Scope scope;  ///< golden
  std::string_view api;
  Direction direction;
  bool operator==(const ApiKey&) const = default;
};

struct KeyHash {
  size_t operator()(const ModuleKey& key) const {
    return Mix(Mix(Mix(0, key.path), static_cast<uint64_t>(key.direction)),
               static_cast<uint64_t>(key.call));
  }
  size_t operator()(const ApiKey& key) const {
    const uint64_t scope = 2 * uint64_t{key.scope.node} + (key.scope.behind ? 1 : 0);
    return Mix(Mix(std::hash<std::string_view>()(key.api), scope),
               static_cast<uint64_t>(key.direction));
  }
};

class ScopeMatcher {
 public:
  ScopeMatcher(const MatchOptions& options, Pairing* pairing)
      : options_(options),
        pairing_(*pairing),
        target_(pairing->target()),
        golden_(pairing->golden()) {}

  void Run() {
    options_.use_mapping ? PairModulesByPath() : PairModulesByName();
    if (options_.fuzzy) CheckShapes(NodeKind::kModule);
    PairApis();
    if (options_.fuzzy) CheckShapes(NodeKind::kApi);
  }

 private:
  static bool IsApi(const Node& node) { return node.kind == NodeKind::kApi; }
  static bool IsCollection(const Node& node) { return node.kind == NodeKind::kApiCollection; }

  void PairIfNamed(NodeId id) {
    const NodeId partner = golden_.Find(target_.nodes[id].name);
    if (partner == kNoNode || IsApi(golden_.nodes[partner])) return;
    // The number of a collection says nothing: one call more in front shifts all that follow.
    if (IsCollection(golden_.nodes[partner])) return;
    if (pairing_.is_free(partner)) pairing_.Link(id, partner);
  }

  void PairModulesByName() {
    for (NodeId id = 1; id < target_.nodes.size(); ++id) {
      if (!IsApi(target_.nodes[id])) PairIfNamed(id);
    }
  }

  void PairModulesByPath() {
    const PathTree target_paths(target_);
    const PathTree golden_paths(golden_);
    PathMap map(target_paths, golden_paths, options_.mapping);
    pairing_.match().applied_rules = std::move(map.applied_rules);
    std::unordered_map<ModuleKey, NodeId, KeyHash> golden_modules;
    golden_modules.reserve(golden_paths.size());
    const auto key = [](const Node& node, uint32_t path) {
      return ModuleKey{path, node.direction, ParseNodeName(node.name).call};
    };
    for (NodeId id = 1; id < golden_.nodes.size(); ++id) {
      const uint32_t path = golden_paths.path_of(id);
      if (path != PathTree::kNoPath) golden_modules.try_emplace(key(golden_.nodes[id], path), id);
    }
    const auto pair_by_path = [&](bool renamed) {
      for (NodeId id = 1; id < target_.nodes.size(); ++id) {
        const uint32_t path = target_paths.path_of(id);
        if (path == PathTree::kNoPath || map.golden[path] == PathTree::kNoPath) continue;
        if (map.renamed[path] != renamed) continue;
        const auto it = golden_modules.find(key(target_.nodes[id], map.golden[path]));
        if (it == golden_modules.end() || !pairing_.is_free(it->second)) continue;
        pairing_.Link(id, it->second);
        pairing_.match().by_mapping[id] = !options_.fuzzy || renamed;
      }
    };
    pair_by_path(true);  // what a rule says goes before what only happens to have the same name
    pair_by_path(false);
    for (NodeId id = 1; id < target_.nodes.size(); ++id) {
      if (!IsApi(target_.nodes[id]) && target_paths.path_of(id) == PathTree::kNoPath) {
        PairIfNamed(id);  // groups
      }
    }
  }

  /// A mapping also bridges prefixes: Torch.gelu is Functional.gelu elsewhere.
  std::string_view ApiName(const NodeName& name) const {
    return options_.use_mapping ? name.api : name.api_id;
  }

  /// Of what stands at the top level, APIs and collections: the last module in front of it that has
  /// a partner there; the root where there is none. Whether a run of calls is a collection, and
  /// which number it has, depends on calls that may be missing on the other side.
  template <class Partner>
  static std::vector<NodeId> ModulesInFront(const Graph& graph, const Graph& other,
                                            const Partner& partner_of) {
    std::vector<NodeId> in_front(graph.nodes.size(), kNoNode);
    NodeId last = kRootNode;
    for (const NodeId id : graph.children(kRootNode)) {
      if (IsApi(graph.nodes[id]) || IsCollection(graph.nodes[id])) {
        in_front[id] = last;
        continue;
      }
      const NodeId partner = partner_of(id);
      if (partner != kNoNode && other.nodes[partner].parent == kRootNode) last = id;
    }
    return in_front;
  }

  static Scope ScopeOf(const Graph& graph, const std::vector<NodeId>& in_front, NodeId api) {
    const NodeId parent = graph.nodes[api].parent;
    if (parent == kRootNode) return {in_front[api], true};
    if (IsCollection(graph.nodes[parent])) return {in_front[parent], true};
    return {parent, false};
  }

  /// Inside two matched scopes the n-th call of an API belongs to the n-th call of the same one.
  void PairApis() {
    struct Queue {
      NodeId first;
      NodeId last;
    };
    std::unordered_map<ApiKey, Queue, KeyHash> queues;
    queues.reserve(golden_.nodes.size() / 2);
    std::vector<NodeId> next(golden_.nodes.size(), kNoNode);
    const std::vector<NodeId> target_front =
        ModulesInFront(target_, golden_, [this](NodeId id) { return pairing_.golden_of(id); });
    const std::vector<NodeId> golden_front = ModulesInFront(
        golden_, target_, [this](NodeId id) { return pairing_.match().target_of_golden[id]; });
    for (const NodeId id : EntryOrder(golden_)) {
      const Node& node = golden_.nodes[id];
      if (!IsApi(node)) continue;
      const NodeName name = ParseNodeName(node.name);
      const auto [it, is_new] = queues.try_emplace(
          {ScopeOf(golden_, golden_front, id), ApiName(name), name.direction}, Queue{id, id});
      if (is_new) continue;
      next[it->second.last] = id;
      it->second.last = id;
    }
    Match& match = pairing_.match();
    for (const NodeId id : EntryOrder(target_)) {
      const Node& node = target_.nodes[id];
      if (!IsApi(node)) continue;
      Scope scope = ScopeOf(target_, target_front, id);
      scope.node = pairing_.golden_of(scope.node);
      if (scope.node == kNoNode) {
        match.target_reason[id] = MatchReason::kParentUnmatched;
        continue;
      }
      const NodeName name = ParseNodeName(node.name);
      const auto it = queues.find({scope, ApiName(name), name.direction});
      if (it == queues.end() || it->second.first == kNoNode) continue;
      const NodeId partner = it->second.first;
      it->second.first = next[partner];
      pairing_.Link(id, partner);
      match.by_mapping[id] = options_.use_mapping && !options_.fuzzy;
    }
    PairCollections();
    ExplainFreeApis();
  }

  /// A collection belongs to the one that holds the partners of its calls.
  void PairCollections() {
    for (const NodeId id : target_.children(kRootNode)) {
      if (!IsCollection(target_.nodes[id])) continue;
      const NodeId partner = pairing_.PartnersParent(id);
      if (partner == kNoNode || !IsCollection(golden_.nodes[partner])) continue;
      if (pairing_.is_free(partner)) pairing_.Link(id, partner);
    }
  }

  void ExplainFreeApis() {
    Match& match = pairing_.match();
    for (NodeId id = 1; id < golden_.nodes.size(); ++id) {
      const Node& node = golden_.nodes[id];
      if (!IsApi(node) || !pairing_.is_free(id)) continue;
      if (pairing_.is_free(node.parent) && !IsCollection(golden_.nodes[node.parent])) {
        match.golden_reason[id] = MatchReason::kParentUnmatched;
      }
      const NodeId namesake = target_.Find(node.name);
      if (namesake != kNoNode && match.target_reason[namesake] == MatchReason::kNoSuchName) {
        pairing_.Reject(namesake, id, MatchReason::kOtherParent);
      }
    }
  }

  void CheckShapes(NodeKind kind) {
    std::vector<NodeId> linked;
    for (NodeId id = 1; id < target_.nodes.size(); ++id) {
      const bool wanted = target_.nodes[id].kind == kind && !pairing_.match().by_mapping[id];
      if (wanted && pairing_.golden_of(id) != kNoNode) linked.push_back(id);
    }
    pairing_.Check(linked, RecordRule::kShapesInCommon, options_,
                   [&](NodeId id, MatchReason reason) {
                     pairing_.Reject(id, pairing_.golden_of(id), reason);
                   });
  }

  const MatchOptions& options_;
  Pairing& pairing_;
  const Graph& target_;
  const Graph& golden_;
};

}  // namespace

void MatchByScope(const MatchOptions& options, Pairing* pairing) {
  ScopeMatcher(options, pairing).Run();
}

}  // namespace msprobe::graph
