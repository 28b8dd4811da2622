#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "base/string_arena.h"
#include "dump/name_index.h"
#include "dump/rank_dump.h"
#include "msprobe/status.h"

namespace msprobe::graph {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;
inline constexpr NodeId kRootNode = 0;
inline constexpr std::string_view kRootName = "DefaultModel";
inline constexpr std::string_view kUnplacedName = "Unplaced";

enum class NodeKind : uint8_t { kModule = 0, kApi = 1, kApiCollection = 9 };

enum class OverflowLevel : uint8_t { kNone, kMedium, kHigh, kCritical };

struct Node {
  std::string_view name;
  NodeKind kind = NodeKind::kModule;
  OverflowLevel overflow = OverflowLevel::kNone;
  bool is_backward = false;
  dump::Direction direction = dump::Direction::kOther;
  NodeId parent = kNoNode;
  dump::EntryId entry = dump::kNoEntry;  ///< record in the dump, if it has one
  dump::StackId stack = dump::kNoStack;
  int32_t micro_step = 0;
  uint32_t children_begin = 0;  ///< into Graph::child_ids
  uint32_t children_size = 0;
};

/// What this rank does in a collective, seen from one partner.
enum class Communication : uint8_t { kSendReceive, kSend, kReceive };
std::string_view CommunicationName(Communication communication);  // "send_receive", "send" …

/// A collective that another rank takes part in.
struct DistributedPeer {
  NodeId node;  ///< the collective on this rank
  int32_t peer_rank;
  std::string peer_name;  ///< its node on that rank
  Communication communication = Communication::kSendReceive;
};

/// Nodes by name; at most 48 bytes a node, names stay in the nodes.
class NodeIndex {
 public:
  /// The node of that name that is there already, else kNoNode after adding `id`.
  NodeId Insert(const std::vector<Node>& nodes, NodeId id);
  NodeId Find(const std::vector<Node>& nodes, std::string_view name) const;
  void Reserve(const std::vector<Node>& nodes, size_t capacity);

 private:
  dump::NameIndex slots_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// The hierarchy of one rank. Node 0 is the root; ids follow creation order (construct.json, nodes
/// that only dump.json knows, `Unplaced`, collections). Keeps the dump alive, so that records can
/// be read at any time.
struct Graph {
  std::shared_ptr<const dump::RankDump> dump;
  std::vector<Node> nodes;
  std::vector<NodeId> child_ids;
  NodeIndex index;
  int32_t micro_steps = 1;
  std::vector<DistributedPeer> distributed_peers;  ///< by node; filled by CollectiveLinker
  base::StringArena arena;                         ///< names that stand in no file

  std::span<const NodeId> children(NodeId id) const {
    return {child_ids.data() + nodes[id].children_begin, nodes[id].children_size};
  }
  NodeId Find(std::string_view name) const { return index.Find(nodes, name); }
  /// What CollectiveLinker found for one node.
  std::span<const DistributedPeer> peers(NodeId id) const;
};

struct BuildOptions {
  bool check_overflow = false;
  size_t threads = 1;
  const base::CancelToken* cancel = nullptr;
};

/// Errors: InvalidArgument (construct.json is empty), Corrupt, Cancelled.
Result<std::unique_ptr<Graph>> BuildGraph(std::shared_ptr<const dump::RankDump> dump,
                                          const BuildOptions& options,
                                          base::Diagnostics* diagnostics);

/// All nodes, every parent before its children.
std::vector<NodeId> ParentsFirst(const Graph& graph);

/// Nodes in the order in which they were entered, as construct.json has it: depth first, a parent
/// before its children. "Execution order" in everything that people read.
std::vector<NodeId> EntryOrder(const Graph& graph);

/// Nodes in the order in which they were left, when their outputs exist: depth first, a parent
/// after its children.
std::vector<NodeId> CompletionOrder(const Graph& graph);

/// What the viewers show of a node's stack: one line, or all with `complete`.
/// Backward nodes show the stack of their forward.
std::vector<std::string> StackLines(const Graph& graph, NodeId id, bool complete);

}  // namespace msprobe::graph
