#include "viewer/name_search.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/thread_pool.h"

namespace msprobe::viewer {

namespace {

constexpr size_t kLeastChunk = 20'000;  ///< names; fewer are not worth a thread

constexpr size_t kBlock = 64;  ///< places that are looked at together

static_assert(std::endian::native == std::endian::little, "places are counted from the low byte");

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
  std::call_once(prepared_, [this] { FoldNames(); });
}

void NameSearch::FoldNames() {
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
  for (const char c : folded_) ++byte_counts_[static_cast<unsigned char>(c)];
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

/// The part that the fewest names can hold, and where its two rarest bytes stand.
NameSearch::Needle NameSearch::NeedleOf(const std::vector<std::string>& parts) const {
  const auto count = [this](char c) { return byte_counts_[static_cast<unsigned char>(c)]; };
  Needle needle;
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  for (const std::string& part : parts) {
    const auto rare = std::ranges::min_element(part, {}, count);
    if (count(*rare) >= fewest) continue;
    fewest = count(*rare);
    needle.text = part;
    needle.rare_at = static_cast<size_t>(rare - part.begin());
  }
  needle.missing = fewest == 0;
  needle.next_at = needle.rare_at == 0 ? needle.text.size() - 1 : 0;
  for (size_t i = 0; i < needle.text.size(); ++i) {
    if (i != needle.rare_at && count(needle.text[i]) < count(needle.text[needle.next_at])) {
      needle.next_at = i;
    }
  }
  return needle;
}

/// Offset of the next hit in the names before `end`, or npos.
size_t NameSearch::NextHit(const Needle& needle, size_t at, size_t end) const {
  const size_t size = needle.text.size();
  const char* const text = folded_.data();
  const char rare = needle.text[needle.rare_at];
  const char next = needle.text[needle.next_at];
  const auto is_hit = [&](size_t begin) {
    return std::memcmp(text + begin, needle.text.data(), size) == 0;
  };
  // Where two rare bytes stand at their distance, many places at once: compilers make vectors of
  // the inner loop, which reads memory as fast as it comes.
  for (; at + kBlock + size <= end; at += kBlock) {
    std::array<uint8_t, kBlock> found;
    const char* const first = text + at + needle.rare_at;
    const char* const second = text + at + needle.next_at;
    for (size_t i = 0; i < kBlock; ++i) {
      found[i] = static_cast<uint8_t>(first[i] == rare) & static_cast<uint8_t>(second[i] == next);
    }
    for (size_t word = 0; word < kBlock; word += sizeof(uint64_t)) {
      uint64_t marks = 0;
      std::memcpy(&marks, found.data() + word, sizeof(marks));
      for (; marks != 0; marks &= marks - 1) {
        const size_t begin = at + word + static_cast<size_t>(std::countr_zero(marks)) / 8;
        if (is_hit(begin)) return begin;
      }
    }
  }
  for (; at + size <= end; ++at) {
    if (text[at + needle.rare_at] == rare && is_hit(at)) return at;
  }
  return std::string::npos;
}

NameSearch::Page NameSearch::FindIn(size_t begin, size_t end, const std::vector<std::string>& parts,
                                    uint64_t limit) const {
  const Needle needle = NeedleOf(parts);
  Page page;
  if (needle.missing) return page;
  size_t position = begin;
  size_t at = offsets_[begin];
  // One search over all names: starting one costs more than searching a name.
  while (position < end) {
    const size_t hit = NextHit(needle, at, offsets_[end]);
    if (hit == std::string::npos) break;
    while (offsets_[position + 1] <= hit) ++position;
    const std::string_view name(folded_.data() + offsets_[position],
                                offsets_[position + 1] - offsets_[position] - 1);
    const uint32_t id = side_.order[position];
    if (id != 0 && (parts.size() == 1 || MatchesRest(name, parts))) {
      if (page.ids.size() < limit) page.ids.push_back(id);
      ++page.total;
    }
    at = offsets_[++position];
  }
  return page;
}

NameSearch::Page NameSearch::Find(std::string_view query, uint64_t offset, uint64_t limit,
                                  size_t threads) {
  Prepare();
  std::vector<std::string> parts = SplitQuery(query);
  Page page;
  if (parts.empty() || side_.size() == 0) return page;
  for (std::string& part : parts) std::replace(part.begin(), part.end(), '\n', ' ');
  const size_t chunk = std::max(kLeastChunk, side_.size() / (4 * std::max<size_t>(1, threads)) + 1);
  std::vector<Page> found((side_.size() + chunk - 1) / chunk);
  base::ParallelFor(side_.size(), chunk, threads, [&](size_t begin, size_t end) {
    found[begin / chunk] = FindIn(begin, end, parts, offset + limit);
  });
  for (const Page& part : found) {
    for (size_t i = 0; i < part.ids.size() && page.ids.size() < limit; ++i) {
      if (page.total + i >= offset) page.ids.push_back(part.ids[i]);
    }
    page.total += part.total;
  }
  return page;
}

}  // namespace msprobe::viewer
