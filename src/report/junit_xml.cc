#include "report/junit_xml.h"

#include <algorithm>

#include "base/numbers.h"
#include "report/html_page.h"

namespace msprobe::report {

namespace {

void AppendAttribute(const char* name, std::string_view value, std::string* out) {
  out->append(" ").append(name).append("=\"");
  AppendHtml(value, out);
  out->push_back('"');
}

/// Lines stay lines; AppendHtml makes one of them.
void AppendLines(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    AppendHtml(text.substr(0, end), out);
    out->push_back('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

std::string CountText(const JUnitSuite& suite, JUnitCase::Outcome outcome) {
  return std::to_string(
      std::count_if(suite.cases.begin(), suite.cases.end(),
                    [outcome](const JUnitCase& one) { return one.outcome == outcome; }));
}

void AppendCase(const JUnitSuite& suite, const JUnitCase& one, std::string* out) {
  out->append("    <testcase");
  AppendAttribute("classname", "msprobe." + suite.name, out);
  AppendAttribute("name", one.name, out);
  if (one.outcome == JUnitCase::Outcome::kPass) {
    out->append("/>\n");
    return;
  }
  const char* tag = one.outcome == JUnitCase::Outcome::kFail ? "failure" : "skipped";
  out->append(">\n      <").append(tag);
  AppendAttribute("message", one.message, out);
  if (one.text.empty()) {
    out->append("/>\n");
  } else {
    out->append(">");
    AppendLines(one.text, out);
    out->append("</").append(tag).append(">\n");
  }
  out->append("    </testcase>\n");
}

}  // namespace

std::string JUnitXml(std::span<const JUnitSuite> suites) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const JUnitSuite& suite : suites) {
    out.append("  <testsuite");
    AppendAttribute("name", suite.name, &out);
    AppendAttribute("tests", std::to_string(suite.cases.size()), &out);
    AppendAttribute("failures", CountText(suite, JUnitCase::Outcome::kFail), &out);
    AppendAttribute("skipped", CountText(suite, JUnitCase::Outcome::kSkip), &out);
    AppendAttribute("errors", "0", &out);
    AppendAttribute("time", base::FormatNumber(suite.seconds, std::chars_format::fixed, 3), &out);
    out.append(">\n");
    for (const JUnitCase& one : suite.cases) AppendCase(suite, one, &out);
    out.append("  </testsuite>\n");
  }
  return out.append("</testsuites>\n");
}

}  // namespace msprobe::report
