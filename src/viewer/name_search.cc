#include "viewer/name_search.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

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

void Mark(size_t position, NameSearch::Marks* marks) {
  (*marks)[position / kMarks] |= uint64_t{1} << (position % kMarks);
}

/// Whole words of marks: no two threads write to the same.
size_t ChunkOf(size_t names, size_t threads) {
  const size_t share = names / (4 * std::max<size_t>(1, threads)) + 1;
  return (std::max(kLeastChunk, share) + kMarks - 1) / kMarks * kMarks;
}

}  // namespace

Status NameSearch::Check(std::string_view query) {
  if (SplitQuery(query).size() <= kMostParts) return Status::Ok();
  return InvalidArgumentError(
      "the search has too many stars",
      "at most " + std::to_string(kMostParts) + " parts with stars between them are looked for");
}

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
  same_.resize(shared_.size() / kMarks);
  for (size_t word = 0; word < same_.size(); ++word) {
    same_[word] = 1;
    for (size_t at = word * kMarks; at < (word + 1) * kMarks; ++at) {
      if (shared_[at] != at) same_[word] = 0;
    }
  }
  for (const char c : folded_) ++byte_counts_[static_cast<unsigned char>(c)];
}

/// Where its two rarest bytes stand.
NameSearch::Needle NameSearch::NeedleOf(const std::string& part) const {
  const auto count = [this](char c) { return byte_counts_[static_cast<unsigned char>(c)]; };
  const auto rare = std::ranges::min_element(part, {}, count);
  Needle needle;
  needle.text = part;
  needle.rare_at = static_cast<size_t>(rare - part.begin());
  needle.missing = count(*rare) == 0;
  needle.common = count(*rare) > folded_.size() / 64;
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
void NameSearch::ForHits(size_t begin, size_t end, const std::string& part, Emit emit) const {
  const Needle needle = NeedleOf(part);
  if (needle.missing) return;
  size_t position = begin;
  size_t at = offsets_[begin];
  // One search over all names: starting one costs more than searching a name.
  while (position < end) {
    const size_t hit = NextHit(needle, at, offsets_[end]);
    if (hit == std::string::npos) break;
    while (offsets_[position + 1] <= hit) ++position;
    emit(position);
    at = offsets_[++position];
  }
}

void NameSearch::MarkShared(size_t begin, size_t end, const Marks& known, Marks* marks) const {
  for (size_t position = begin; position < end; ++position) {
    const size_t word = position / kMarks;
    if (position % kMarks == 0 && word < same_.size() && same_[word] != 0) {
      (*marks)[word] |= known[word];
      position += kMarks - 1;
      continue;
    }
    const uint32_t there = shared_[position];
    if (there == graph::kNoNode) continue;
    const uint64_t bit = (known[there / kMarks] >> (there % kMarks)) & 1;
    (*marks)[position / kMarks] |= bit << (position % kMarks);
  }
}

NameSearch::Marks NameSearch::MarksOf(const std::string& part, size_t threads,
                                      const Marks* known) const {
  Marks marks((side_.size() + kMarks - 1) / kMarks);
  base::ParallelFor(side_.size(), ChunkOf(side_.size(), threads), threads,
                    [&](size_t begin, size_t end) {
                      ForHits(begin, end, part, [&](size_t position) { Mark(position, &marks); });
                      if (known != nullptr) MarkShared(begin, end, *known, &marks);
                    });
  return marks;
}

std::string_view NameSearch::NameAt(size_t position) const {
  if (other_ != nullptr && shared_[position] != graph::kNoNode) {
    return other_->NameAt(shared_[position]);
  }
  return {folded_.data() + offsets_[position], offsets_[position + 1] - offsets_[position] - 1};
}

size_t NameSearch::FoundUpTo(size_t position, size_t found,
                             const std::vector<std::string>& parts) const {
  const std::string_view name = NameAt(position);
  for (size_t at = 0; found < parts.size(); ++found) {
    at = name.find(parts[found], at);
    if (at == std::string_view::npos) break;
    at += parts[found].size();
  }
  return found;
}

size_t NameSearch::FoundAround(size_t position, const std::vector<std::string>& parts,
                               std::vector<uint8_t>* known) const {
  // Threads that find the same place write the same.
  const auto entry = [known](size_t place) { return std::atomic_ref((*known)[place]); };
  std::vector<size_t> chain;
  size_t found = 0;
  // The root, which is around all, is no part of a path.
  for (uint32_t id = side_.parents[side_.order[position]]; id != 0 && id != graph::kNoNode;
       id = side_.parents[id]) {
    const size_t place = side_.position[id];
    const uint8_t before = entry(place).load(std::memory_order_relaxed);
    if (before != 0) {
      found = before - 1U;
      break;
    }
    chain.push_back(place);
  }
  for (; !chain.empty(); chain.pop_back()) {
    found = std::min(FoundUpTo(chain.back(), found, parts), parts.size() - 1);
    entry(chain.back()).store(static_cast<uint8_t>(found + 1), std::memory_order_relaxed);
  }
  return found;
}

/// Of the names that hold the last part those are hits that have the others in front of it, or in
/// the boxes around. Each of these boxes is looked at once.
void NameSearch::MarkPaths(const std::vector<std::string>& parts, size_t threads,
                           Page* page) const {
  std::vector<uint8_t> known(side_.size());
  base::ParallelFor(
      side_.size(), ChunkOf(side_.size(), threads), threads, [&](size_t begin, size_t end) {
        uint32_t parent = graph::kNoNode;
        size_t found = 0;
        for (size_t word = begin / kMarks; word * kMarks < end; ++word) {
          for (uint64_t left = page->last[word]; left != 0; left &= left - 1) {
            const size_t position = word * kMarks + static_cast<size_t>(std::countr_zero(left));
            const uint32_t around = side_.parents[side_.order[position]];
            // Most follow a sibling.
            if (around != parent) found = FoundAround(position, parts, &known);
            parent = around;
            if (found + 1 == parts.size() || FoundUpTo(position, found, parts) == parts.size()) {
              Mark(position, &page->marks);
            }
          }
        }
      });
}

/// The hits of a query of nothing but stars.
void NameSearch::MarkAll(Marks* marks) const {
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
  if (other_ == nullptr) known = nullptr;
  if (parts.size() == 1) {
    page.marks = MarksOf(parts[0], threads, known == nullptr ? nullptr : &known->marks);
  } else {
    page.marks.resize((side_.size() + kMarks - 1) / kMarks);
  }
  if (parts.empty()) MarkAll(&page.marks);
  if (parts.size() > 1) {
    page.last = MarksOf(parts.back(), threads, known == nullptr ? nullptr : &known->last);
    MarkPaths(parts, threads, &page);
  }
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
