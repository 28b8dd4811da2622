#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::app {

/// The word that is most like `word` (least edits), empty if none is near enough to be meant.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

/// "did you mean 'x'? ", or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string> known);

/// "a, b, c".
std::string JoinWords(std::span<const std::string> words);

}  // namespace msprobe::app
