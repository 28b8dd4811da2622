#include "formats/yaml/yaml_file.h"

namespace msprobe::formats {

Status YamlFile::Bad(const YAML::Mark& mark, const std::string& fact) const {
  std::string line;
  if (!mark.is_null()) {
    line = "line " + std::to_string(mark.line + 1) + " of the " + std::string(what) + ": ";
  }
  return InvalidArgumentError(line + fact, advice, path);
}

}  // namespace msprobe::formats
