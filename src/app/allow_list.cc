#include "app/allow_list.h"

#include <utility>

#include "base/file.h"
#include "base/wildcard.h"
#include "formats/yaml/yaml_file.h"

namespace msprobe::app {

namespace {

constexpr size_t kMaxFileSize = 4 << 20;
constexpr size_t kMaxEntries = 100'000;
constexpr const char* kAdvice =
    "write 'allow:' and below it '- name: NODE' with 'reason: WHY'; * and ? may stand in names";

using formats::YamlFile;

Result<AllowList::Entry> ReadEntry(const YAML::Node& node, const YamlFile& file) {
  if (!node.IsMap()) return file.Bad(node.Mark(), "an entry is not 'name' and 'reason'");
  MSPROBE_RETURN_IF_ERROR(file.CheckKeys(node));
  AllowList::Entry entry;
  for (const auto& member : node) {
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
    if (key != "name" && key != "reason") {
      return file.Bad(member.first.Mark(), "an entry has 'name' and 'reason', not '" + key + "'");
    }
    if (!member.second.IsScalar() || member.second.Scalar().empty()) {
      return file.Bad(member.first.Mark(), "'" + key + "' is not plain text");
    }
    (key == "name" ? entry.pattern : entry.reason) = member.second.Scalar();
  }
  if (entry.pattern.empty()) return file.Bad(node.Mark(), "an entry has no 'name'");
  if (entry.reason.empty()) {
    return file.Bad(node.Mark(), "'" + entry.pattern + "' has no 'reason'");
  }
  return entry;
}

Result<std::vector<AllowList::Entry>> ReadDocument(const YAML::Node& document,
                                                   const YamlFile& file) {
  if (!document.IsMap() || document.size() != 1 || !document["allow"]) {
    return file.Bad(document.Mark(), "there is no 'allow' alone at the top");
  }
  const YAML::Node list = document["allow"];
  std::vector<AllowList::Entry> entries;
  if (list.IsNull()) return entries;
  if (!list.IsSequence()) return file.Bad(list.Mark(), "'allow' is not a list");
  if (list.size() > kMaxEntries) {
    return LimitExceededError("more than 100,000 entries", "use patterns", file.path);
  }
  for (const YAML::Node& node : list) {
    MSPROBE_ASSIGN_OR_RETURN(AllowList::Entry entry, ReadEntry(node, file));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

Result<AllowList> AllowList::Parse(const std::string& text, const std::string& path) {
  const YamlFile file{"allow-list", kAdvice, path};
  AllowList list;
  MSPROBE_ASSIGN_OR_RETURN(list.entries_,
                           formats::ReadYaml(text, file, [&](const YAML::Node& document) {
                             return ReadDocument(document, file);
                           }));
  for (size_t i = 0; i < list.entries_.size(); ++i) {
    const std::string& pattern = list.entries_[i].pattern;
    if (pattern.find_first_of("*?") != std::string::npos) {
      list.patterns_.push_back(i);
    } else if (!list.exact_.emplace(pattern, i).second) {
      return InvalidArgumentError("'" + pattern + "' stands twice in the allow-list", kAdvice,
                                  path);
    }
  }
  return list;
}

Result<AllowList> AllowList::Load(const std::filesystem::path& path) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string text, base::ReadSmallFile(path, kMaxFileSize));
  return Parse(text, path.string());
}

AllowList::Outcome AllowList::Apply(std::span<const report::NotCompared> nodes) const {
  Outcome outcome;
  std::vector<bool> used(entries_.size(), false);
  for (const report::NotCompared& node : nodes) {
    bool known = false;
    const auto exact = exact_.find(node.name);
    if (exact != exact_.end()) known = used[exact->second] = true;
    // Every pattern that fits is needed, or it would be called stale.
    for (const size_t i : patterns_) {
      if (base::FitsWildcards(entries_[i].pattern, node.name)) known = used[i] = true;
    }
    if (known) {
      ++outcome.known;
    } else {
      outcome.unknown.push_back(&node);
    }
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!used[i]) outcome.stale.push_back(entries_[i]);
  }
  return outcome;
}

}  // namespace msprobe::app
