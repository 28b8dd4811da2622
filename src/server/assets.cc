#include "server/assets.h"

#include <array>
#include <cstdint>
#include <utility>

namespace msprobe::server {

namespace {

constexpr std::string_view kPage = "index.html";
constexpr EmbeddedFile kNotBuilt = {
    kPage,
    "<!doctype html><meta charset=utf-8><title>msprobe</title>"
    "<p>This msprobe was built without its front end: run <code>npm ci &amp;&amp; npm run "
    "build</code> in <code>web/</code>, then build msprobe again.</p>\n",
};

}  // namespace

EmbeddedFile FindAsset(std::string_view path) {
  if (!path.starts_with('/')) return {};
  const std::string_view name = path == "/" ? kPage : path.substr(1);
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.name == name) return file;
  }
  return name == kPage ? kNotBuilt : EmbeddedFile{};
}

std::string_view ContentTypeOf(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
  }};
  for (const auto& [suffix, type] : kTypes) {
    if (name.ends_with(suffix)) return type;
  }
  return "application/octet-stream";
}

std::string EntityTag(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a: tells versions of our own files apart
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return "\"" + std::to_string(hash) + "\"";
}

}  // namespace msprobe::server
