#include "visfile/name_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace msprobe::visfile {
namespace {

using graph::NodeId;

void ExpectSorted(const std::vector<std::string>& names) {
  graph::Graph graph;
  graph.nodes.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) graph.nodes[i].name = names[i];
  std::vector<NodeId> ids(names.size());
  std::iota(ids.begin(), ids.end(), NodeId{0});
  const std::vector<NodeId> sorted = SortedByName(graph, ids);
  std::ranges::sort(ids, {}, [&](NodeId id) { return graph.nodes[id].name; });
  EXPECT_EQ(sorted, ids);
}

TEST(NameOrder, IsTheOrderOfBytes) {
  ExpectSorted({});
  ExpectSorted({"one"});
  ExpectSorted({"Module.layer.10", "Module.layer.2", "Module.layer.1", "", "Module.\xC3\xA9",
                "Module.layer", "Module.layer.1.forward", "module"});
}

TEST(NameOrder, ShorterNamesComeBeforeThoseThatGoOnWithNuls) {
  const std::string base = "12345678";
  std::vector<std::string> names;
  for (size_t nuls = 12; nuls-- > 0;) {
    names.push_back(base + std::string(nuls, '\0'));
    names.push_back(base.substr(0, 5) + std::string(nuls, '\0'));
    names.push_back(base + std::string(nuls, '\0') + "x");
  }
  std::ranges::sort(names, std::greater());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  ExpectSorted(names);
}

TEST(NameOrder, NamesThatBeginWithTheSameKilobytes) {
  std::vector<std::string> names;
  for (int i = 20; i-- > 0;) names.push_back(std::string(5000, 'p') + std::to_string(i));
  for (int i = 20; i-- > 0;) names.push_back(std::string(500 + static_cast<size_t>(i), 'p'));
  ExpectSorted(names);
}

TEST(NameOrder, ManyNames) {
  std::mt19937 random(1);
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) {
    std::string name = "Module.";
    for (uint32_t part = random() % 12; part > 0; --part) name += "ab\x80.\0"[random() % 5];
    names.push_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::ranges::shuffle(names, random);
  ExpectSorted(names);
}

}  // namespace
}  // namespace msprobe::visfile
