// No request makes the viewer crash or answer anything but JSON or yaml, and none writes a file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/json/config_json.h"
#include "small_viewer.h"

namespace {

/// Up to the next line break.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

}  // namespace

/// method, route and query on a line each, then the body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msprobe;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  viewer::Request request;
  request.method = TakeLine(&text);
  request.route = TakeLine(&text);
  request.query = TakeLine(&text);
  request.body = text;
  const viewer::Response response = fuzz::SmallViewer().Handle(request);
  if (response.status < 200 || response.status >= 600) std::abort();
  if (response.content_type != "application/json") return 0;
  if (!formats::ConfigJson::Parse(response.body, "answer").ok()) std::abort();
  return 0;
}
