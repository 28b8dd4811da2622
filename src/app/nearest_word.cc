#include "app/nearest_word.h"

#include <algorithm>
#include <cctype>

namespace msprobe::app {

namespace {

char Fold(char c) {
  return c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// Edits (insert, delete, replace, swap of neighbours) between two words.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::vector<size_t> next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Fold(a[i - 1]) == Fold(b[j - 1]);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Fold(a[i - 1]) == Fold(b[j - 2]) && Fold(a[i - 2]) == Fold(b[j - 1])) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

/// Words left out of a name make it far, and yet it is meant: is_print_log, is_print_compare_log.
bool LeavesLettersOut(std::string_view word, std::string_view of) {
  constexpr size_t kTellsEnough = 5;
  if (word.size() < kTellsEnough) return false;
  for (const char c : of) {
    if (!word.empty() && Fold(word.front()) == Fold(c)) word.remove_prefix(1);
  }
  return word.empty();
}

}  // namespace

std::string NearestWord(std::string_view word, std::span<const std::string> known) {
  if (word.size() > 64) return {};
  std::string best;
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  size_t best_distance = limit + 1;
  for (const std::string& candidate : known) {
    const size_t edits = EditDistance(word, candidate);
    const size_t distance = LeavesLettersOut(word, candidate) ? std::min(edits, limit) : edits;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = NearestWord(word, known);
  return nearest.empty() ? std::string() : "did you mean '" + nearest + "'? ";
}

std::string JoinWords(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace msprobe::app
