#include "report/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace msprobe::report {
namespace {

using testing::HasSubstr;
using testing::Not;

UnitSummary Compared(int64_t rank) {
  UnitSummary unit;
  unit.step = 0;
  unit.rank = rank;
  unit.compared = true;
  unit.target.nodes = unit.golden.nodes = 3;
  unit.target.matched = unit.golden.matched = 3;
  return unit;
}

TEST(HtmlPage, WithoutACulpritTheFirstDifferenceIsShown) {
  std::vector<UnitSummary> units = {Compared(0), Compared(1)};
  ListedNode node;
  node.name = "Torch.<lambda>.0.forward";
  node.reason = "its inputs & outputs differ";
  node.source = "model.py:10  y = a < b";
  units[1].first_difference = node;
  std::vector<UnitDetails> details(2);
  const std::string page = HtmlPage(MakeRunReport(units, &details), {});
  EXPECT_THAT(page, HasSubstr("<h2>No culprit; the first difference</h2>\n"
                              "<p>step0/rank1 <code>Torch.&lt;lambda&gt;.0.forward</code>"
                              "<br>its inputs &amp; outputs differ"
                              "<br><code>model.py:10  y = a &lt; b</code></p>"));
  EXPECT_THAT(page, Not(HasSubstr("Culprits, best first")));
}

TEST(HtmlPage, WhatWasNotComparedHasASideAndAReason) {
  const std::vector<UnitSummary> units = {Compared(2)};
  std::vector<UnitDetails> details(1);
  details[0].not_compared = {
      {NotCompared::Kind::kUnmatched, true, "Torch.<b>.0.forward", "no such name", 0, 2},
      {NotCompared::Kind::kUnreadable, false, "a.output.0", "the file's end is missing", 0, 2}};
  const std::string page = HtmlPage(MakeRunReport(units, &details), {});
  EXPECT_THAT(page, HasSubstr("<h2>Not compared (2)</h2>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>step0/rank2 <code>Torch.&lt;b&gt;.0.forward</code></td>"
                              "<td>golden</td><td>unmatched</td><td>no such name</td></tr>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>step0/rank2 <code>a.output.0</code></td><td>target</td>"
                              "<td>unreadable</td><td>the file&#39;s end is missing</td></tr>"));
}

TEST(HtmlPage, LongListsSayHowManyAreLeftOut) {
  const std::vector<UnitSummary> units = {Compared(0)};
  std::vector<UnitDetails> details(1);
  const auto node = [](const std::string& name, compare::Role role) {
    DivergedNode made;
    made.name = name;
    made.role = role;
    return made;
  };
  for (int i = 0; i < 503; ++i) {
    details[0].culprits.push_back(node("c" + std::to_string(i), compare::Role::kCulprit));
  }
  for (int i = 0; i < 504; ++i) {
    const std::string number = std::to_string(i);
    details[0].victims.push_back(node("v" + number, compare::Role::kVictim));
    details[0].not_compared.push_back(
        {NotCompared::Kind::kLeftOut, false, "n" + number, "why", {}, {}});
  }
  details[0].not_compared.pop_back();
  details[0].not_compared.pop_back();
  const std::string page = HtmlPage(MakeRunReport(units, &details), {});
  for (const char* prefix : {"c", "v", "n"}) {
    EXPECT_THAT(page, HasSubstr(std::string("<code>") + prefix + "499</code>"));
    EXPECT_THAT(page, Not(HasSubstr(std::string("<code>") + prefix + "500</code>")));
  }
  EXPECT_THAT(page, HasSubstr("</ol>\n<p>and 3 more</p>"));
  EXPECT_THAT(page, HasSubstr("</table></div>\n<p>and 2 more</p>"));
  EXPECT_THAT(page, HasSubstr("</table></div><p>and 4 more</p></details>"));
}

}  // namespace
}  // namespace msprobe::report
