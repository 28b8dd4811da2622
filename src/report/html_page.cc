#include "report/html_page.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "formats/json/json_string.h"
#include "report/counts_table.h"
#include "report/errors_text.h"
#include "report/first_places.h"
#include "report/print.h"
#include "report/printable.h"
#include "report/table_columns.h"

namespace msprobe::report {

namespace {

constexpr size_t kListedNodes = 500;

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>msprobe compare</title>
<style>
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --doubt: #b26a00; --good: #2e7d32; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --doubt: #ffcc80; --good: #a5d6a7; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: 13px; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th { position: sticky; top: 0; background: Canvas; overflow-wrap: normal; white-space: nowrap; }
.wide { overflow-x: auto; } .wide td { white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
.diverged, .error, .Different, .unreadable { color: var(--bad); }
.incomplete, .warning, .unmatched { color: var(--doubt); } .same { color: var(--good); }
</style></head><body>
)";

void AppendCode(std::string_view text, std::string* out) {
  out->append("<code>");
  AppendHtml(text, out);
  out->append("</code>");
}

void AppendPlaced(const std::string& place, std::string_view name, std::string* out) {
  if (!place.empty()) out->append(place).append(" ");
  AppendCode(name, out);
}

void AppendFirstDifference(const RunReport& report, std::string* out) {
  const std::optional<PlacedNode> first = FirstDifference(report.units);
  if (!first) return;
  out->append(report.culprits.empty() ? "<h2>No culprit; the first difference</h2>\n<p>"
                                      : "<h2>The first difference</h2>\n<p>");
  AppendPlaced(PlaceText(first->unit->step, first->unit->rank, first->unit->process),
               first->node->name, out);
  out->append("<br>");
  AppendHtml(first->node->reason, out);
  if (!first->node->source.empty()) {
    out->append("<br>");
    AppendCode(first->node->source, out);
  }
  out->append("</p>\n");
}

void AppendCulprits(const RunReport& report, std::string* out) {
  AppendFirstDifference(report, out);
  if (report.culprits.empty()) return;
  out->append(FirstDifference(report.units) ? "<h2>Culprits of later steps, best first</h2>\n<ol>\n"
                                            : "<h2>Culprits, best first</h2>\n<ol>\n");
  const size_t shown = std::min(kListedNodes, report.culprits.size());
  for (size_t i = 0; i < shown; ++i) {
    const DivergedNode& node = report.culprits[i];
    out->append("<li>");
    AppendPlaced(PlaceText(node.step, node.rank, node.process), node.name, out);
    out->append("<br>");
    AppendHtml(node.reason, out);
    AppendErrors("; ", node, out);
    if (!node.source.empty()) {
      out->append("<br>");
      AppendCode(node.source, out);
    }
    if (node.stack.size() > 1) {
      out->append("<details><summary>stack</summary><pre>");
      for (const std::string& frame : node.stack) {
        AppendHtml(Printable(frame), out);
        out->push_back('\n');
      }
      out->append("</pre></details>");
    }
    out->append("</li>\n");
  }
  out->append("</ol>\n");
  if (shown < report.culprits.size()) {
    out->append("<p>and " + std::to_string(report.culprits.size() - shown) + " more</p>\n");
  }
}

void AppendVictims(const RunReport& report, std::string* out) {
  if (report.victims.empty()) return;
  out->append("<h2>Nodes that carry an error on (" + std::to_string(report.victims.size()) +
              ")</h2>\n<details><summary>list</summary><div class=\"wide\"><table><tr><th>node</th>"
              "<th>role</th><th>culprit</th><th>error in</th><th>out</th></tr>\n");
  const size_t shown = std::min(kListedNodes, report.victims.size());
  for (size_t i = 0; i < shown; ++i) {
    const DivergedNode& node = report.victims[i];
    out->append("<tr><td>");
    AppendPlaced(PlaceText(node.step, node.rank, node.process), node.name, out);
    out->append("</td><td>").append(compare::RoleName(node.role)).append("</td><td>");
    const bool elsewhere = node.culprit_rank != node.rank;
    if (!node.culprit.empty()) {
      AppendPlaced(elsewhere ? PlaceText(node.step, node.culprit_rank) : std::string(),
                   node.culprit, out);
    }
    out->append("</td><td class=\"number\">");
    out->append(ShortNumber(node.error_in));
    out->append("</td><td class=\"number\">");
    out->append(ShortNumber(node.error_out));
    out->append("</td></tr>\n");
  }
  out->append("</table></div>");
  if (shown < report.victims.size()) {
    out->append("<p>and " + std::to_string(report.victims.size() - shown) + " more</p>");
  }
  out->append("</details>\n");
}

void AppendNotCompared(const RunReport& report, std::string* out) {
  if (report.not_compared.empty()) return;
  out->append("<h2>Not compared (" + std::to_string(report.not_compared.size()) +
              ")</h2>\n<div class=\"wide\"><table><tr><th>node</th><th>side</th><th>what</th>"
              "<th>why</th></tr>\n");
  const size_t shown = std::min(kListedNodes, report.not_compared.size());
  for (size_t i = 0; i < shown; ++i) {
    const NotCompared& node = report.not_compared[i];
    out->append("<tr><td>");
    AppendPlaced(PlaceText(node.step, node.rank, node.process), node.name, out);
    out->append(node.golden ? "</td><td>golden</td><td>" : "</td><td>target</td><td>");
    out->append(NotComparedName(node.kind)).append("</td><td>");
    AppendHtml(node.reason, out);
    out->append("</td></tr>\n");
  }
  out->append("</table></div>\n");
  if (shown < report.not_compared.size()) {
    out->append("<p>and " + std::to_string(report.not_compared.size() - shown) + " more</p>\n");
  }
}

void AppendRow(const std::vector<std::string_view>& names, const std::vector<Cell>& cells,
               std::string* out) {
  out->append("<tr>");
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    text.clear();
    AppendCell(cells[i], &text);
    if (names[i] == "Result") {
      out->append("<td class=\"").append(text).append("\">");
    } else {
      out->append(cells[i].kind == CellKind::kText ? "<td>" : "<td class=\"number\">");
    }
    AppendHtml(text, out);
    out->append("</td>");
  }
  out->append("</tr>\n");
}

}  // namespace

