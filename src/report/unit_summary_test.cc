#include "report/unit_summary.h"

#include <gtest/gtest.h>

#include "report/printable.h"
#include "report/summary_json.h"
#include "report/summary_table.h"

namespace msprobe::report {
namespace {

TEST(SourceLineTest, ShortensFrames) {
  EXPECT_EQ(SourceLine("File /a/model.py, line 10, in forward, \n x = f(x)"),
            "/a/model.py:10  x = f(x)");
  EXPECT_EQ(SourceLine("File /a/model.py, line 10, in forward"), "/a/model.py:10");
  EXPECT_EQ(SourceLine("something else\nmore"), "something else");
  EXPECT_EQ(SourceLine(""), "");
}

TEST(PrintableTest, ControlCharactersAreVisible) {
  EXPECT_EQ(Printable("a\x1b[31mb\nc\x7f"), "a\\x1b[31mb c\\x7f");
  EXPECT_EQ(Printable("层 ü"), "层 ü");
  EXPECT_EQ(Printable("a\u202e\u0085b"), "a\\xe2\\x80\\xae\\xc2\\x85b");
  EXPECT_EQ(PrintableName(std::string(150, 'a')), std::string(150, 'a'));
  const std::string longest = PrintableName("层" + std::string(9000, 'a') + "层层");
  EXPECT_LT(longest.size(), 220U);
  EXPECT_TRUE(longest.starts_with("层") && longest.ends_with("层层"));
}

TEST(AddCountsTest, SumsUnits) {
  UnitSummary unit;
  unit.compared = true;
  unit.target.nodes = 3;
  unit.target.matched = 2;
  unit.target.unmatched[1] = 1;
  unit.bands = {1, 0, 0, 0, 1};
  unit.errors = 1;
  UnitSummary total;
  AddCounts(unit, &total);
  AddCounts(unit, &total);
  EXPECT_EQ(total.target.unmatched_total(), 2U);
  EXPECT_EQ(total.target.unmatched[1], 2U);
  EXPECT_EQ(total.bands[4], 2U);
  EXPECT_EQ(total.errors, 2U);
}

TEST(SummaryTableTest, EachModeHasItsOwnBands) {
  std::vector<UnitSummary> units(3);
  units[0].mode = compare::CompareMode::kRealData;
  units[2].mode = compare::CompareMode::kStructure;
  for (UnitSummary& unit : units) {
    unit.compared = true;
    unit.target.nodes = unit.golden.nodes = unit.target.matched = unit.golden.matched = 2;
  }
  units[0].bands = {0, 2, 0, 0, 0};
  units[1].bands = {0, 0, 1, 0, 0};
  units[1].errors = units[1].without_index = 1;
  units[2].without_index = 2;
  const std::string table = SummaryTable(units);
  const auto line = [](std::string name, const char* count) {
    name.resize(45 - std::string(count).size(), ' ');
    return name + count + "\n";
  };
  EXPECT_NE(table.find("compared by real data, statistics, structure only"), std::string::npos);
  for (const std::string& expected :
       {"by real data:\n" + line("index 0 .. 0.05  fine", "0") + line("index 0.05 .. 0.1", "2"),
        "by statistics:\n" + line("index 0 .. 0.2  fine", "0"), line("nothing to compare", "1"),
        "by all of them:\n" + line("nodes with errors", "1")}) {
    EXPECT_NE(table.find(expected), std::string::npos) << expected << "in\n" << table;
  }
  const std::string json = SummaryJson(units, 0, 0);
  EXPECT_NE(json.find(R"("mode":null)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("by_mode":[{"mode":"all","bands":[0,2,0,0,0],"nothing_to_compare":0},)"),
            std::string::npos)
      << json;
}

TEST(SummaryTableTest, CulpritComesFirst) {
  UnitSummary unit;
  unit.label = "rank0";
  unit.compared = true;
  unit.target.nodes = unit.golden.nodes = 2;
  unit.target.matched = unit.golden.matched = 2;
  unit.suspect_count = 7;
  unit.suspects.push_back(
      {"Torch.victim.0.forward", 1, compare::NodeStatus::kError, compare::Role::kVictim, "", ""});
  unit.culprit_count = 1;
  unit.culprits.push_back({"Torch.mul.1.forward", 1, compare::NodeStatus::kError,
                           compare::Role::kCulprit, "why", "model.py:3  x * s"});
  const std::string table = SummaryTable({&unit, 1});
  const size_t culprit = table.find("first divergence: Torch.mul.1.forward");
  ASSERT_NE(culprit, std::string::npos) << table;
  EXPECT_LT(culprit, table.find("Torch.victim.0.forward"));
  EXPECT_NE(table.find("(1 of 7)"), std::string::npos) << table;
  EXPECT_NE(table.find("model.py:3  x * s"), std::string::npos);
}

TEST(SummaryTableTest, FailedUnitsAreCounted) {
  std::vector<UnitSummary> units(3);
  units[1].status = NotFoundError("dump.json is missing");
  EXPECT_NE(SummaryTable(units).find("3 dumps, 1 of them failed"), std::string::npos);
}

TEST(SummaryTableTest, WithoutCulpritTheFirstDifferenceIsNamed) {
  UnitSummary unit;
  unit.compared = true;
  unit.target.nodes = unit.golden.nodes = 1;
  unit.target.matched = unit.golden.matched = 1;
  unit.first_difference = ListedNode{"Module.net.Net.forward.0", 0.5,
                                     compare::NodeStatus::kPass, compare::Role::kUndecidable,
                                     "its inputs differ",        ""};
  const std::string table = SummaryTable({&unit, 1});
  EXPECT_NE(table.find("first difference: Module.net.Net.forward.0  index 0.5"), std::string::npos)
      << table;
  EXPECT_NE(table.find("its inputs differ"), std::string::npos);
  EXPECT_NE(SummaryJson({&unit, 1}, 0, 0).find(R"("first_difference":{"name":"Module.net)"),
            std::string::npos);
}

}  // namespace
}  // namespace msprobe::report
