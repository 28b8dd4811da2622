#include "viewer/name_search.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/thread_pool.h"

namespace msprobe::viewer {

namespace {

constexpr size_t kLeastChunk = 20'000;  ///< names; fewer are not worth a thread

constexpr size_t kMarks = 64;  ///< in a word
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

/// Who calls it holds the unit's mutex, at least shared: pairs are made by hand meanwhile.
bool NameSearch::TakesFromOther(uint32_t id) const {
  const uint32_t partner = other_ == nullptr ? graph::kNoNode : side_.partners[id];
  return partner != graph::kNoNode && other_->side_.names[partner] == side_.names[id];
}

void NameSearch::FoldNames() {
  size_t bytes = 0;
  for (uint32_t id = 0; id < side_.size(); ++id) {
    if (!TakesFromOther(id)) bytes += side_.names[id].size() + 1;
  }
  folded_.reserve(bytes);
  offsets_.reserve(side_.size() + 1);
  if (other_ != nullptr) shared_.reserve(side_.size());
  for (const uint32_t id : side_.order) {
    offsets_.push_back(folded_.size());
    if (other_ != nullptr) {
      const bool shared = TakesFromOther(id);
      shared_.push_back(shared ? other_->side_.position[side_.partners[id]] : graph::kNoNode);
      if (shared) continue;
    }
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
  needle.common = fewest > folded_.size() / 64;
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
  return needle.common ? NextOfPair(needle, at, end) : NextOfByte(needle, at, end);
}

/// By the rarest byte: what is seldom found is found fastest one by one.
size_t NameSearch::NextOfByte(const Needle& needle, size_t at, size_t end) const {
  const char* const text = folded_.data();
  const size_t size = needle.text.size();
  const size_t before = needle.rare_at;
  while (at + size <= end) {
    const void* found = std::memchr(text + at + before, needle.text[before], end - at - before);
    if (found == nullptr) return std::string::npos;
    const size_t begin = static_cast<size_t>(static_cast<const char*>(found) - text) - before;
    if (begin + size > end) return std::string::npos;
    if (std::memcmp(text + begin, needle.text.data(), size) == 0) return begin;
    at = begin + 1;
  }
  return std::string::npos;
}

/// Where its two rarest bytes stand at their distance, many places at once: compilers make vectors
/// of the inner loop.
size_t NameSearch::NextOfPair(const Needle& needle, size_t at, size_t end) const {
  const char* const text = folded_.data();
  const size_t size = needle.text.size();
  const char rare = needle.text[needle.rare_at];
  const char next = needle.text[needle.next_at];
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
        if (std::memcmp(text + begin, needle.text.data(), size) == 0) return begin;
      }
    }
  }
  return NextOfByte(needle, at, end);
}

template <class Emit>
void NameSearch::ForHits(size_t begin, size_t end, const std::vector<std::string>& parts,
                         Emit emit) const {
  const Needle needle = NeedleOf(parts);
  if (needle.missing) return;
  size_t position = begin;
  size_t at = offsets_[begin];
  // One search over all names: starting one costs more than searching a name.
  while (position < end) {
    const size_t hit = NextHit(needle, at, offsets_[end]);
    if (hit == std::string::npos) break;
    while (offsets_[position + 1] <= hit) ++position;
    const std::string_view name(folded_.data() + offsets_[position],
                                offsets_[position + 1] - offsets_[position] - 1);
    if (parts.size() == 1 || MatchesRest(name, parts)) emit(position);
    at = offsets_[++position];
  }
}

void NameSearch::MarkShared(size_t begin, size_t end, const Page& known,
                            std::vector<uint64_t>* marks) const {
  for (size_t position = begin; position < end; ++position) {
    const uint32_t there = shared_[position];
    if (there == graph::kNoNode) continue;
    const uint64_t bit = (known.marks[there / kMarks] >> (there % kMarks)) & 1;
    (*marks)[position / kMarks] |= bit << (position % kMarks);
  }
}

/// The hits of a query of nothing but stars.
void NameSearch::MarkAll(std::vector<uint64_t>* marks) const {
  marks->assign(marks->size(), ~uint64_t{0});
  marks->back() >>= marks->size() * kMarks - side_.size();
}

NameSearch::Page NameSearch::Find(std::string_view query, uint64_t offset, uint64_t limit,
                                  size_t threads, const Page* known) {
  Prepare();
  std::vector<std::string> parts = SplitQuery(query);
  Page page;
  if (query.empty() || side_.size() == 0) return page;
  for (std::string& part : parts) std::replace(part.begin(), part.end(), '\n', ' ');
  Page asked;
  if (other_ != nullptr && known == nullptr) {
    asked = other_->Find(query, 0, 0, threads);
    known = &asked;
  }
  page.marks.resize((side_.size() + kMarks - 1) / kMarks);
  // Whole words of marks: no two threads write to the same.
  const size_t share = side_.size() / (4 * std::max<size_t>(1, threads)) + 1;
  const size_t chunk = (std::max(kLeastChunk, share) + kMarks - 1) / kMarks * kMarks;
  if (parts.empty()) MarkAll(&page.marks);
  const size_t searched = parts.empty() ? 0 : side_.size();
  base::ParallelFor(searched, chunk, threads, [&](size_t begin, size_t end) {
    ForHits(begin, end, parts, [&](size_t position) {
      page.marks[position / kMarks] |= uint64_t{1} << (position % kMarks);
    });
    if (other_ != nullptr) MarkShared(begin, end, *known, &page.marks);
  });
  // The root is the page itself.
  const uint32_t root = side_.position[0];
  page.marks[root / kMarks] &= ~(uint64_t{1} << (root % kMarks));
  for (size_t word = 0; word < page.marks.size(); ++word) {
    for (uint64_t left = page.marks[word]; left != 0 && page.ids.size() < limit; left &= left - 1) {
      const size_t before =
          page.total + static_cast<size_t>(std::popcount(page.marks[word]) - std::popcount(left));
      if (before < offset) continue;
      const size_t position = word * kMarks + static_cast<size_t>(std::countr_zero(left));
      page.ids.push_back(side_.order[position]);
    }
    page.total += static_cast<uint64_t>(std::popcount(page.marks[word]));
  }
  return page;
}

}  // namespace msprobe::viewer
