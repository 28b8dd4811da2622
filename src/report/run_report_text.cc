#include <algorithm>
#include <array>
#include <cinttypes>
#include <map>
#include <string>
#include <string_view>

#include "report/counts_table.h"
#include "report/errors_text.h"
#include "report/first_places.h"
#include "report/print.h"
#include "report/printable.h"
#include "report/run_report.h"

namespace msprobe::report {

namespace {

constexpr size_t kListedCulprits = 5;
constexpr size_t kListedNames = 3;
constexpr size_t kListedReasons = 12;

bool NodeToBlame(const RunReport& report) {
  return std::ranges::any_of(report.culprits,
                             [](const DivergedNode& node) { return !node.consequence; });
}

std::string_view VerdictSentence(const RunReport& report) {
  const bool no_values = std::ranges::all_of(report.units, [](const UnitSummary& unit) {
    return unit.mode == compare::CompareMode::kStructure;
  });
  switch (report.verdict) {
    case Verdict::kSame:
      return no_values ? "the structure agrees; there are no values in the dumps"
                       : "the values agree within the tolerance";
    case Verdict::kIncomplete:
      return std::ranges::all_of(report.units, HasComparedNothing)
                 ? "nothing could be compared: no value is there and readable on both sides"
                 : "what was compared agrees, but not all could be compared";
    case Verdict::kDiverged: break;
  }
  return NodeToBlame(report) ? "values differ" : "values differ; no single node is to blame";
}

void AppendLine(std::string_view lead, std::string_view text, std::string* out) {
  if (text.empty()) return;
  out->append(lead).append(Printable(text)).push_back('\n');
}

void AppendFirstDifference(const PlacedNode& first, std::string* out) {
  const std::string place = PlaceText(first.unit->step, first.unit->rank, first.unit->process);
  out->append("\nfirst difference").append(place.empty() ? "" : ", ").append(place);
  out->append(": ").append(PrintableName(first.node->name)).push_back('\n');
  AppendLine("      ", first.node->reason, out);
  AppendLine("      ", first.node->source, out);
}

void AppendCulprit(const DivergedNode& node, size_t number, std::string* out) {
  const std::string place = PlaceText(node.step, node.rank, node.process);
  Print(out, "  %zu. ", number);
  out->append(place).append(place.empty() ? "" : ": ").append(PrintableName(node.name));
  AppendErrors("  ", node, out);
  out->push_back('\n');
  AppendLine("      ", node.reason, out);
  AppendLine("      ", node.source, out);
}

/// Of consequences the first stands for all.
size_t ListedCulprits(const RunReport& report) {
  const auto consequence = std::ranges::find_if(report.culprits, &DivergedNode::consequence);
  const auto causes = static_cast<size_t>(consequence - report.culprits.begin());
  return std::min({kListedCulprits, report.culprits.size(), causes + 1});
}

void AppendCulprits(const RunReport& report, std::string* out) {
  const std::optional<PlacedNode> first = FirstDifference(report.units);
  if (first) AppendFirstDifference(*first, out);
  if (report.culprits.empty()) return;
  const size_t shown = ListedCulprits(report);
  out->append(first ? "\nculprits of later steps, best first" : "\nculprits, best first");
  Print(out, " (%zu of %zu):\n", shown, report.culprits.size());
  for (size_t i = 0; i < shown; ++i) AppendCulprit(report.culprits[i], i + 1, out);
}

const char* RoleWords(compare::Role role) {
  switch (role) {
    case compare::Role::kVictim: return "victims";
    case compare::Role::kAmplifier: return "amplifiers";
    case compare::Role::kCollective: return "collectives that bring an error";
    case compare::Role::kUndecidable: return "undecidable";
    case compare::Role::kCulprit:
    case compare::Role::kNone: break;
  }
  return "";
}

void AppendRoles(const RunReport& report, std::string* out) {
  if (report.culprits.empty() && report.victims.empty()) return;
  std::map<compare::Role, uint64_t> roles;
  for (const DivergedNode& node : report.victims) ++roles[node.role];
  Print(out, "%-36s %8zu\n", "culprits", report.culprits.size());
  for (const auto& [role, count] : roles) {
    Print(out, "%-36s %8" PRIu64 "\n", RoleWords(role), count);
  }
}

void AppendNotCompared(const RunReport& report, std::string* out) {
  if (report.not_compared.empty()) return;
  struct Group {
    uint64_t count = 0;
    std::string names;
  };
  std::map<std::string, Group> groups;  // by what and why
  for (const NotCompared& node : report.not_compared) {
    std::string why(NotComparedName(node.kind));
    why.append(", ").append(node.golden ? "golden: " : "target: ").append(node.reason);
    Group& group = groups[why];
    if (++group.count > kListedNames) continue;
    const std::string place = PlaceText(node.step, node.rank, node.process);
    group.names.append("      ").append(place).append(place.empty() ? "" : ": ");
    group.names.append(PrintableName(node.name)).push_back('\n');
  }
  Print(out, "\nnot compared (%zu):\n", report.not_compared.size());
  size_t listed = 0;
  for (const auto& [why, group] : groups) {
    if (++listed > kListedReasons) break;
    Print(out, "%8" PRIu64 "  ", group.count);
    out->append(Printable(why)).push_back('\n');
    out->append(group.names);
    if (group.count > kListedNames) {
      Print(out, "      and %" PRIu64 " more\n", group.count - kListedNames);
    }
  }
  if (groups.size() > kListedReasons) {
    Print(out, "  and %zu more reasons\n", groups.size() - kListedReasons);
  }
}

}  // namespace

std::string RunReportText(const RunReport& report) {
  std::string out = "verdict: ";
  out.append(VerdictName(report.verdict)).append(": ").append(VerdictSentence(report));
  if (report.units.size() > 1) {
    size_t failed = 0;
    for (const UnitSummary& unit : report.units) failed += !unit.status.ok();
    Print(&out, " (%zu dumps", report.units.size());
    if (failed > 0) Print(&out, ", %zu of them failed", failed);
    out.push_back(')');
  }
  out.push_back('\n');
  AppendCulprits(report, &out);
  out.push_back('\n');
  AppendCounts(report.units, &out);
  AppendRoles(report, &out);
  AppendNotCompared(report, &out);
  return out;
}

}  // namespace msprobe::report
