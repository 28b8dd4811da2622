#include "dump/stack_json_reader.h"

#include <algorithm>
#include <utility>

#include "formats/json/json_string.h"
#include "formats/json/json_tape.h"

namespace msprobe::dump {

namespace {

using formats::JsonKind;
using formats::JsonToken;
using Step = formats::JsonScanner::Step;

std::string TokenText(const JsonToken& token) {
  std::string text;
  if (!token.escaped) return std::string(token.raw());
  if (!formats::AppendUnescaped(token.raw(), &text)) return std::string(token.raw());
  return text;
}

/// An odd number of backslashes stands in front of the quote at `place`.
bool IsEscaped(std::string_view text, size_t begin, size_t place) {
  size_t backslashes = 0;
  while (place - backslashes > begin && text[place - backslashes - 1] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

}  // namespace

Result<StackJsonReader> StackJsonReader::Open(const std::filesystem::path& directory,
                                              base::Diagnostics* diagnostics) {
  StackJsonReader reader;
  MSPROBE_ASSIGN_OR_RETURN(reader.file_, JsonFile::Open(directory, "stack.json"));
  formats::JsonScanner scanner = reader.file_.Scan();
  const std::string_view text = reader.file_.text();
  Step step = scanner.Next();
  for (; step == Step::kMember; step = scanner.Next()) {
    const std::string_view name = scanner.raw_key();
    const bool is_list = scanner.value_start() == '[';
    const size_t inside = formats::SkipJsonSpace(text, scanner.position() + 1);
    if (is_list && inside < text.size() && text[inside] == '[') {
      step = reader.ReadGroup(&scanner);
      if (step != Step::kMember) break;
      continue;
    }
    std::string_view frames;
    step = scanner.TakeValue(&frames);
    if (step != Step::kMember) break;
    reader.AddOwner(name, reader.AddStack(frames));
  }
  if (step == Step::kGarbage) return reader.file_.GarbageError(scanner.position());
  if (step == Step::kTorn) reader.file_.ReportTorn(scanner.whole_end(), diagnostics);
  if (step == Step::kEnd) MSPROBE_RETURN_IF_ERROR(reader.file_.CheckEnd(scanner.position()));
  reader.IndexNames();
  reader.file_.ReportBrokenNames(diagnostics);
  return reader;
}

/// [[names], [frames]]; names count only once the whole group is known to be there.
Step StackJsonReader::ReadGroup(formats::JsonScanner* scanner) {
  std::string_view group;
  const size_t begin = scanner->position();
  const Step taken = scanner->TakeValue(&group);
  if (taken != Step::kMember) return taken;
  // The padding that the scanner needs follows in the file.
  formats::JsonScanner parts(file_.text(), begin);
  std::string_view frames;
  if (parts.Next() != Step::kMember) return Step::kGarbage;
  formats::JsonScanner names = parts.Enter();
  const size_t first_owner = owners_.size();
  const auto stack = static_cast<StackId>(stacks_.size());
  Step step = names.Next();
  for (; step == Step::kMember; step = names.Next()) {
    std::string_view name;
    step = names.TakeValue(&name);
    if (step != Step::kMember) break;
    if (name.front() == '"') AddOwner(name.substr(1, name.size() - 2), stack);
  }
  if (step == Step::kEnd) {
    parts.Leave(names);
    step = parts.Next();
    if (step == Step::kMember) step = parts.TakeValue(&frames);
  }
  if (step != Step::kMember) {
    owners_.resize(first_owner);
    return Step::kGarbage;
  }
  AddStack(frames);
  return Step::kMember;
}

void StackJsonReader::AddOwner(std::string_view raw_name, StackId stack) {
  const std::string_view name = file_.Name(raw_name, &arena_);
  owners_.push_back(
      {name.data(), static_cast<uint32_t>(std::min<size_t>(name.size(), UINT32_MAX)), stack});
}

StackId StackJsonReader::AddStack(std::string_view frames) {
  stacks_.push_back(
      {frames.data(), static_cast<uint32_t>(std::min<size_t>(frames.size(), UINT32_MAX))});
  return static_cast<StackId>(stacks_.size() - 1);
}

void StackJsonReader::IndexNames() {
  index_ = NameIndex(owners_.size());
  const auto name_of = [this](uint32_t id) {
    return std::string_view(owners_[id].name, owners_[id].name_size);
  };
  uint32_t kept = 0;
  for (const Owner& owner : owners_) {
    owners_[kept] = owner;
    const uint32_t earlier = index_.Insert(name_of(kept), kept, name_of);
    if (earlier == NameIndex::kNone) {
      ++kept;
    } else {
      owners_[earlier].stack = owner.stack;
    }
  }
  owners_.resize(kept);
  owners_.shrink_to_fit();
}

StackId StackJsonReader::Find(std::string_view name) const {
  const uint32_t owner = index_.Find(name, [this](uint32_t id) {
    return std::string_view(owners_[id].name, owners_[id].name_size);
  });
  return owner == NameIndex::kNone ? kNoStack : owners_[owner].stack;
}

std::vector<std::string> StackJsonReader::Frames(StackId stack) const {
  std::vector<std::string> frames;
  if (stack >= stacks_.size()) return frames;
  thread_local formats::JsonTape tape;
  if (!tape.Parse({stacks_[stack].frames, stacks_[stack].size}).ok()) {
    frames.emplace_back("(this stack is damaged in stack.json)");
    return frames;
  }
  for (uint32_t i = 0; i < tape.tokens().size(); ++i) {
    if (tape[i].kind == JsonKind::kString) frames.push_back(TokenText(tape[i]));
  }
  return frames;
}

std::string StackJsonReader::InnermostFrame(StackId stack) const {
  std::string frame;
  if (stack >= stacks_.size()) return frame;
  const std::string_view text(stacks_[stack].frames, stacks_[stack].size);
  const size_t begin = text.find('"') + 1;  // 0: there is no frame
  size_t end = begin == 0 ? std::string_view::npos : text.find('"', begin);
  while (end != std::string_view::npos && IsEscaped(text, begin, end))
    end = text.find('"', end + 1);
  if (end == std::string_view::npos) return frame;
  if (!formats::AppendUnescaped(text.substr(begin, end - begin), &frame)) frame.clear();
  return frame;
}

}  // namespace msprobe::dump
