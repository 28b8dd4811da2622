#include "app/gate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace msprobe::app {

namespace {

using report::JUnitCase;
using report::NotCompared;
using report::UnitSummary;

constexpr size_t kListedNames = 20;

std::string Plural(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The names of some nodes, a line each, then how many more there are.
class NameList {
 public:
  void Add(const std::string& name, const std::string& reason) {
    if (++count_ <= kListedNames) text_ += name + ": " + reason + "\n";
  }
  uint64_t count() const { return count_; }
  std::string text() const {
    if (count_ <= kListedNames) return text_;
    return text_ + "and " + std::to_string(count_ - kListedNames) + " more\n";
  }

 private:
  uint64_t count_ = 0;
  std::string text_;
};

/// Step and rank of a unit, which all that is listed of it has as well.
using Place = std::pair<std::optional<int64_t>, std::optional<int64_t>>;

template <class T>
Place PlaceOf(const T& listed) {
  return {listed.step, listed.rank};
}

/// What is listed of each unit: looking through the lists once a unit would take too long where
/// there are many.
struct Listed {
  std::vector<const NotCompared*> not_compared;
  std::vector<const report::DivergedNode*> culprits;
};

bool Counts(FailLevel level, const NotCompared& node) {
  switch (level) {
    case FailLevel::kUnmatched: return node.kind == NotCompared::Kind::kUnmatched;
    case FailLevel::kUnreadable: return node.kind == NotCompared::Kind::kUnreadable;
    case FailLevel::kWarning: return node.kind == NotCompared::Kind::kLeftOut;
    case FailLevel::kError:
    case FailLevel::kCulprit:
    case FailLevel::kDiverged: break;
  }
  return false;
}

/// The test cases of one unit.
class SuiteMaker {
 public:
  SuiteMaker(const Gate& gate, const report::RunReport& report,
             const std::vector<const NotCompared*>& not_compared)
      : gate_(gate) {
    for (const NotCompared* node : not_compared) {
      listed_[PlaceOf(*node)].not_compared.push_back(node);
    }
    for (const report::DivergedNode& node : report.culprits) {
      listed_[PlaceOf(node)].culprits.push_back(&node);
    }
  }

  report::JUnitSuite Make(const UnitSummary& unit) {
    const Listed& listed = listed_[PlaceOf(unit)];
    report::JUnitSuite suite;
    const std::string place = report::PlaceText(unit.step, unit.rank, unit.process);
    suite.name = place.empty() ? "compare" : place;
    suite.seconds = unit.seconds;
    if (!unit.status.ok()) {
      suite.cases.push_back({"compared", JUnitCase::Outcome::kFail, unit.status.ToString(), {}});
      return suite;
    }
    for (const std::string& word : FailLevelWords()) {
      const auto level = static_cast<FailLevel>(&word - FailLevelWords().data());
      suite.cases.push_back(Case(unit, listed, level, word));
    }
    if (gate_.allow) suite.cases.push_back(AllowCase(listed));
    return suite;
  }

 private:
  JUnitCase Case(const UnitSummary& unit, const Listed& listed, FailLevel level,
                 const std::string& word) const {
    const NameList names = Names(unit, listed, level);
    const bool asked =
        std::find(gate_.fail_on.begin(), gate_.fail_on.end(), level) != gate_.fail_on.end();
    const uint64_t count =
        gate_.allow && (level == FailLevel::kUnmatched || level == FailLevel::kUnreadable)
            ? names.count()
            : LevelCount(unit, level);
    JUnitCase one;
    one.name = word;
    if (count == 0) return one;
    one.outcome = asked ? JUnitCase::Outcome::kFail : JUnitCase::Outcome::kSkip;
    one.message =
        word + ": " + std::to_string(count) + (asked ? "" : ", not asked for by --fail-on");
    one.text = names.text();
    return one;
  }

  static NameList Names(const UnitSummary& unit, const Listed& listed, FailLevel level) {
    NameList names;
    for (const NotCompared* node : listed.not_compared) {
      if (Counts(level, *node)) names.Add(node->name, node->reason);
    }
    if (level == FailLevel::kCulprit || level == FailLevel::kDiverged) {
      for (const report::DivergedNode* node : listed.culprits) {
        names.Add(node->name, node->reason);
      }
    }
    if (level == FailLevel::kDiverged && unit.first_difference) {
      names.Add(unit.first_difference->name, unit.first_difference->reason);
    }
    if (level == FailLevel::kError) {
      for (const report::ListedNode& node : unit.suspects) {
        if (node.status == compare::NodeStatus::kError) names.Add(node.name, node.reason);
      }
    }
    return names;
  }

  static JUnitCase AllowCase(const Listed& listed) {
    NameList names;
    for (const NotCompared* node : listed.not_compared) names.Add(node->name, node->reason);
    JUnitCase one;
    one.name = "allow-list";
    if (names.count() == 0) return one;
    one.outcome = JUnitCase::Outcome::kFail;
    one.message = Plural(names.count(), "node") + " not in the allow-list";
    one.text = names.text();
    return one;
  }

  const Gate& gate_;
  std::map<Place, Listed> listed_;
};

void AddNotes(const AllowList::Outcome& outcome, std::vector<std::string>* notes) {
  if (!outcome.unknown.empty()) {
    std::string note = Plural(outcome.unknown.size(), "node") + " not in the allow-list:";
    for (size_t i = 0; i < std::min(kListedNames, outcome.unknown.size()); ++i) {
      const NotCompared& node = *outcome.unknown[i];
      note += (i > 0 ? "; " : " ") + node.name + " (" +
              std::string(report::NotComparedName(node.kind)) + ": " + node.reason + ")";
    }
    notes->push_back(std::move(note));
  }
  for (const AllowList::Entry& entry : outcome.stale) {
    notes->push_back("the allow-list need not name '" + entry.pattern +
                     "' any more: nothing of that name is skipped");
  }
}

}  // namespace

GateVerdict Judge(const Gate& gate, const report::RunReport& report) {
  GateVerdict verdict;
  std::vector<const NotCompared*> not_compared;
  if (!gate.allow) {
    verdict.exit_code = ExitCode(report.units, gate.fail_on, nullptr);
    for (const NotCompared& node : report.not_compared) not_compared.push_back(&node);
  } else {
    AllowList::Outcome outcome = gate.allow->Apply(report.not_compared);
    verdict.exit_code = ExitCode(report.units, gate.fail_on, &outcome);
    AddNotes(outcome, &verdict.notes);
    not_compared = std::move(outcome.unknown);
  }
  if (gate.junit.empty()) return verdict;
  SuiteMaker maker(gate, report, not_compared);
  for (const UnitSummary& unit : report.units) verdict.suites.push_back(maker.Make(unit));
  return verdict;
}

}  // namespace msprobe::app
