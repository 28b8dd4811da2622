#include "graph/layer_mapping.h"

#include <algorithm>

#include "base/file.h"
#include "formats/yaml/yaml_file.h"

namespace msprobe::graph {
namespace {

constexpr size_t kMaxFileSize = 16 << 20;
/// Aliases let a small file stand for many rules.
constexpr size_t kMaxRules = 1'000'000;
using formats::YamlFile;

bool IsModulePath(const std::string& text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string::npos && text.find_first_of(" \t\r\n") == std::string::npos;
}

size_t Levels(const std::string& path) {
  return static_cast<size_t>(std::count(path.begin(), path.end(), '.')) + 1;
}

Status ReadClass(const std::string& name, const YAML::Node& body, const YamlFile& file,
                 std::vector<LayerMapping::Rule>* rules) {
  for (const auto& entry : body) {
    const YAML::Node& from = entry.first;
    const YAML::Node& to = entry.second;
    if (!from.IsScalar()) return file.Bad(from.Mark(), "a child path is not plain text");
    const std::string& child = from.Scalar();
    if (!to.IsScalar()) {
      return file.Bad(from.Mark(), "'" + child + "' has no golden path as plain text");
    }
    if (!IsModulePath(child) || !IsModulePath(to.Scalar())) {
      return file.Bad(from.Mark(),
                      "'" + child + ": " + to.Scalar() + "' is not a pair of module paths");
    }
    rules->push_back({child, to.Scalar(), 0});
  }
  std::stable_sort(rules->begin(), rules->end(), [](const auto& a, const auto& b) {
    const size_t a_levels = Levels(a.target_path);
    const size_t b_levels = Levels(b.target_path);
    return a_levels != b_levels ? a_levels > b_levels : a.target_path < b.target_path;
  });
  const auto twice = std::adjacent_find(
      rules->begin(), rules->end(),
      [](const auto& a, const auto& b) { return a.target_path == b.target_path; });
  if (twice == rules->end()) return Status::Ok();
  return file.Bad(body.Mark(), "'" + twice->target_path + "' stands twice under '" + name + "'");
}

Result<LayerMapping> ReadDocument(const YAML::Node& document, const YamlFile& file) {
  if (!document.IsMap() || document.size() == 0) {
    return file.Bad(document.Mark(), "no class names");
  }
  LayerMapping mapping;
  size_t rules = 0;
  for (const auto& entry : document) {
    const YAML::Node& name = entry.first;
    if (!name.IsScalar()) return file.Bad(name.Mark(), "a class name is not plain text");
    const std::string& text = name.Scalar();
    if (!entry.second.IsMap() || entry.second.size() == 0) {
      return file.Bad(name.Mark(),
                      "'" + text + "' has no 'child.path: golden.child.path' below it");
    }
    rules += entry.second.size();
    if (rules > kMaxRules) {
      return LimitExceededError("more than a million rules",
                                "write fewer: an alias repeats all rules of its anchor", file.path);
    }
    const auto [it, is_new] = mapping.by_class.try_emplace(text);
    if (!is_new) return file.Bad(name.Mark(), "'" + text + "' stands twice");
    MSPROBE_RETURN_IF_ERROR(ReadClass(text, entry.second, file, &it->second));
    size_t number = rules - entry.second.size();
    for (LayerMapping::Rule& rule : it->second) rule.number = number++;
  }
  return mapping;
}

}  // namespace

Result<LayerMapping> ParseLayerMapping(const std::string& text, const std::string& path) {
  const YamlFile file{"layer mapping",
                      "write 'ClassName:' and below it, indented, 'child.path: golden.child.path'",
                      path};
  return formats::ReadYaml(
      text, file, [&](const YAML::Node& document) { return ReadDocument(document, file); });
}

Result<LayerMapping> LoadLayerMapping(const std::filesystem::path& path) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string text, base::ReadSmallFile(path, kMaxFileSize));
  return ParseLayerMapping(text, path.string());
}

}  // namespace msprobe::graph
