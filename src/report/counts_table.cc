#include "report/counts_table.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <vector>

#include "report/print.h"

namespace msprobe::report {

namespace {

constexpr std::array<const char*, kOverflowLevels> kOverflowNames = {"none", "medium", "high",
                                                                     "critical"};

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
  if (total.lowest_confidence < 1) {
    Print(out, "%-36s %8s\n", "lowest confidence of a pair",
          base::FormatNumber(total.lowest_confidence, std::chars_format::fixed, 2).c_str());
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
      const std::string name = "index " + ShortNumber(low) + " .. " + ShortNumber(high) + word;
      Print(out, "%-36s %8" PRIu64 "\n", name.c_str(), total.bands[i]);
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

}  // namespace

void AppendCounts(std::span<const UnitSummary> units, std::string* out) {
  UnitSummary total;
  for (const UnitSummary& unit : units) AddCounts(unit, &total);
  if (total.compared) {
    PrintModes(units, out);
    PrintSides(total, out);
    PrintBands(total, out);
  } else {
    Print(out, "%-36s %8" PRIu64 "\n", "nodes", total.target.nodes);
  }
  if (total.unreadable_records > 0) {
    Print(out, "%-36s %8" PRIu64 "\n", "unreadable records", total.unreadable_records);
  }
  PrintOverflow(total, out);
}

}  // namespace msprobe::report
