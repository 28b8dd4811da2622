#include "app/compare_config.h"

#include <string>
#include <vector>

#include "app/nearest_word.h"
#include "formats/json/config_json.h"

namespace msprobe::app {

namespace {

const std::vector<std::string> kKeys = {"npu_path", "bench_path", "is_print_compare_log"};

Result<std::filesystem::path> ReadPath(const formats::ConfigValue& root, const std::string& key) {
  const std::optional<formats::ConfigValue> value = root.Find(key);
  if (!value || value->is_null()) return std::filesystem::path();
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view text, value->String(key));
  if (text.empty() && key == kKeys[0]) {
    return value->Error(key + " is empty", "give the directory of the dump to look at");
  }
  if (text.find('\0') != std::string_view::npos) {
    return value->Error(key + " has a zero byte", "give the directory of a dump");
  }
  return std::filesystem::path(text);
}

}  // namespace

Result<CompareConfig> ReadCompareConfig(const std::filesystem::path& path,
                                        base::Diagnostics* diagnostics) {
  MSPROBE_ASSIGN_OR_RETURN(const formats::ConfigJson json, formats::ConfigJson::Read(path));
  const formats::ConfigValue root = json.root();
  if (root.kind() != formats::JsonKind::kObject) {
    return root.Error("compare.json must be an object",
                      "write {\"npu_path\": \"…\", \"bench_path\": \"…\"}");
  }
  for (const std::string_view key : root.Keys()) {
    if (NearestWord(key, kKeys) == key) continue;
    diagnostics->Add(
        base::DiagnosticKind::kUnknownKey,
        InvalidArgumentError("nobody reads the key '" + std::string(key) + "'",
                             DidYouMean(key, kKeys) + "known keys: " + JoinWords(kKeys), path));
  }
  CompareConfig config;
  MSPROBE_ASSIGN_OR_RETURN(config.npu_path, ReadPath(root, kKeys[0]));
  MSPROBE_ASSIGN_OR_RETURN(config.bench_path, ReadPath(root, kKeys[1]));
  if (config.bench_path.empty() && root.Find(kKeys[1])) {
    diagnostics->Add(
        base::DiagnosticKind::kNote,
        InvalidArgumentError("bench_path is empty: nothing is compared",
                             "give the directory of the dump to compare with, or leave "
                             "bench_path out",
                             path));
  }
  if (config.npu_path.empty()) {
    return root.Error("npu_path is missing", "give the directory of the dump to look at");
  }
  if (const auto value = root.Find(kKeys[2]); value && !value->is_null()) {
    MSPROBE_ASSIGN_OR_RETURN(config.print_compare_log, value->Bool(kKeys[2]));
  }
  return config;
}

}  // namespace msprobe::app
