#include <charconv>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "base/numbers.h"
#include "dump/name_index.h"
#include "formats/json/json_scanner.h"
#include "formats/json/json_string.h"
#include "visfile/vis_node_scan.h"
#include "visfile/vis_source.h"

namespace msprobe::visfile {

namespace {

using Step = formats::JsonScanner::Step;

Status Damaged(const std::filesystem::path& path, size_t offset) {
  return CorruptError("the file is damaged or cut off at byte " + std::to_string(offset),
                      "build or compare again", path.string());
}

/// What stands in a `.vis` beside the nodes.
struct Header {
  std::string_view npu;  ///< text of the graph objects; single graphs: the whole document
  std::string_view bench;
  std::string_view task;
  int32_t micro_steps = 1;
  bool overflow_check = false;
};

class VisUnit : public UnitSource {
 public:
  VisUnit(base::MappedFile file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  const UnitIndex& index() const override { return index_; }
  UnitIndex& mutable_index() override { return index_; }
  uint64_t bytes() const override {
    return (index_.target.size() + index_.golden.size()) * uint64_t{96};
  }

  Result<std::string> NodeJson(Side side, uint32_t id) const override {
    if (id >= index_.side(side).size()) return InvalidArgumentError("there is no such node");
    formats::JsonScanner scanner(file_.text(), index_.side(side).places[id]);
    // The place is where the node's object begins; passing it finds its end.
    std::string_view value;
    for (Step step = scanner.Next(); step != Step::kEnd; step = scanner.Next()) {
      if (step != Step::kMember || scanner.TakeValue(&value) != Step::kMember) {
        return Damaged(path_, scanner.position());
      }
    }
    const size_t begin = index_.side(side).places[id];
    return std::string(file_.text().substr(begin, scanner.position() - begin));
  }

  base::MappedFile file_;
  std::filesystem::path path_;
  UnitIndex index_;
};

/// Reads the graph object `{"root", "dump_data_dir", "node": {…}}`.
class GraphReader {
 public:
  GraphReader(const VisUnit& unit, size_t begin, bool inverted_index, const ReadOptions& options)
      : text_(unit.file_.text()),
        path_(unit.path_),
        begin_(begin),
        inverted_(inverted_index),
        options_(options) {}

  Status Read(SideIndex* side, std::vector<std::string_view>* partner_names,
              base::StringArena* arena) {
    formats::JsonScanner scanner(text_, begin_);
    std::string_view ignored;
    for (Step step = scanner.Next(); step != Step::kEnd; step = scanner.Next()) {
      if (step != Step::kMember) return Damaged(path_, scanner.position());
      if (scanner.raw_key() == "node" && scanner.value_start() == '{') {
        formats::JsonScanner nodes = scanner.Enter();
        MSPROBE_RETURN_IF_ERROR(ReadNodes(&nodes, side, partner_names, arena));
        scanner.Leave(nodes);
      } else if (scanner.TakeValue(&ignored) != Step::kMember) {
        return Damaged(path_, scanner.position());
      }
    }
    return LinkParents(side);
  }

 private:
  Status ReadNodes(formats::JsonScanner* nodes, SideIndex* side,
                   std::vector<std::string_view>* partner_names, base::StringArena* arena) {
    bool valid = true;
    for (Step step = nodes->Next(); step != Step::kEnd; step = nodes->Next()) {
      if (step != Step::kMember || nodes->value_start() != '{') {
        return Damaged(path_, nodes->position());
      }
      if ((side->size() & 0xFFF) == 0) {
        if (options_.cancel != nullptr && options_.cancel->cancelled()) return CancelledError();
        if (options_.progress) options_.progress(nodes->position() - begin_, text_.size());
      }
      const uint32_t id = side->Add(formats::UnescapedView(nodes->raw_key(), arena, &valid));
      side->places[id] = nodes->position();
      formats::JsonScanner members = nodes->Enter();
      ScannedNode node;
      if (!ScanVisNode(&members, &node)) return Damaged(path_, members.position());
      nodes->Leave(members);
      parent_names_.push_back(formats::UnescapedView(node.parent, arena, &valid));
      partner_names->push_back(formats::UnescapedView(node.partner, arena, &valid));
      Store(node, id, side);
    }
    return Status::Ok();
  }

