#include "app/allow_list.h"

#include <yaml-cpp/yaml.h>

#include <utility>

#include "base/file.h"

namespace msprobe::app {

namespace {

constexpr size_t kMaxFileSize = 4 << 20;
constexpr size_t kMaxEntries = 100'000;
constexpr const char* kAdvice =
    "write 'allow:' and below it '- name: NODE' with 'reason: WHY'; * and ? may stand in names";

Status BadLine(const YAML::Mark& mark, const std::string& what, const std::string& path) {
  const std::string line =
      mark.is_null() ? "" : "line " + std::to_string(mark.line + 1) + " of the allow-list: ";
  return InvalidArgumentError(line + what, kAdvice, path);
}

Result<AllowList::Entry> ReadEntry(const YAML::Node& node, const std::string& path) {
  if (!node.IsMap()) return BadLine(node.Mark(), "an entry is not 'name' and 'reason'", path);
  AllowList::Entry entry;
  for (const auto& member : node) {
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
    if (key != "name" && key != "reason") {
      return BadLine(member.first.Mark(), "an entry has 'name' and 'reason', not '" + key + "'",
                     path);
    }
    if (!member.second.IsScalar() || member.second.Scalar().empty()) {
      return BadLine(member.first.Mark(), "'" + key + "' is not plain text", path);
    }
    (key == "name" ? entry.pattern : entry.reason) = member.second.Scalar();
  }
  if (entry.pattern.empty()) return BadLine(node.Mark(), "an entry has no 'name'", path);
  if (entry.reason.empty()) {
    return BadLine(node.Mark(), "'" + entry.pattern + "' has no 'reason'", path);
  }
  return entry;
}

Result<std::vector<AllowList::Entry>> ReadDocument(const YAML::Node& document,
                                                   const std::string& path) {
  if (!document.IsMap() || document.size() != 1 || !document["allow"]) {
    return BadLine(document.Mark(), "there is no 'allow' alone at the top", path);
  }
  const YAML::Node list = document["allow"];
  std::vector<AllowList::Entry> entries;
  if (list.IsNull()) return entries;
  if (!list.IsSequence()) return BadLine(list.Mark(), "'allow' is not a list", path);
  if (list.size() > kMaxEntries) {
    return LimitExceededError("more than 100,000 entries", "use patterns", path);
  }
  for (const YAML::Node& node : list) {
    MSPROBE_ASSIGN_OR_RETURN(AllowList::Entry entry, ReadEntry(node, path));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<AllowList::Entry>> Parse(const std::string& text, const std::string& path) {
  try {
    return ReadDocument(YAML::Load(text), path);
  } catch (const YAML::Exception& error) {
    return BadLine(error.mark, error.msg, path);
  }
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // the last one, and where it stands for the least
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<AllowList> AllowList::Load(const std::filesystem::path& path) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string text, base::ReadSmallFile(path, kMaxFileSize));
  AllowList list;
  MSPROBE_ASSIGN_OR_RETURN(list.entries_, Parse(text, path.string()));
  for (size_t i = 0; i < list.entries_.size(); ++i) {
    const std::string& pattern = list.entries_[i].pattern;
    if (pattern.find_first_of("*?") != std::string::npos) {
      list.patterns_.push_back(i);
    } else if (!list.exact_.emplace(pattern, i).second) {
      return InvalidArgumentError("'" + pattern + "' stands twice in the allow-list", kAdvice,
                                  path.string());
    }
  }
  return list;
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
      if (MatchesPattern(entries_[i].pattern, node.name)) known = used[i] = true;
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
