#include "report/run_report.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace msprobe::report {

namespace {

void Move(std::vector<NotCompared>* from, std::vector<NotCompared>* to) {
  to->insert(to->end(), std::make_move_iterator(from->begin()),
             std::make_move_iterator(from->end()));
}

void Move(std::vector<DivergedNode>* from, std::vector<DivergedNode>* to) {
  to->insert(to->end(), std::make_move_iterator(from->begin()),
             std::make_move_iterator(from->end()));
}

/// Culprits of all ranks, those that may be consequences last: by step, then by the communications
/// before them, then by their place in their own unit's list, then by rank.
std::vector<DivergedNode> RankCulprits(std::vector<UnitDetails>* details) {
  struct Placed {
    bool consequence;
    int64_t step;
    uint32_t clock;
    size_t place;
    size_t unit;
    DivergedNode* node;
  };
  std::vector<Placed> all;
  for (size_t unit = 0; unit < details->size(); ++unit) {
    std::vector<DivergedNode>& culprits = (*details)[unit].culprits;
    for (size_t i = 0; i < culprits.size(); ++i) {
      all.push_back({culprits[i].consequence, culprits[i].step.value_or(-1), culprits[i].clock, i,
                     unit, &culprits[i]});
    }
  }
  std::sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.consequence, a.step, a.clock, a.place, a.unit) <
           std::tie(b.consequence, b.step, b.clock, b.place, b.unit);
  });
  std::vector<DivergedNode> ranked;
  ranked.reserve(all.size());
  for (const Placed& placed : all) ranked.push_back(std::move(*placed.node));
  return ranked;
}

}  // namespace

RunReport MakeRunReport(std::span<const UnitSummary> units, std::vector<UnitDetails>* details) {
  RunReport report;
  report.units = units;
  report.verdict = OverallVerdict(units);
  report.culprits = RankCulprits(details);
  for (UnitDetails& unit : *details) {
    Move(&unit.victims, &report.victims);
    Move(&unit.not_compared, &report.not_compared);
  }
  for (const UnitSummary& unit : units) {
    if (unit.status.ok()) continue;
    report.not_compared.push_back({NotCompared::Kind::kUnreadable, false, unit.label,
                                   unit.status.ToString(), unit.step, unit.rank, unit.process});
  }
  details->clear();
  return report;
}

std::string PlaceText(std::optional<int64_t> step, std::optional<int64_t> rank,
                      std::optional<int64_t> process) {
  std::string text;
  if (step) text = "step" + std::to_string(*step);
  if (rank) text += (text.empty() ? "rank" : "/rank") + std::to_string(*rank);
  if (!rank && process) text += (text.empty() ? "proc" : "/proc") + std::to_string(*process);
  return text;
}

}  // namespace msprobe::report
