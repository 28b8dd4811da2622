#include "viewer/name_search.h"

#include <algorithm>
#include <cstring>

namespace msprobe::viewer {

namespace {

char Fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Folded pieces of the query between the stars; empty ones are dropped.
std::vector<std::string> SplitQuery(std::string_view query) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : query) {
    if (c != '*') {
      part.push_back(Fold(c));
    } else if (!part.empty()) {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

}  // namespace

void NameSearch::Prepare() {
  size_t bytes = 0;
  for (const std::string_view name : side_.names) bytes += name.size() + 1;
  folded_.reserve(bytes);
  offsets_.reserve(side_.size() + 1);
  for (const uint32_t id : side_.order) {
    offsets_.push_back(folded_.size());
    for (const char c : side_.names[id]) folded_.push_back(c == '\n' ? ' ' : Fold(c));
    folded_.push_back('\n');
  }
  offsets_.push_back(folded_.size());
}

bool NameSearch::MatchesRest(std::string_view name, const std::vector<std::string>& parts) const {
  size_t at = 0;
  for (const std::string& part : parts) {
    at = name.find(part, at);
    if (at == std::string_view::npos) return false;
    at += part.size();
  }
  return true;
}

std::vector<uint32_t> NameSearch::Find(std::string_view query) {
  std::call_once(prepared_, [this] { Prepare(); });
  std::vector<std::string> parts = SplitQuery(query);
  std::vector<uint32_t> hits;
  if (parts.empty() || side_.size() == 0) return hits;
  for (std::string& part : parts) std::replace(part.begin(), part.end(), '\n', ' ');
  // One memmem over all names at once: names are short, and starting a search costs more than
  // searching them.
  const std::string& first = parts.front();
  size_t at = 0;
  size_t position = 0;
  for (;;) {
    const void* found =
        ::memmem(folded_.data() + at, folded_.size() - at, first.data(), first.size());
    if (found == nullptr) return hits;
    const auto offset = static_cast<size_t>(static_cast<const char*>(found) - folded_.data());
    while (offsets_[position + 1] <= offset) ++position;
    const std::string_view name(folded_.data() + offsets_[position],
                                offsets_[position + 1] - offsets_[position] - 1);
    const uint32_t id = side_.order[position];
    if (id != 0 && MatchesRest(name, parts)) hits.push_back(id);
    at = offsets_[position + 1];
  }
}

}  // namespace msprobe::viewer
