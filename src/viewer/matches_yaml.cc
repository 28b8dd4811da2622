#include <map>

#include "formats/json/json_escape.h"
#include "formats/json/json_writer.h"
#include "graph/node_name.h"
#include "viewer/hand_matches.h"

namespace msprobe::viewer {

Result<std::string> MatchesYaml(const visfile::UnitIndex& index, const std::vector<IdPair>& pairs) {
  std::map<std::string_view, std::string_view> paths;
  std::string comments;
  for (const IdPair& pair : pairs) {
    const std::string_view target = index.target.names[pair.target];
    const std::string_view golden = index.golden.names[pair.golden];
    const graph::NodeName t = graph::ParseNodeName(target);
    const graph::NodeName g = graph::ParseNodeName(golden);
    const bool modules = t.kind == graph::NodeKind::kModule && g.kind == graph::NodeKind::kModule &&
                         !t.path.empty() && !g.path.empty();
    const auto known = modules ? paths.emplace(t.path, g.path).first : paths.end();
    if (known != paths.end() && known->second == g.path) continue;
    // Quoted, so that no name ends its line.
    comments += modules ? "# contradicts a rule above: "
                        : "# has no rule, calls pair by name and order inside their modules: ";
    formats::AppendJsonString(target, &comments);
    comments += " with ";
    formats::AppendJsonString(golden, &comments);
    comments += "\n";
  }
  // `graph -lm` refuses a file without rules.
  if (paths.empty()) {
    return UnsupportedError(
        "no pair of modules was made by hand, and a layer mapping names modules only",
        "calls of functions pair by name and order inside paired modules");
  }
  std::string yaml = "TopLayer:\n";
  for (const auto& [target, golden] : paths) {
    yaml += "  ";
    formats::AppendJsonString(target, &yaml);
    yaml += ": ";
    formats::AppendJsonString(golden, &yaml);
    yaml += "\n";
  }
  return yaml + comments;
}

}  // namespace msprobe::viewer
