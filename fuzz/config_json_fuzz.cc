#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/json/config_json.h"

namespace {

void Walk(const msprobe::formats::ConfigValue& value) {
  for (const std::string_view key : value.Keys()) Walk(*value.Find(key));
  const auto list = value.List("list");
  if (list.ok()) {
    for (const auto& element : *list) Walk(element);
  }
  (void)value.String("string").ok();
  (void)value.Bool("bool").ok();
  (void)value.Int("int").ok();
  (void)value.Number("number").ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = msprobe::formats::ConfigJson::Parse(
      std::string(reinterpret_cast<const char*>(data), size), "config.json");
  if (!config.ok()) return 0;
  (void)config->CheckKeys().ok();
  Walk(config->root());
  return 0;
}
