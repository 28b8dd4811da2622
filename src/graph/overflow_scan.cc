#include "graph/overflow_scan.h"

#include <algorithm>
#include <utility>

#include "graph/collective_call.h"
#include "graph/node_name.h"

namespace msprobe::graph {
namespace {

constexpr size_t kKeptEvents = 16;
constexpr size_t kKeptSources = 4;

class Scanner {
 public:
  explicit Scanner(const Graph& graph) : graph_(graph), event_below_(graph.nodes.size(), false) {}

  void Visit(NodeId id, uint32_t position) {
    const Node& node = graph_.nodes[id];
    if (id == kRootNode || node.entry == dump::kNoEntry) return PassOn(id);
    ++scan_.nodes;
    if (!graph_.dump->Read(node.entry, &record_).ok()) {
      ++scan_.unreadable;
      return PassOn(id);
    }
    const NodeName name = ParseNodeName(node.name);
    const FinitenessReport report = FinitenessOf(record_, name);
    const Finiteness taken = std::max(report.input, report.weights);
    if (IsCollective(name)) {
      scan_.communication.push_back({id, position, taken > Finiteness::kMasked});
    }
    const bool is_event = IsEvent(report, taken);
    if (!event_below_[id] && is_event) AddEvent(id, position, report, name);
    scan_.masked += !is_event && std::max(report.output, taken) == Finiteness::kMasked;
    previous_ = id;
    PassOn(id);
  }

  OverflowScan Finish() {
    PutGivenNumberFirst();
    std::ranges::sort(scan_.communication, {}, &OverflowScan::Communication::node);
    return std::move(scan_);
  }

 private:
  void PassOn(NodeId id) {
    const NodeId parent = graph_.nodes[id].parent;
    if (parent != kNoNode && event_below_[id]) event_below_[parent] = true;
  }

  /// Calls inside a backward that is not recorded stand beside the hierarchy: one that was recorded
  /// before the first node and was given a number is where that node has it from.
  void PutGivenNumberFirst() {
    if (given_.node == kNoNode || scan_.events[0].is_source()) return;
    const NodeId first = scan_.events[0].node;
    if (graph_.nodes[given_.node].entry > graph_.nodes[first].entry) return;
    const auto is_given = [this](const OverflowEvent& event) { return event.node == given_.node; };
    std::erase_if(scan_.events, is_given);
    scan_.source_count -= given_.is_later_source;
    std::erase_if(scan_.later_sources, is_given);
    given_.position = scan_.events[0].position;
    given_.is_later_source = false;
    scan_.events.insert(scan_.events.begin(), std::move(given_));
  }

  static bool IsEvent(const FinitenessReport& report, Finiteness taken) {
    if (report.output > Finiteness::kMasked || taken > Finiteness::kMasked) return true;
    if (report.output != Finiteness::kMasked) return false;
    return taken == Finiteness::kFinite && !report.fills_in_infinity;
  }

  void AddEvent(NodeId id, uint32_t position, const FinitenessReport& report,
                const NodeName& name) {
    event_below_[id] = true;
    OverflowEvent event;
    event.node = id;
    event.position = position;
    event.input = std::max(report.input, report.weights);
    event.output = report.output;
    event.in_weights = event.taken_in() && report.input <= Finiteness::kMasked;
    event.from_argument = report.output_is_argument;
    event.is_backward = name.direction == dump::Direction::kBackward;
    event.is_collective = IsCollective(name);
    const bool is_source = event.is_source();
    const bool keep_event = scan_.events.size() < kKeptEvents;
    const bool keep_given = event.from_argument && given_.node == kNoNode;
    // A backward also takes what its forward kept, and a mask may hold what was computed before.
    const bool keep_source = is_source && scan_.event_count > 0 && !event.is_collective &&
                             name.direction == dump::Direction::kForward &&
                             event.input == Finiteness::kFinite;
    event.is_later_source = keep_source;
    ++scan_.event_count;
    scan_.source_count += keep_source;
    const bool list_source = keep_source && scan_.later_sources.size() < kKeptSources;
    if (!keep_event && !list_source && !keep_given) return;
    event.name = graph_.nodes[id].name;
    if (previous_ != kNoNode) event.after = graph_.nodes[previous_].name;
    event.key = is_source          ? report.output_key
                : event.in_weights ? report.weights_key
                                   : report.input_key;
    std::vector<std::string> lines = StackLines(graph_, id, false);
    if (!lines.empty()) event.source = std::move(lines.front());
    if (list_source) scan_.later_sources.push_back(event);
    if (keep_given) given_ = event;
    if (keep_event) scan_.events.push_back(std::move(event));
  }

  const Graph& graph_;
  std::vector<bool> event_below_;
  NodeId previous_ = kNoNode;
  OverflowEvent given_;  ///< the first that was given a number; no node: there is none
  dump::Record record_;
  OverflowScan scan_;
};

}  // namespace

std::unique_ptr<Graph> BuildFlatGraph(std::shared_ptr<const dump::RankDump> dump) {
  auto graph = std::make_unique<Graph>();
  graph->dump = std::move(dump);
  const auto count = static_cast<NodeId>(graph->dump->entry_count());
  graph->nodes.resize(count + size_t{1});
  graph->nodes[kRootNode].name = kRootName;
  graph->nodes[kRootNode].children_size = count;
  for (NodeId id = 1; id <= count; ++id) {
    Node& node = graph->nodes[id];
    node.name = graph->dump->entry_name(id - 1);
    const NodeName name = ParseNodeName(node.name);
    node.kind = name.kind;
    node.direction = name.direction;
    node.is_backward = name.direction == dump::Direction::kBackward;
    node.parent = kRootNode;
    node.entry = id - 1;
    node.children_begin = count;
    node.stack = graph->dump->FindStack(node.is_backward ? ForwardOf(node.name, name)
                                                         : std::string(node.name));
    graph->child_ids.push_back(id);
  }
  return graph;
}

OverflowScan ScanOverflow(const Graph& graph, const base::CancelToken* cancel) {
  Scanner scanner(graph);
  uint32_t position = 0;
  for (const NodeId id : CompletionOrder(graph)) {
    if (position % 1024 == 0 && cancel != nullptr && cancel->cancelled()) break;
    scanner.Visit(id, position++);
  }
  return scanner.Finish();
}

}  // namespace msprobe::graph
