#pragma once

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::formats {

/// A file that people write by hand: its errors name the line and say what to write instead.
struct YamlFile {
  std::string_view what;  ///< "layer mapping"
  const char* advice = "";
  std::string path;

  /// "line 3 of the layer mapping: <fact>"; without the line where nobody knows it.
  Status Bad(const YAML::Mark& mark, const std::string& fact) const;
};

/// Calls read(document), which returns a Result or a Status, and turns what yaml-cpp throws (broken
/// yaml, in there too) into an error.
template <class Read>
auto ReadYaml(const std::string& text, const YamlFile& file, Read&& read)
    -> decltype(read(YAML::Node())) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    for (size_t i = 1; i < documents.size(); ++i) {
      if (documents[i].IsNull()) continue;  // nothing behind a last "---"
      return file.Bad(documents[i].Mark(), "a second document begins, there can be one only");
    }
    return std::forward<Read>(read)(documents.empty() ? YAML::Node() : documents[0]);
  } catch (const YAML::DeepRecursion& error) {
    return file.Bad(error.mark, "nested too deeply");
  } catch (const YAML::Exception& error) {
    return file.Bad(error.mark, error.msg);
  }
}

}  // namespace msprobe::formats
