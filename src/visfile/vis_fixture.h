#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/scratch_directory_fixture.h"
#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "graph/graph.h"
#include "graph/rank_dump_fixture.h"
#include "visfile/visfile.h"

/// Small graphs made by hand, for tests of the writers.
namespace msprobe::visfile::fixture {

using base::FileText;
using base::ScratchDirectory;

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

inline dump::Statistic Number(double number, std::string_view text) {
  return {dump::Statistic::State::kNumber, number, text};
}

inline dump::Value Tensor(dump::Section section, std::string_view key, dump::Statistic max) {
  dump::Value value;
  value.section = section;
  value.kind = dump::ValueKind::kTensor;
  value.key = key;
  value.type = "torch.Tensor";
  value.dtype_text = "torch.float32";
  value.shape_text = "[4, 8]";
  value.max = value.mean = value.norm = max;
  value.min = {dump::Statistic::State::kNull, 0, "null"};
  value.requires_grad = dump::Flag::kTrue;
  return value;
}

inline dump::Value Scalar(std::string_view key, std::string_view type, std::string_view text) {
  dump::Value value;
  value.kind = dump::ValueKind::kScalar;
  value.key = key;
  value.type = type;
  value.value_text = text;
  return value;
}

/// Builds a graph node by node; parents first.
class GraphMaker {
 public:
  GraphMaker() {
    dump_->place.clear();
    dump_->data_directory = "/data/\"x\"";
    graph_->dump = dump_;
    Add(graph::kRootName, graph::kNoNode, graph::NodeKind::kModule);
  }

  graph::NodeId Add(std::string_view name, graph::NodeId parent, graph::NodeKind kind,
                    std::vector<dump::Value> values = {},
                    dump::Direction direction = dump::Direction::kForward) {
    graph::Node node;
    node.name = graph_->arena.Copy(name);
    node.kind = kind;
    node.parent = parent;
    if (!values.empty()) node.entry = dump_->Add(name, direction, std::move(values));
    const auto id = static_cast<graph::NodeId>(graph_->nodes.size());
    graph_->nodes.push_back(node);
    graph_->index.Insert(graph_->nodes, id);
    return id;
  }

  graph::Node& node(graph::NodeId id) { return graph_->nodes[id]; }
  graph::Graph& graph() { return *graph_; }
  graph::FakeRankDump& dump() { return *dump_; }

  std::shared_ptr<graph::Graph> Make() {
    std::vector<graph::Node>& nodes = graph_->nodes;
    for (graph::NodeId id = 0; id < nodes.size(); ++id) {
      nodes[id].children_begin = static_cast<uint32_t>(graph_->child_ids.size());
      for (graph::NodeId child = 1; child < nodes.size(); ++child) {
        if (nodes[child].parent == id) graph_->child_ids.push_back(child);
      }
      nodes[id].children_size =
          static_cast<uint32_t>(graph_->child_ids.size()) - nodes[id].children_begin;
      nodes[id].stack = dump_->FindStack(nodes[id].name);
    }
    return graph_;
  }

 private:
  std::shared_ptr<graph::FakeRankDump> dump_ = std::make_shared<graph::FakeRankDump>();
  std::shared_ptr<graph::Graph> graph_ = std::make_shared<graph::Graph>();
};

/// Equal ids match; every value's partner is the value at the same place.
inline compare::Comparison Compared(compare::CompareMode mode,
                                    std::shared_ptr<const graph::Graph> target,
                                    std::shared_ptr<const graph::Graph> golden) {
  compare::Comparison comparison;
  comparison.mode = mode;
  comparison.reasons = {""};
  graph::Match& match = comparison.match;
  match.target_of_golden.assign(golden->nodes.size(), graph::kNoNode);
  match.golden_reason.assign(golden->nodes.size(), graph::MatchReason::kNoSuchName);
  for (graph::NodeId id = 0; id < target->nodes.size(); ++id) {
    const graph::NodeId partner = golden->Find(target->nodes[id].name);
    const bool found = partner != graph::kNoNode;
    match.golden_of_target.push_back(partner);
    match.target_reason.push_back(found ? graph::MatchReason::kNone
                                        : graph::MatchReason::kNoSuchName);
    match.mismatched.push_back(false);
    match.by_mapping.push_back(false);
    compare::NodeResult result;
    result.values_begin = static_cast<uint32_t>(comparison.values.size());
    if (found) {
      match.target_of_golden[partner] = id;
      match.golden_reason[partner] = graph::MatchReason::kNone;
      result.status = compare::NodeStatus::kPass;
      const dump::EntryId entry = target->nodes[id].entry;
      if (entry != dump::kNoEntry) {
        dump::Record record;
        EXPECT_TRUE(target->dump->Read(entry, &record).ok());
        for (uint32_t i = 0; i < record.values.size(); ++i) {
          compare::ValueResult& value = comparison.values.emplace_back();
          value.metrics.fill(kNone);
          value.golden_value = i;
        }
        result.values_size = static_cast<uint32_t>(record.values.size());
      }
    }
    comparison.nodes.push_back(result);
  }
  comparison.target = std::move(target);
  comparison.golden = std::move(golden);
  return comparison;
}

}  // namespace msprobe::visfile::fixture
