#include "graph/stack_frames.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace msprobe::graph {
namespace {

constexpr std::array<std::string_view, 7> kFrameworkFolders = {
    "/msprobe/",   "/torch/",   "/torch_npu/", "/mindspore/",
    "/mindtorch/", "/mindnlp/", "/msadapter/"};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Lies in a folder of that name inside site-packages or dist-packages.
bool IsInstalled(std::string_view text, std::string_view folder) {
  constexpr std::string_view kPackages = "-packages";
  for (size_t at = text.find(folder); at != std::string_view::npos;
       at = text.find(folder, at + 1)) {
    if (text.substr(0, at).ends_with(kPackages)) return true;
  }
  return false;
}

/// Users have folders called "mindspore" too: where a frame shows the installed framework, code
/// in another folder of that name is theirs.
bool IsUserCode(const StackFrame& frame, std::span<const std::string> frames) {
  return std::none_of(
      kFrameworkFolders.begin(), kFrameworkFolders.end(), [&](std::string_view folder) {
        if (!Contains(frame.path, folder)) return false;
        return IsInstalled(frame.path, folder) ||
               std::none_of(frames.begin(), frames.end(),
                            [&](const std::string& other) { return IsInstalled(other, folder); });
      });
}

bool IsIdentifierChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsNumber(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool NamesFramework(std::string_view path) {
  for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string_view rest = path.substr(at);
    for (const std::string_view folder : kFrameworkFolders) {
      if (rest.starts_with(folder)) return true;
    }
  }
  return false;
}

/// What calls of a module look for; empty for APIs and for modules in a list.
std::string_view AttributeOf(const NodeName& name) {
  if (name.kind != NodeKind::kModule) return {};
  const std::string_view last = name.path.substr(name.path.rfind('.') + 1);
  return IsNumber(last) ? std::string_view() : last;
}

/// True for "y = self.fc(x)" and "fc".
bool Calls(std::string_view source, std::string_view attribute) {
  for (size_t at = source.find(attribute); at != std::string_view::npos;
       at = source.find(attribute, at + 1)) {
    const size_t end = at + attribute.size();
    const bool starts = at == 0 || !IsIdentifierChar(source[at - 1]);
    if (starts && end < source.size() && source[end] == '(') return true;
  }
  return false;
}

}  // namespace

StackFrame ParseStackFrame(std::string_view text) {
  StackFrame frame;
  const size_t line_break = text.find('\n');
  if (line_break != std::string_view::npos) {
    frame.source = text.substr(line_break + 1);
    text = text.substr(0, line_break);
    while (frame.source.starts_with(' ')) frame.source.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with(',')) text.remove_suffix(1);
  }
  if (text.starts_with("File ")) text.remove_prefix(5);
  // From the end: a path may hold anything.
  const size_t function = text.rfind(", in ");
  if (function == std::string_view::npos) {
    frame.path = text;
    return frame;
  }
  frame.function = text.substr(function + 5);
  text = text.substr(0, function);
  frame.path = text.substr(0, text.rfind(", line "));
  return frame;
}

bool IsCallerFrame(std::string_view innermost, const NodeName& name) {
  const StackFrame frame = ParseStackFrame(innermost);
  const std::string_view attribute = AttributeOf(name);
  if (!attribute.empty()) return Calls(frame.source, attribute);
  return !NamesFramework(frame.path);
}

size_t CallerFrame(std::span<const std::string> frames, const NodeName& name) {
  size_t outside = frames.size();
  const std::string_view attribute = AttributeOf(name);
  const bool by_attribute = !attribute.empty();
  for (size_t i = 0; i < frames.size(); ++i) {
    const StackFrame frame = ParseStackFrame(frames[i]);
    if (by_attribute && Calls(frame.source, attribute)) return i;
    if (outside == frames.size() && IsUserCode(frame, frames)) {
      if (!by_attribute) return i;
      outside = i;
    }
  }
  return outside == frames.size() ? 0 : outside;
}

bool ShowsRecomputation(std::span<const std::string> frames) {
  // The functions in which torch.utils.checkpoint (reentrant and not), Megatron's tensor_parallel
  // and mindspore.recompute run the forward again.
  constexpr std::array<std::string_view, 4> kFunctions = {"backward", "recompute_fn", "unpack_hook",
                                                          "bprop"};
  return std::any_of(frames.begin(), frames.end(), [&](const std::string& text) {
    const StackFrame frame = ParseStackFrame(text);
    const bool checkpoints = Contains(frame.path, "checkpoint") ||
                             Contains(frame.path, "recompute") ||
                             frame.path.ends_with("tensor_parallel/random.py");
    return checkpoints &&
           (Contains(frame.function, "recompute") ||
            std::find(kFunctions.begin(), kFunctions.end(), frame.function) != kFunctions.end());
  });
}

}  // namespace msprobe::graph
