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
void PrintModes(const std::vector<UnitSummary>& modes, std::string* out) {
  out->append("compared by ");
  for (size_t i = 0; i < modes.size(); ++i) {
    out->append(i > 0 ? ", " : "").append(ModeText(modes[i].mode));
  }
  out->push_back('\n');
}

/// Calls and modules that both sides have, but not by the same names, pair in another way.
std::string_view OtherWay(const UnitSummary& total) {
  constexpr uint64_t kSeveral = 2;
  const auto by_name = [](const SideCounts& side) {
    return side.unmatched[static_cast<size_t>(graph::MatchReason::kNoSuchName)] +
           side.unmatched[static_cast<size_t>(graph::MatchReason::kOtherParent)];
  };
  if (std::min(by_name(total.target), by_name(total.golden)) < kSeveral) return "";
  const bool moved =
      total.target.unmatched[static_cast<size_t>(graph::MatchReason::kOtherParent)] > 0;
  return moved ? "-fm or --match auto may pair more" : "--match auto may pair more";
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
  if (const std::string_view hint = OtherWay(total); !hint.empty()) {
    out->append("  ").append(hint).push_back('\n');
  }
  if (total.lowest_confidence < 1) {
    Print(out, "%-36s %8s\n", "lowest confidence of a pair",
          base::FormatNumber(total.lowest_confidence, std::chars_format::fixed, 2).c_str());
  }
  if (total.mismatched > 0) {
    Print(out, "%-36s %8" PRIu64 "\n", "matched, but mismatched", total.mismatched);
  }
}

bool HasValues(const UnitSummary& mode) { return mode.mode != compare::CompareMode::kStructure; }

void PrintBands(const UnitSummary& total, std::string* out) {
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
}

/// An index means something else in each mode: the bands of several do not add up.
void PrintValues(const UnitSummary& total, const std::vector<UnitSummary>& modes,
                 std::string* out) {
  if (std::ranges::none_of(modes, HasValues)) return;
  for (const UnitSummary& mode : modes) {
    if (!HasValues(mode)) continue;
    if (modes.size() > 1) out->append("by ").append(ModeText(mode.mode)).append(":\n");
    PrintBands(mode, out);
  }
  if (modes.size() > 1) out->append("by all of them:\n");
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

std::vector<UnitSummary> TotalsByMode(std::span<const UnitSummary> units) {
  std::vector<UnitSummary> modes;
  for (const UnitSummary& unit : units) {
    if (!unit.compared) continue;
    auto mode = std::ranges::find(modes, unit.mode, &UnitSummary::mode);
    if (mode == modes.end()) {
      mode = modes.emplace(modes.end());
      mode->mode = unit.mode;
    }
    AddCounts(unit, &*mode);
  }
  return modes;
}

void AppendCounts(std::span<const UnitSummary> units, std::string* out) {
  UnitSummary total;
  for (const UnitSummary& unit : units) AddCounts(unit, &total);
  if (total.compared) {
    const std::vector<UnitSummary> modes = TotalsByMode(units);
    PrintModes(modes, out);
    PrintSides(total, out);
    PrintValues(total, modes, out);
  } else {
    Print(out, "%-36s %8" PRIu64 "\n", "nodes", total.target.nodes);
  }
  if (total.unreadable_records > 0) {
    Print(out, "%-36s %8" PRIu64 "\n", "unreadable records", total.unreadable_records);
  }
  PrintOverflow(total, out);
}

}  // namespace msprobe::report
