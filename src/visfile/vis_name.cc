#include "visfile/vis_name.h"

#include "base/numbers.h"

namespace msprobe::visfile {

namespace {

/// Takes "_step12" off the front of `text`; nullopt and nothing taken if it stands not there.
std::optional<int64_t> TakeNumber(std::string_view word, std::string_view* text) {
  if (!text->starts_with(word)) return std::nullopt;
  const std::string_view rest = text->substr(word.size());
  const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::optional<uint64_t> number = base::ParseUnsigned(rest.substr(0, end));
  // "07" and "7" would be two files of the same rank.
  if (!number || *number > INT32_MAX || (end > 1 && rest[0] == '0')) return std::nullopt;
  if (end < rest.size() && rest[end] != '_' && rest[end] != '.') return std::nullopt;
  *text = rest.substr(end);
  return static_cast<int64_t>(*number);
}

}  // namespace

VisName ParseVisName(std::string_view name) {
  VisName result;
  if (!name.ends_with(".vis")) return result;
  // The words may stand in what the user called the run, too: "first_steps_rank1.vis".
  for (size_t begin = name.find('_'); begin != name.npos; begin = name.find('_', begin + 1)) {
    std::string_view rest = name.substr(begin);
    result.step = TakeNumber("_step", &rest);
    result.rank = TakeNumber("_rank", &rest);
    if (!result.step && !result.rank) continue;
    result.group = name.substr(0, begin);
    if (result.step) result.group += "_step*";
    if (result.rank) result.group += "_rank*";
    result.group += rest;
    break;
  }
  return result;
}

}  // namespace msprobe::visfile
