#include "dump/json_file.h"

#include <utility>

#include "formats/json/json_string.h"

namespace msprobe::dump {

namespace {

constexpr std::string_view kCollectAdvice = "give a directory that the collection has written";

std::string_view JsonTypeName(char first) {
  if (first == '[') return "a list";
  if (first == '"') return "a string";
  if (first == '-' || (first >= '0' && first <= '9')) return "a number";
  if (first == 'n' || first == 't' || first == 'f') return "a constant";
  return "";
}

}  // namespace

Result<JsonFile> JsonFile::Open(const std::filesystem::path& directory, std::string_view name) {
  JsonFile file;
  file.name_ = name;
  file.path_ = directory / name;
  auto mapping = base::MappedFile::Open(file.path_);
  if (!mapping.ok()) {
    if (mapping.status().code() == StatusCode::kNotFound) {
      return NotFoundError(file.name_ + " is missing", std::string(kCollectAdvice),
                           directory.string());
    }
    return std::move(mapping).status();
  }
  file.mapping_ = std::move(mapping).value();
  file.guard_ = base::TruncationGuard(file.mapping_.bytes());
  const std::string_view text = file.text();
  file.begin_ = formats::SkipJsonSpace(text, 0);
  if (file.begin_ == text.size()) {
    return CorruptError(file.name_ + " is empty", "collect again, or give another directory",
                        file.path());
  }
  const char first = text[file.begin_];
  if (first == '{') return file;
  const std::string_view type = JsonTypeName(first);
  if (type.empty()) return file.GarbageError(file.begin_);
  return InvalidArgumentError(
      "this is not a " + file.name_ + ": expected an object, found " + std::string(type),
      std::string(kCollectAdvice), file.path());
}

std::string_view JsonFile::Name(std::string_view raw, base::StringArena* arena) {
  bool valid = true;
  const std::string_view name = formats::UnescapedView(raw, arena, &valid);
  if (formats::IsUtf8(name)) return name;
  ++broken_names_;
  return arena->Copy(formats::RepairedUtf8(name));
}

void JsonFile::ReportBrokenNames(base::Diagnostics* diagnostics) const {
  if (broken_names_ == 0) return;
  diagnostics->Add(base::DiagnosticKind::kNote,
                   Corrupt("has " + std::to_string(broken_names_) +
                           " names that are not UTF-8: they are shown with U+FFFD"));
}

Status JsonFile::GarbageError(size_t offset) const {
  return Corrupt("is damaged at byte " + std::to_string(offset));
}

Status JsonFile::Corrupt(std::string_view fact) const {
  return CorruptError((name_ + " ").append(fact), "collect again, or repair the file by hand",
                      path());
}

void JsonFile::ReportTorn(size_t whole_end, base::Diagnostics* diagnostics) const {
  const std::string cut = std::to_string(text().size() - whole_end);
  Status torn =
      whole_end > begin_ + 1
          ? CorruptError(name_ + " is cut off: it was read up to the last whole record, " + cut +
                             " bytes were left out",
                         "`msprobe inspect --repair` makes the file whole", path())
          : CorruptError(name_ + " is cut off before the end of its first record", "collect again",
                         path());
  diagnostics->Add(base::DiagnosticKind::kTornTail, std::move(torn));
}

Status JsonFile::CheckEnd(size_t end) const {
  const size_t rest = formats::SkipJsonSpace(text(), end);
  return rest == text().size() ? Status::Ok() : GarbageError(rest);
}

}  // namespace msprobe::dump
