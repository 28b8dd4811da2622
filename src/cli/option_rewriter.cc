#include <algorithm>

#include "cli/parse.h"

namespace msprobe::cli {

namespace {

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char left, char right) {
    return (left == '_' ? '-' : left) == (right == '_' ? '-' : right);
  });
}

/// The option that `word` (without "=value") spells, or null.
const OptionSpec* FindOption(const Command& command, std::string_view word) {
  for (const OptionSpec& option : command.options) {
    const auto same = [word](std::string_view name) { return SameWord(word, name); };
    if (word.starts_with("--") &&
        (same(option.name) || std::ranges::any_of(option.aliases, same))) {
      return &option;
    }
    if (std::find(option.shorts.begin(), option.shorts.end(), word) != option.shorts.end()) {
      return &option;
    }
  }
  return nullptr;
}

/// "-j8": a one-letter option with its value attached.
const OptionSpec* FindAttached(const Command& command, std::string_view word) {
  if (word.size() < 3 || word[0] != '-' || word[1] == '-') return nullptr;
  const OptionSpec* option = FindOption(command, word.substr(0, 2));
  return option != nullptr && option->kind == OptionKind::kValue ? option : nullptr;
}

std::string Rewrite(const Command& command, const std::string& word) {
  const size_t equals = word.find('=');
  const std::string_view name = std::string_view(word).substr(0, equals);
  if (const OptionSpec* option = FindOption(command, name)) {
    std::string text(option->name);
    if (equals != std::string::npos) text += word.substr(equals);
    return text;
  }
  if (const OptionSpec* option = FindAttached(command, word)) {
    return std::string(option->name) + "=" + word.substr(2);
  }
  return word;
}

}  // namespace

std::vector<std::string> RewriteOptions(std::span<const std::string> arguments,
                                        const Command& command) {
  std::vector<std::string> rewritten;
  bool options_end = false;
  for (const std::string& word : arguments) {
    options_end |= word == "--";
    const bool is_option = !options_end && word.size() > 1 && word[0] == '-';
    rewritten.push_back(is_option ? Rewrite(command, word) : word);
  }
  return rewritten;
}

bool AsksForHelp(std::span<const std::string> arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") return false;
    if (word == "-h" || word == "--help") return true;
  }
  return false;
}

}  // namespace msprobe::cli
