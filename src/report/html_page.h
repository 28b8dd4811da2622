#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/run_report.h"
#include "report/table_rows.h"

namespace msprobe::report {

/// Rows that a page shows of one unit.
inline constexpr size_t kHtmlRows = 1000;

/// The first rows that do not pass, as an HTML table; empty if all pass.
std::string HtmlRows(const TableRows& rows);

/// One page without script and without anything from elsewhere. `rows` stand beside the units.
std::string HtmlPage(const RunReport& report, std::span<const std::string> rows);

/// Text between tags or inside a quoted attribute.
void AppendHtml(std::string_view text, std::string* out);

}  // namespace msprobe::report
