#include <string>
#include <utility>

#include "base/thread_pool.h"
#include "graph/graph.h"
#include "graph/hierarchy.h"
#include "graph/node_name.h"
#include "graph/overflow.h"
#include "graph/root_level.h"
#include "graph/stack_frames.h"

namespace msprobe::graph {
namespace {

/// Sorts the nodes under their parents by counting; the root's children come as given.
void FillChildren(const std::vector<NodeId>& root_children, Graph* graph) {
  std::vector<Node>& nodes = graph->nodes;
  for (NodeId id = 1; id < nodes.size(); ++id) ++nodes[nodes[id].parent].children_size;
  uint32_t begin = 0;
  for (Node& node : nodes) {
    node.children_begin = begin;
    begin += node.children_size;
    node.children_size = 0;
  }
  graph->child_ids.resize(begin);
  const auto append = [&](NodeId id) {
    Node& parent = nodes[nodes[id].parent];
    graph->child_ids[parent.children_begin + parent.children_size++] = id;
  };
  for (const NodeId id : root_children) append(id);
  for (NodeId id = 1; id < nodes.size(); ++id) {
    if (nodes[id].parent != kRootNode) append(id);
  }
}

void FindStacks(size_t threads, Graph* graph) {
  base::ParallelFor(graph->nodes.size(), 4096, threads, [&](size_t begin, size_t end) {
    for (size_t id = begin; id < end; ++id) {
      Node& node = graph->nodes[id];
      if (node.direction == dump::Direction::kForward) {
        node.stack = graph->dump->FindStack(node.name);
      } else if (node.is_backward) {
        node.stack = graph->dump->FindStack(ForwardOf(node.name, ParseNodeName(node.name)));
      }
    }
  });
}

}  // namespace

Result<std::unique_ptr<Graph>> BuildGraph(std::shared_ptr<const dump::RankDump> dump,
                                          const BuildOptions& options,
                                          base::Diagnostics* diagnostics) {
  if (dump->construct().empty()) {
    return InvalidArgumentError("construct.json is empty", "collect with level L0 or mix",
                                (dump->directory() / "construct.json").string());
  }
  // Collections are at most half as many as the rest; ids stay below the two reserved values.
  if (dump->construct().size() + dump->entry_count() > UINT32_MAX / 2) {
    return LimitExceededError("too many nodes for one graph", {}, dump->directory().string());
  }
  auto graph = std::make_unique<Graph>();
  graph->dump = std::move(dump);
  const auto cancelled = [&] { return options.cancel != nullptr && options.cancel->cancelled(); };
  BuildHierarchy(graph.get(), options.threads, diagnostics);
  if (cancelled()) return CancelledError();
  FillChildren(ArrangeRootLevel(graph.get()), graph.get());
  SpreadMicroSteps(graph.get());
  FindStacks(options.threads, graph.get());
  if (options.check_overflow) CheckOverflow(graph.get(), options.threads, options.cancel);
  if (cancelled()) return CancelledError();
  return graph;
}

std::vector<std::string> StackLines(const Graph& graph, NodeId id, bool complete) {
  const Node& node = graph.nodes[id];
  if (node.stack == dump::kNoStack) return {};
  const NodeName name = ParseNodeName(node.name);
  if (!complete) {  // mostly the first will do
    std::string innermost = graph.dump->InnermostFrame(node.stack);
    if (!innermost.empty() && IsCallerFrame(innermost, name)) return {std::move(innermost)};
  }
  std::vector<std::string> frames = graph.dump->StackFrames(node.stack);
  if (complete || frames.empty()) return frames;
  return {std::move(frames[CallerFrame(frames, name)])};
}

}  // namespace msprobe::graph