void AppendHtml(std::string_view text, std::string* out) {
  for (const char c : Printable(formats::RepairedUtf8(text))) {
    switch (c) {
      case '&': out->append("&amp;"); break;
      case '<': out->append("&lt;"); break;
      case '>': out->append("&gt;"); break;
      case '"': out->append("&quot;"); break;
      case '\'': out->append("&#39;"); break;
      default: out->push_back(c);
    }
  }
}

std::string HtmlRows(const TableRows& rows) {
  const std::vector<std::string_view> names = ColumnNames(rows.comparison().mode);
  std::string body;
  size_t shown = 0;
  uint64_t left = 0;
  RowCells cells(rows.comparison());
  rows.ForEach(0, rows.size(), [&](const TableRow& row) {
    if (row.status == compare::NodeStatus::kPass) return;
    if (shown == kHtmlRows) {
      ++left;
      return;
    }
    ++shown;
    AppendRow(names, cells.Fill(row), &body);
  });
  if (shown == 0) return {};
  std::string out = "<div class=\"wide\"><table><tr>";
  for (const std::string_view name : names) out.append("<th>").append(name).append("</th>");
  out.append("</tr>\n").append(body).append("</table></div>\n");
  if (left > 0) {
    out.append("<p>and " + std::to_string(left) + " more: the csv table has them all</p>\n");
  }
  return out;
}

std::string HtmlPage(const RunReport& report, std::span<const std::string> rows) {
  std::string out(kHead);
  const std::string_view verdict = VerdictName(report.verdict);
  out.append("<h1>Verdict: <span class=\"").append(verdict).append("\">").append(verdict);
  out.append("</span></h1>\n");
  AppendCulprits(report, &out);
  out.append("<h2>Counts</h2>\n<pre>");
  std::string counts;
  AppendCounts(report.units, &counts);
  for (const char c : counts) {
    if (c == '<' || c == '&') {
      AppendHtml(std::string_view(&c, 1), &out);
    } else {
      out.push_back(c);
    }
  }
  out.append("</pre>\n");
  AppendNotCompared(report, &out);
  AppendVictims(report, &out);
  for (size_t i = 0; i < rows.size() && i < report.units.size(); ++i) {
    if (rows[i].empty()) continue;
    out.append("<h2>Tensors that do not pass");
    const std::string place =
        PlaceText(report.units[i].step, report.units[i].rank, report.units[i].process);
    if (!place.empty()) out.append(", ").append(place);
    out.append("</h2>\n").append(rows[i]);
  }
  return out.append("</body></html>\n");
}

}  // namespace msprobe::report
