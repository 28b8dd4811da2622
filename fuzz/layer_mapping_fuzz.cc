// A layer mapping file never crashes the reader, and whatever it accepts can be matched with.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "graph/layer_mapping.h"
#include "graph/rank_dump_fixture.h"

namespace {

using namespace msprobe;

std::unique_ptr<graph::Graph> SmallGraph(const char* inner) {
  auto dump = std::make_shared<graph::FakeRankDump>();
  const std::string path = std::string("Module.m.") + inner;
  dump->Edge("Module.m.M.forward.0")
      .Edge(path + ".A.forward.0", "Module.m.M.forward.0")
      .Edge(path + ".b.0.B.forward.0", path + ".A.forward.0")
      .Edge("Torch.f.0.forward", path + ".b.0.B.forward.0");
  base::Diagnostics diagnostics;
  return graph::BuildGraph(dump, {}, &diagnostics).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto target = SmallGraph("a");
  static const auto golden = SmallGraph("x.y");
  auto mapping = graph::ParseLayerMapping({reinterpret_cast<const char*>(data), size}, "map.yaml");
  if (!mapping.ok()) return 0;
  graph::MatchOptions options;
  options.use_mapping = true;
  options.mapping = std::move(mapping).value();
  const auto match = graph::MatchGraphs(*target, *golden, options);
  for (graph::NodeId id = 0; id < target->nodes.size(); ++id) {
    const graph::NodeId partner = match.value().golden_of_target[id];
    if (partner != graph::kNoNode && match.value().target_of_golden[partner] != id) std::abort();
  }
  return 0;
}
