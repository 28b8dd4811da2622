#include "report/summary_table.h"

#include <cinttypes>
#include <cmath>

#include "report/counts_table.h"
#include "report/first_places.h"
#include "report/print.h"
#include "report/printable.h"

namespace msprobe::report {

namespace {

constexpr size_t kUnitsListed = 8;

void PrintNode(const ListedNode& node, std::string_view lead, bool with_role, std::string* out) {
  out->append(lead).append(PrintableName(node.name));
  if (!std::isnan(node.index)) out->append("  index ").append(ShortNumber(node.index));
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
  size_t failed = 0;
  for (const UnitSummary& unit : units) failed += !unit.status.ok();
  std::string out;
  if (units.size() > 1) {
    Print(&out, "%zu dumps", units.size());
    if (failed > 0) Print(&out, ", %zu of them failed", failed);
    out.push_back('\n');
  }
  if (failed == units.size()) return out;
  AppendCounts(units, &out);
  size_t listed = 0;
  size_t left = 0;
  for (const UnitSummary* shown : ByWhatTheyShow(units)) {
    const UnitSummary& unit = *shown;
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
