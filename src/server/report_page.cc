#include "server/report_page.h"

#include "server/assets.h"

namespace msprobe::server {

namespace {

/// Takes `<tag …name…>` out of the page, with the `</script>` behind it if it has one.
void RemoveElement(std::string_view name, std::string* page) {
  const size_t at = page->find(name);
  if (at == std::string::npos) return;
  const size_t begin = page->rfind('<', at);
  size_t end = page->find('>', at);
  if (begin == std::string::npos || end == std::string::npos) return;
  ++end;
  constexpr std::string_view kEnd = "</script>";
  if (page->compare(end, kEnd.size(), kEnd) == 0) end += kEnd.size();
  page->erase(begin, end - begin);
}

void InsertBefore(std::string_view tag, std::string_view text, std::string* page) {
  const size_t at = page->rfind(tag);
  page->insert(at == std::string::npos ? page->size() : at, text);
}

/// In scripts and JSON alike "<" may only stand in strings and operators; what would end the
/// element is "</", and "<!--" changes how a script is read.
std::string EscapeScript(std::string_view script) {
  std::string out;
  out.reserve(script.size());
  for (size_t i = 0; i < script.size(); ++i) {
    const std::string_view rest = script.substr(i);
    if (rest.starts_with("</script") || rest.starts_with("<!--") || rest.starts_with("<script")) {
      out.append("\\x3c");
    } else {
      out.push_back(script[i]);
    }
  }
  return out;
}

std::string EscapeJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out.append("\\u003c");
    else
      out.push_back(c);
  }
  return out;
}

}  // namespace

Result<std::string> RenderReport(std::string_view data) {
  const EmbeddedFile script = FindAsset("/viewer.js");
  const EmbeddedFile style = FindAsset("/viewer.css");
  if (script.name.empty()) {
    return UnsupportedError("this msprobe was built without its front end",
                            "build web/ first, then msprobe again");
  }
  std::string page(FindAsset("/").bytes);
  RemoveElement("viewer.js", &page);
  RemoveElement("viewer.css", &page);
  InsertBefore("</head>", "<style>" + std::string(style.bytes) + "</style>\n", &page);
  InsertBefore("</body>",
               "<script type=\"application/json\" id=\"msprobe-data\">" + EscapeJson(data) +
                   "</script>\n<script type=\"module\">" + EscapeScript(script.bytes) +
                   "</script>\n",
               &page);
  return page;
}

}  // namespace msprobe::server
