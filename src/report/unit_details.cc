#include "report/unit_details.h"

#include <algorithm>
#include <utility>

#include "dump/record.h"
#include "graph/graph.h"
#include "report/left_out.h"

namespace msprobe::report {

namespace {

using compare::Comparison;
using compare::NodeStatus;
using graph::NodeId;

class Collector {
 public:
  Collector(const Comparison& comparison, const UnitSummary& summary)
      : comparison_(comparison), summary_(summary) {}

  UnitDetails Run(const compare::DivergenceReport& divergences) {
    for (const compare::Divergence* culprit : CulpritOrder(divergences, summary_)) {
      details_.culprits.push_back(Describe(*culprit));
    }
    for (const compare::Divergence& divergence : divergences.divergences) {
      if (divergence.role != compare::Role::kCulprit) {
        details_.victims.push_back(Describe(divergence));
      }
    }
    for (const NodeId id : graph::EntryOrder(*comparison_.target)) AddNotCompared(id);
    for (const NodeId id : graph::EntryOrder(*comparison_.golden)) AddGoldenOnly(id);
    for (const compare::DamagedNode& damaged : comparison_.damaged) {
      const graph::Graph& graph = damaged.golden ? *comparison_.golden : *comparison_.target;
      Add(NotCompared::Kind::kUnreadable, damaged.golden,
          std::string(graph.nodes[damaged.node].name), comparison_.reasons[damaged.reason]);
    }
    AddCutOff(*comparison_.target, false);
    AddCutOff(*comparison_.golden, true);
    return std::move(details_);
  }

 private:
  DivergedNode Describe(const compare::Divergence& divergence) const {
    DivergedNode node;
    node.id = divergence.node;
    node.name = comparison_.target->nodes[divergence.node].name;
    node.step = summary_.step;
    node.rank = summary_.rank;
    node.process = summary_.process;
    node.role = divergence.role;
    node.reason = ReasonText(divergence, summary_);
    node.consequence = MayBeConsequence(divergence, summary_);
    node.error_in = divergence.error_in;
    node.error_out = divergence.error_out;
    if (divergence.culprit != graph::kNoNode) {
      node.culprit = comparison_.target->nodes[divergence.culprit].name;
      node.culprit_id = divergence.culprit;
      node.culprit_rank = summary_.rank;
    }
    if (divergence.role != compare::Role::kCulprit &&
        divergence.role != compare::Role::kCollective) {
      return node;
    }
    const auto lines = graph::StackLines(*comparison_.target, divergence.node, false);
    if (!lines.empty()) node.source = SourceLine(lines.front());
    node.stack = graph::StackLines(*comparison_.target, divergence.node, true);
    return node;
  }

  void Add(NotCompared::Kind kind, bool golden, std::string name, std::string reason) {
    details_.not_compared.push_back({kind, golden, std::move(name), std::move(reason),
                                     summary_.step, summary_.rank, summary_.process});
  }

  void AddNotCompared(NodeId id) {
    const graph::Node& node = comparison_.target->nodes[id];
    if (id == graph::kRootNode || node.kind == graph::NodeKind::kApiCollection) return;
    const compare::NodeResult& result = comparison_.result(id);
    const std::string& reason = comparison_.reasons[result.reason];
    if (result.status == NodeStatus::kUnmatched) {
      return Add(NotCompared::Kind::kUnmatched, false, std::string(node.name), reason);
    }
    bool any = false;
    for (size_t i = 0; i < result.values_size; ++i) {
      const compare::ValueResult& value = comparison_.values[result.values_begin + i];
      if (!value.unreadable && !IsLeftOut(comparison_, value)) continue;
      any = true;
      Add(value.unreadable ? NotCompared::Kind::kUnreadable : NotCompared::Kind::kLeftOut, false,
          ValueName(node, i), comparison_.reasons[value.reason]);
    }
    if (any) return;
    if (result.status == NodeStatus::kUnreadable) {
      Add(NotCompared::Kind::kUnreadable, false, std::string(node.name), reason);
    } else if (IsLeftOut(comparison_, result)) {
      Add(NotCompared::Kind::kLeftOut, false, std::string(node.name), reason);
    }
  }

  std::string ValueName(const graph::Node& node, size_t value) {
    std::string name(node.name);
    if (node.entry != dump::kNoEntry && comparison_.target->dump->Read(node.entry, &record_).ok() &&
        value < record_.values.size()) {
      name.append(".").append(record_.values[value].key);
    }
    return name;
  }

  void AddGoldenOnly(NodeId id) {
    const graph::Node& node = comparison_.golden->nodes[id];
    if (id == graph::kRootNode || node.kind == graph::NodeKind::kApiCollection) return;
    if (comparison_.match.target_of_golden[id] != graph::kNoNode) return;
    Add(NotCompared::Kind::kUnmatched, true, std::string(node.name),
        graph::MatchNote(comparison_.match, *comparison_.target, *comparison_.golden, id, false));
  }

  /// How many records are lost is not known, if both sides lost the same not even that any are.
  void AddCutOff(const graph::Graph& graph, bool golden) {
    if (!graph.dump->is_cut_off()) return;
    Add(NotCompared::Kind::kUnreadable, golden, "dump.json",
        "the file is cut off: records at its end are lost");
  }

  const Comparison& comparison_;
  const UnitSummary& summary_;
  UnitDetails details_;
  dump::Record record_;
};

}  // namespace

std::string_view NotComparedName(NotCompared::Kind kind) {
  switch (kind) {
    case NotCompared::Kind::kUnmatched: return "unmatched";
    case NotCompared::Kind::kUnreadable: return "unreadable";
    case NotCompared::Kind::kLeftOut: return "left out";
  }
  return "";
}

UnitDetails CollectDetails(const Comparison& comparison,
                           const compare::DivergenceReport& divergences,
                           const UnitSummary& summary) {
  return Collector(comparison, summary).Run(divergences);
}

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame: return "same";
    case Verdict::kDiverged: return "diverged";
    case Verdict::kIncomplete: return "incomplete";
  }
  return "";
}

bool HasComparedNothing(const UnitSummary& unit) {
  return unit.compared && unit.mode != compare::CompareMode::kStructure &&
         std::ranges::all_of(unit.bands, [](uint64_t count) { return count == 0; });
}

Verdict OverallVerdict(std::span<const UnitSummary> units) {
  Verdict verdict = Verdict::kSame;
  for (const UnitSummary& unit : units) {
    if (unit.errors > 0 || unit.divergence_count > 0) return Verdict::kDiverged;
    if (!unit.status.ok() || HasComparedNothing(unit) ||
        unit.unreadable_tensors + unit.unreadable_records > 0 ||
        unit.target.unmatched_total() + unit.golden.unmatched_total() + unit.left_out > 0) {
      verdict = Verdict::kIncomplete;
    }
  }
  return verdict;
}

}  // namespace msprobe::report
