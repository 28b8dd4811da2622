#include "report/summary_table.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "report/printable.h"

namespace msprobe::report {

namespace {

constexpr size_t kUnitsListed = 8;
constexpr std::array<const char*, kOverflowLevels> kOverflowNames = {"none", "medium", "high",
                                                                     "critical"};

template <class... Args>
void Print(std::string* out, const char* format, Args... args) {
  char line[256];
  std::snprintf(line, sizeof(line), format, args...);
  out->append(line);
}

std::string_view ModeText(compare::CompareMode mode) {
  switch (mode) {
    case compare::CompareMode::kStatistics: return "statistics";
    case compare::CompareMode::kRealData: return "real data";
    case compare::CompareMode::kMd5: return "md5";
    case compare::CompareMode::kStructure: return "structure only";
  }
  return "";
}

/// "compared by statistics"; several ranks may differ in it.
void PrintModes(std::span<const UnitSummary> units, std::string* out) {
  std::vector<std::string_view> modes;
  for (const UnitSummary& unit : units) {
    if (!unit.compared) continue;
    const std::string_view mode = ModeText(unit.mode);
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
  }
  out->append("compared by ");
  for (size_t i = 0; i < modes.size(); ++i) out->append(i > 0 ? ", " : "").append(modes[i]);
  out->push_back('\n');
}

void PrintSides(const UnitSummary& total, std::string* out) {
  Print(out, "%-36s %8s %8s\n", "", "target", "golden");
  Print(out, "%-36s %8" PRIu64 " %8" PRIu64 "\n", "nodes", total.target.nodes, total.golden.nodes);
  Print(out, "%-36s %8" PRIu64 " %8" PRIu64 "\n", "matched", total.target.matched,
        total.golden.matched);
  Print(out, "%-36s %8" PRIu64 " %8" PRIu64 "\n", "unmatched", total.target.unmatched_total(),
        total.golden.unmatched_total());
  for (size_t i = 0; i < kReasonCount; ++i) {
    if (total.target.unmatched[i] + total.golden.unmatched[i] == 0) continue;
    const std::string reason(graph::MatchReasonText(static_cast<graph::MatchReason>(i)));
    Print(out, "  %-26s %8" PRIu64 " %8" PRIu64 "\n", reason.c_str(), total.target.unmatched[i],
          total.golden.unmatched[i]);
  }
  if (total.mismatched > 0) {
    Print(out, "%-36s %8" PRIu64 "\n", "matched, but mismatched", total.mismatched);
  }
}

void PrintBands(const UnitSummary& total, std::string* out) {
  if (total.mode == compare::CompareMode::kStructure) return;
  if (total.mode == compare::CompareMode::kMd5) {
    Print(out, "%-36s %8" PRIu64 "\n", "md5 equal", total.bands[0]);
    Print(out, "%-36s %8" PRIu64 "\n", "md5 different", total.bands[4]);
  } else {
    const double width = total.mode == compare::CompareMode::kRealData ? 0.05 : 0.2;
    for (size_t i = 0; i < total.bands.size(); ++i) {
      const double low = width * static_cast<double>(i);
      const double high = i == 4 ? 1 : low + width;
      const char* word = i == 0 ? "  fine" : i == 4 ? "  worst" : "";
      char name[64];
      std::snprintf(name, sizeof(name), "index %.4g .. %.4g%s", low, high, word);
      Print(out, "%-36s %8" PRIu64 "\n", name, total.bands[i]);
    }
  }
  if (total.without_index > 0) {
    Print(out, "%-36s %8" PRIu64 "\n", "nothing to compare", total.without_index);
  }
  Print(out, "%-36s %8" PRIu64 "\n", "nodes with errors", total.errors);
  Print(out, "%-36s %8" PRIu64 "\n", "nodes with warnings", total.warnings);
  Print(out, "%-36s %8" PRIu64 "\n", "unreadable tensors", total.unreadable_tensors);
}

void PrintOverflow(const UnitSummary& total, std::string* out) {
  for (size_t i = kOverflowLevels - 1; i > 0; --i) {
    if (total.overflow[i] == 0) continue;
    char name[32];
    std::snprintf(name, sizeof(name), "overflow %s", kOverflowNames[i]);
    Print(out, "%-36s %8" PRIu64 "\n", name, total.overflow[i]);
  }
}

void PrintNode(const ListedNode& node, std::string_view lead, bool with_role, std::string* out) {
  out->append(lead).append(PrintableName(node.name));
  if (!std::isnan(node.index)) Print(out, "  index %.4g", node.index);
  out->append("  ").append(compare::NodeStatusName(node.status));
  if (with_role && node.role != compare::Role::kNone) {
    out->append(", ").append(compare::RoleName(node.role));
  }
  out->push_back('\n');
  if (!node.reason.empty()) out->append("      ").append(Printable(node.reason)).push_back('\n');
  if (!node.source.empty()) out->append("      ").append(Printable(node.source)).push_back('\n');
}

void PrintUnit(const UnitSummary& unit, bool named, std::string* out) {
  const std::string where = named ? unit.label + ": " : std::string();
  if (!unit.culprits.empty()) {
    PrintNode(unit.culprits.front(), "\n" + where + "first divergence: ", false, out);
    if (unit.culprit_count > 1) {
      Print(out, "      %" PRIu64 " more place%s where inputs agree and outputs do not\n",
            unit.culprit_count - 1, unit.culprit_count == 2 ? "" : "s");
    }
  }
  if (unit.first_difference) {
    PrintNode(*unit.first_difference, "\n" + where + "first difference: ", false, out);
  }
  if (unit.suspects.empty()) return;
  out->append("\n").append(where);
  Print(out, "suspicious nodes in execution order (%zu of %" PRIu64 "):\n", unit.suspects.size(),
        unit.suspect_count);
  for (size_t i = 0; i < unit.suspects.size(); ++i) {
    PrintNode(unit.suspects[i], "  " + std::to_string(i + 1) + ". ", true, out);
  }
}

}  // namespace

std::string SummaryTable(std::span<const UnitSummary> units) {
  UnitSummary total;
  size_t failed = 0;
  for (const UnitSummary& unit : units) {
    AddCounts(unit, &total);
    failed += !unit.status.ok();
  }
  std::string out;
  if (units.size() > 1) {
    Print(&out, "%zu dumps", units.size());
    if (failed > 0) Print(&out, ", %zu of them failed", failed);
    out.push_back('\n');
  }
  if (failed == units.size()) return out;
  if (total.compared) {
    PrintModes(units, &out);
    PrintSides(total, &out);
    PrintBands(total, &out);
  } else {
    Print(&out, "%-36s %8" PRIu64 "\n", "nodes", total.target.nodes);
  }
  if (total.unreadable_records > 0) {
    Print(&out, "%-36s %8" PRIu64 "\n", "unreadable records", total.unreadable_records);
  }
  PrintOverflow(total, &out);
  size_t listed = 0;
  size_t left = 0;
  for (const UnitSummary& unit : units) {
    if (unit.suspects.empty() && unit.culprits.empty() && !unit.first_difference) continue;
    if (listed == kUnitsListed) {
      ++left;
      continue;
    }
    ++listed;
    PrintUnit(unit, units.size() > 1, &out);
  }
  if (left > 0) Print(&out, "\n%zu more dumps have suspicious nodes\n", left);
  return out;
}

}  // namespace msprobe::report