  void Store(const ScannedNode& node, uint32_t id, SideIndex* side) const {
    side->kinds[id] = node.kind;
    side->micro_steps[id] = node.micro_step;
    side->overflow[id] = node.overflow;
    side->roles[id] = node.role;
    if (node.own_index) {
      side->index[id] = *node.own_index;
    } else if (node.precision_index) {
      side->index[id] = inverted_ ? 1 - *node.precision_index : *node.precision_index;
    }
    if (node.status) {
      side->status[id] = *node.status;
    } else if (!node.partner.empty()) {
      side->status[id] = compare::NodeStatus::kPass;
    }
  }

  Status LinkParents(SideIndex* side) const {
    if (side->size() == 0) {
      return CorruptError("the file holds no nodes", "build or compare again", path_.string());
    }
    const auto name_of = [side](uint32_t id) { return side->names[id]; };
    dump::NameIndex ids(side->size());
    for (uint32_t id = 0; id < side->size(); ++id) ids.Insert(side->names[id], id, name_of);
    for (uint32_t id = 1; id < side->size(); ++id) {
      side->parents[id] = ids.Find(parent_names_[id], name_of);
    }
    return Status::Ok();
  }

  std::string_view text_;
  const std::filesystem::path& path_;
  size_t begin_;
  bool inverted_;
  const ReadOptions& options_;
  std::vector<std::string_view> parent_names_;
};

class VisFile : public VisSource {
 public:
  VisFile(std::filesystem::path path, Header header, UnitEntry entry)
      : path_(std::move(path)),
        comparison_(!header.bench.empty()),
        overflow_(header.overflow_check),
        units_{entry} {
    if (header.task == "all") mode_ = compare::CompareMode::kRealData;
    if (header.task == "md5") mode_ = compare::CompareMode::kMd5;
  }

  bool is_comparison() const override { return comparison_; }
  compare::CompareMode mode() const override { return mode_; }
  bool overflow_checked() const override { return overflow_; }
  const std::vector<UnitEntry>& units() const override { return units_; }

  Result<std::shared_ptr<UnitSource>> LoadUnit(size_t unit,
                                               const ReadOptions& options) const override;

