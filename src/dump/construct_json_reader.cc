#include "dump/construct_json_reader.h"

#include <optional>
#include <string>

#include "base/numbers.h"
#include "dump/name_index.h"

namespace msprobe::dump {

namespace {

using Step = formats::JsonScanner::Step;

constexpr std::string_view kMicroStepCount = "megatron_micro_step_number";

}  // namespace

Result<ConstructJsonReader> ConstructJsonReader::Open(const std::filesystem::path& directory,
                                                      base::Diagnostics* diagnostics) {
  ConstructJsonReader reader;
  MSPROBE_ASSIGN_OR_RETURN(reader.file_, JsonFile::Open(directory, "construct.json"));
  formats::JsonScanner scanner = reader.file_.Scan();
  Step step = scanner.Next();
  for (; step == Step::kMember; step = scanner.Next()) {
    const std::string_view key = scanner.raw_key();
    std::string_view value;
    step = scanner.TakeValue(&value);
    if (step != Step::kMember) break;
    if (key == kMicroStepCount) {
      reader.has_micro_steps_ = true;
      continue;
    }
    ConstructEdge edge;
    edge.child = reader.file_.Name(key, &reader.arena_);
    if (reader.ReadParent(value, &edge)) {
      reader.edges_.push_back(edge);
    } else {
      reader.is_damaged_ = true;
      diagnostics->Add(base::DiagnosticKind::kUnreadableRecord,
                       reader.file_.Corrupt("gives " + std::string(edge.child) +
                                            " a parent that is neither a name nor null"));
    }
  }
  if (step == Step::kGarbage) return reader.file_.GarbageError(scanner.position());
  if (step == Step::kTorn) {
    reader.is_damaged_ = true;
    reader.file_.ReportTorn(scanner.whole_end(), diagnostics);
  }
  if (step == Step::kEnd) MSPROBE_RETURN_IF_ERROR(reader.file_.CheckEnd(scanner.position()));
  reader.DropRepeated(diagnostics);
  reader.file_.ReportBrokenNames(diagnostics);
  return reader;
}

bool ConstructJsonReader::ReadParent(std::string_view value, ConstructEdge* edge) {
  if (value == "null") return true;
  if (value.front() == '[') return ReadParentAndStep(value, edge);
  if (value.front() != '"') return false;
  edge->parent = file_.Name(value.substr(1, value.size() - 2), &arena_);
  return true;
}

bool ConstructJsonReader::ReadParentAndStep(std::string_view value, ConstructEdge* edge) {
  // The scanner works in the file's text, whose padding it needs.
  formats::JsonScanner pair(file_.text(), static_cast<size_t>(value.data() - file_.text().data()));
  std::string_view parent;
  std::string_view step;
  if (pair.Next() != Step::kMember || pair.TakeValue(&parent) != Step::kMember) return false;
  if (parent.front() == '[' || !ReadParent(parent, edge)) return false;
  if (pair.Next() != Step::kMember || pair.TakeValue(&step) != Step::kMember) return false;
  const std::optional<uint64_t> number = base::ParseUnsigned(step);
  if (number && *number > INT32_MAX) return false;
  if (number) edge->micro_step = static_cast<int32_t>(*number);
  return number.has_value() || step == "null";
}

void ConstructJsonReader::DropRepeated(base::Diagnostics* diagnostics) {
  NameIndex index(edges_.size());
  const auto name_of = [this](uint32_t id) { return edges_[id].child; };
  uint32_t kept = 0;
  for (size_t i = 0; i < edges_.size(); ++i) {
    edges_[kept] = edges_[i];
    const uint32_t earlier = index.Insert(edges_[kept].child, kept, name_of);
    if (earlier == NameIndex::kNone) {
      ++kept;
      continue;
    }
    edges_[earlier] = edges_[i];
    diagnostics->Add(base::DiagnosticKind::kNote,
                     file_.Corrupt("names " + std::string(edges_[i].child) +
                                   " more than once: the last parent counts"));
  }
  edges_.resize(kept);
  edges_.shrink_to_fit();
}

}  // namespace msprobe::dump
