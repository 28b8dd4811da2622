#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/first_divergence.h"
#include "dump/record.h"
#include "graph/graph.h"
#include "visfile/palette.h"
#include "visfile/visfile.h"

namespace msprobe::visfile {

/// What a thread needs to render nodes; reused from node to node.
struct NodeScratch {
  dump::Record record;
  bool has_record = false;
  std::string text;
  std::string escaped_name;  ///< of the loaded node
  // The ancestors of a partner, as text: siblings have the same.
  const graph::Graph* link_graph = nullptr;
  graph::NodeId link_parent = graph::kNoNode;
  std::string link;
};

/// What the files say of a node beyond the graph. NaN and empty: nothing to say.
struct NodeVerdict {
  double index;        ///< 0 fine … 1 worst
  double worst_below;  ///< itself and all below
  std::string_view status;
  std::string reason;
  std::string_view role;
};

/// One side of a comparison, or a single graph, as text. Thread-safe but for the scratch.
class SideText {
 public:
  enum class Side : uint8_t { kTarget, kGolden, kSingle };

  SideText(const VisContent& content, Side side, Dialect dialect);

  const graph::Graph& graph() const { return *graph_; }
  bool compared() const { return comparison_ != nullptr; }

  /// Reads the record of `node`, for the calls that append values.
  void Load(graph::NodeId node, NodeScratch* scratch) const;
  void AppendInputs(graph::NodeId node, NodeScratch* scratch, std::string* out) const;
  void AppendOutputs(graph::NodeId node, NodeScratch* scratch, std::string* out) const;

  /// `{"output.0":"0:20 1:3"}`: how many elements of the loaded node's values are how many units
  /// in the last place apart; nothing where nothing was counted.
  void AppendUlps(graph::NodeId node, const NodeScratch& scratch, std::string* out) const;

  void AppendChildren(graph::NodeId node, std::string* out) const;
  /// Ids on the other side from its root to the partner; [] if there is none.
  void AppendMatchedLink(graph::NodeId node, NodeScratch* scratch, std::string* out) const;
  void AppendStack(graph::NodeId node, std::string* out) const;
  /// {} for nodes that no other rank takes part in.
  void AppendDistributed(graph::NodeId node, std::string* out) const;
  std::span<const graph::DistributedPeer> Peers(graph::NodeId node) const;

  /// The index as the viewers read it; NaN: none.
  double PluginIndex(graph::NodeId node) const;
  NodeVerdict Verdict(graph::NodeId node) const;

 private:
  void AppendSection(graph::NodeId node, bool outputs, NodeScratch* scratch,
                     std::string* out) const;
  std::string ReasonText(graph::NodeId node) const;
  graph::NodeId Partner(graph::NodeId node) const;

  Side side_;
  Dialect dialect_;
  bool complete_stack_;
  base::Diagnostics* diagnostics_;
  const graph::Graph* graph_;
  const graph::Graph* other_ = nullptr;
  const compare::Comparison* comparison_ = nullptr;      ///< null for a single graph
  std::vector<const compare::Divergence*> divergences_;  ///< by node; empty: none known
};

/// Appends the node's object as it stands in a `.vis`.
void AppendVisNode(const SideText& side, graph::NodeId node, NodeScratch* scratch,
                   std::string* out);

/// "medium", "high", "critical"; empty for none.
std::string_view OverflowText(graph::OverflowLevel level);

}  // namespace msprobe::visfile
