#pragma once

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <utility>

#include "msprobe/status.h"

namespace msprobe::formats {

/// A file that people write by hand: its errors name the line and say what to write instead.
struct YamlFile {
  std::string_view what;  ///< "layer mapping"
  const char* advice = "";
  std::string path;

  /// "line 3 of the layer mapping: <fact>"; without the line where nobody knows it.
  Status Bad(const YAML::Mark& mark, const std::string& fact) const;
  /// "line 3 of the layer mapping: '<key>' stands twice".
  Status Twice(const YAML::Node& key) const;
  /// The same for the first key that stands twice in a map: yaml-cpp keeps both, and says nothing.
  Status CheckKeys(const YAML::Node& map) const;
};

/// Where a second document begins that says anything; null: there is none. Throws what yaml-cpp
/// does.
YAML::Mark SecondDocument(const std::string& text);

/// Calls read(document), which returns a Result or a Status, and turns what yaml-cpp throws (broken
/// yaml, in there too) into an error.
template <class Read>
auto ReadYaml(const std::string& text, const YamlFile& file, Read&& read)
    -> decltype(read(YAML::Node())) {
  try {
    const YAML::Mark second = SecondDocument(text);
    if (!second.is_null()) {
      return file.Bad(second, "a second document begins, there can be one only");
    }
    return std::forward<Read>(read)(YAML::Load(text));
  } catch (const YAML::DeepRecursion& error) {
    return file.Bad(error.mark, "nested too deeply");
  } catch (const YAML::Exception& error) {
    return file.Bad(error.mark, error.msg);
  }
}

}  // namespace msprobe::formats