 private:
  std::filesystem::path path_;
  bool comparison_;
  bool overflow_;
  compare::CompareMode mode_ = compare::CompareMode::kStatistics;
  std::vector<UnitEntry> units_;
};

Result<Header> ReadHeader(std::string_view text, const std::filesystem::path& path) {
  Header header;
  const size_t begin = formats::SkipJsonSpace(text, 0);
  if (begin >= text.size() || text[begin] != '{') {
    return CorruptError("not a .vis file: expected a JSON object", "give a file of msprobe graph",
                        path.string());
  }
  formats::JsonScanner scanner(text, begin);
  for (Step step = scanner.Next(); step != Step::kEnd; step = scanner.Next()) {
    std::string_view value;
    if (step != Step::kMember || scanner.TakeValue(&value) != Step::kMember) {
      return Damaged(path, scanner.position());
    }
    const std::string_view key = scanner.raw_key();
    if (key == "NPU") header.npu = value;
    if (key == "Bench") header.bench = value;
    if (key == "task" && value.size() > 2) header.task = value.substr(1, value.size() - 2);
    if (key == "OverflowCheck") header.overflow_check = value == "true";
    if (key == "MicroSteps") {
      (void)std::from_chars(value.data(), value.data() + value.size(), header.micro_steps);
    }
  }
  if (header.npu.empty()) header.npu = text.substr(begin);
  return header;
}

/// Step and rank as the file's name says them: compare_step0_rank3_2026….vis
UnitEntry EntryFromName(const std::string& name) {
  const auto number_behind = [&name](std::string_view word) -> std::optional<int64_t> {
    const size_t at = name.find(word);
    if (at == std::string::npos) return std::nullopt;
    const size_t begin = at + word.size();
    const size_t end = name.find_first_not_of("0123456789", begin);
    const std::optional<uint64_t> number =
        base::ParseUnsigned(std::string_view(name).substr(begin, end - begin));
    if (!number || *number > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(*number);
  };
  return {number_behind("_step"), number_behind("_rank")};
}

void LinkPartners(const std::vector<std::string_view>& names, SideIndex* from, const SideIndex& to,
                  const dump::NameIndex& ids) {
  const auto name_of = [&to](uint32_t id) { return to.names[id]; };
  for (uint32_t id = 0; id < from->size(); ++id) {
    if (!names[id].empty()) from->partners[id] = ids.Find(names[id], name_of);
  }
}

dump::NameIndex IndexNames(const SideIndex& side) {
  dump::NameIndex ids(side.size());
  const auto name_of = [&side](uint32_t id) { return side.names[id]; };
  for (uint32_t id = 0; id < side.size(); ++id) ids.Insert(side.names[id], id, name_of);
  return ids;
}

}  // namespace

Result<std::shared_ptr<UnitSource>> VisFile::LoadUnit(size_t unit,
                                                      const ReadOptions& options) const {
  MSPROBE_ASSIGN_OR_RETURN(base::MappedFile file, base::MappedFile::Open(path_));
  auto loaded = std::make_shared<VisUnit>(std::move(file), path_);
  MSPROBE_ASSIGN_OR_RETURN(const Header header, ReadHeader(loaded->file_.text(), path_));
  UnitIndex& index = loaded->index_;
  index.step = units_[unit].step;
  index.rank = units_[unit].rank;
  index.micro_steps = header.micro_steps;
  const char* base = loaded->file_.text().data();
  const bool inverted = mode_ == compare::CompareMode::kMd5;
  const auto offset = [base](std::string_view part) {
    return static_cast<size_t>(part.data() - base);
  };
  std::vector<std::string_view> target_partners;
  std::vector<std::string_view> golden_partners;
  base::StringArena golden_arena;
  Status golden_status;
  std::thread golden_reader;
  if (!header.bench.empty()) {
    const auto read = [&] {
      golden_status = GraphReader(*loaded, offset(header.bench), inverted, options)
                          .Read(&index.golden, &golden_partners, &golden_arena);
    };
    if (options.threads > 1)
      golden_reader = std::thread(read);
    else
      read();
  }
  const Status status = GraphReader(*loaded, offset(header.npu), inverted, options)
                            .Read(&index.target, &target_partners, &index.arena);
  if (golden_reader.joinable()) golden_reader.join();
  MSPROBE_RETURN_IF_ERROR(status);
  MSPROBE_RETURN_IF_ERROR(golden_status);
  index.arena.Adopt(std::move(golden_arena));
  if (index.is_comparison()) {
    LinkPartners(target_partners, &index.target, index.golden, IndexNames(index.golden));
    LinkPartners(golden_partners, &index.golden, index.target, IndexNames(index.target));
    ShowPartnersMetrics(index.target, &index.golden);
  }
  const float worst_band = BandsOf(mode_).back().lo;
  index.target.Complete(worst_band);
  index.golden.Complete(worst_band);
  return std::shared_ptr<UnitSource>(std::move(loaded));
}

Result<std::unique_ptr<VisSource>> OpenVis(const std::filesystem::path& path,
                                           const ReadOptions& options) {
  if (options.cancel != nullptr && options.cancel->cancelled()) return CancelledError();
  MSPROBE_ASSIGN_OR_RETURN(const base::MappedFile file, base::MappedFile::Open(path));
  MSPROBE_ASSIGN_OR_RETURN(const Header header, ReadHeader(file.text(), path));
  return std::unique_ptr<VisSource>(
      std::make_unique<VisFile>(path, header, EntryFromName(path.filename().string())));
}

}  // namespace msprobe::visfile
