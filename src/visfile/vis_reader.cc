#include <atomic>
#include <charconv>
#include <new>
#include <thread>

#include "base/file.h"
#include "base/numbers.h"
#include "base/truncation_guard.h"
#include "dump/name_index.h"
#include "formats/json/json_scanner.h"
#include "formats/json/json_string.h"
#include "visfile/read_at_file.h"
#include "visfile/shape_table.h"
#include "visfile/vis_name.h"
#include "visfile/vis_node_scan.h"
#include "visfile/vis_source.h"

namespace msprobe::visfile {

namespace {

using Step = formats::JsonScanner::Step;

Status Damaged(const std::filesystem::path& path, size_t offset) {
  return CorruptError("the file is damaged or cut off at byte " + std::to_string(offset),
                      "build or compare again", path.string());
}

Status ChangedError(const std::filesystem::path& path) {
  return CorruptError("the file has changed since it was opened", "open it again", path.string());
}

/// What stands in a `.vis` beside the nodes.
struct Header {
  uint64_t size = 0;  ///< of the file
  size_t npu = 0;     ///< offsets of the graph objects; single graphs: of the whole document
  std::optional<size_t> bench;
  std::string task;
  int32_t micro_steps = 1;
  bool overflow_check = false;
};

class VisUnit : public UnitSource {
 public:
  explicit VisUnit(ReadAtFile file) : file_(std::move(file)) {}

  const UnitIndex& index() const override { return index_; }
  UnitIndex& mutable_index() override { return index_; }
  uint64_t bytes() const override {
    constexpr uint64_t kNode = 199;  // its arrays and its name, twice for the search
    return (index_.target.size() + index_.golden.size()) * kNode;
  }

  Result<std::string> NodeJson(Side side, uint32_t id) const override {
    if (id >= index_.side(side).size()) return InvalidArgumentError("there is no such node");
    return file_.Read(index_.side(side).places[id], lengths(side)[id]);
  }

  const std::vector<uint32_t>& lengths(Side side) const {
    return side == Side::kTarget ? target_lengths_ : golden_lengths_;
  }

  ReadAtFile file_;
  UnitIndex index_;
  std::vector<uint32_t> target_lengths_;
  std::vector<uint32_t> golden_lengths_;
};

/// What one reader of a graph fills.
struct GraphParts {
  SideIndex* side;
  std::vector<uint32_t>* lengths;
  base::StringArena arena;
  std::vector<std::string_view> partners;  ///< names, in the mapped file or in the arena
};

/// Reads the graph object `{"root", "dump_data_dir", "msprobe_dump", "node": {…}}`.
class GraphReader {
 public:
  GraphReader(std::string_view text, size_t begin, const std::filesystem::path& path,
              compare::CompareMode mode, const ReadOptions& options, std::atomic<uint64_t>* done)
      : text_(text),
        begin_(begin),
        told_(begin),
        done_(done),
        path_(path),
        inverted_(mode == compare::CompareMode::kMd5),
        bands_(BandsOf(mode)),
        options_(options) {}

  Status Read(GraphParts* parts) {
    formats::JsonScanner scanner(text_, begin_);
    std::string_view value;
    for (Step step = scanner.Next(); step != Step::kEnd; step = scanner.Next()) {
      if (step != Step::kMember) return Damaged(path_, scanner.position());
      if (scanner.raw_key() == "node" && scanner.value_start() == '{') {
        formats::JsonScanner nodes = scanner.Enter();
        MSPROBE_RETURN_IF_ERROR(ReadNodes(&nodes, parts));
        scanner.Leave(nodes);
        continue;
      }
      std::string* const known = scanner.raw_key() == "dump_data_dir"
                                     ? &parts->side->tensor_directory
                                 : scanner.raw_key() == "msprobe_dump" ? &parts->side->dump
                                                                       : nullptr;
      if (scanner.TakeValue(&value) != Step::kMember) return Damaged(path_, scanner.position());
      if (known != nullptr && value.size() > 2 && value.front() == '"') {
        bool valid = true;
        value = value.substr(1, value.size() - 2);
        *known = formats::UnescapedView(value, &parts->arena, &valid);
      }
    }
    parts->side->shape_texts = shapes_.TakeTexts();
    return Link(parts->side, &parts->arena);
  }

 private:
  /// Both graphs are read at the same time: what is done is what was read of both.
  void Tell(size_t position) {
    const uint64_t more = position - told_;
    told_ = position;
    const uint64_t done = done_->fetch_add(more, std::memory_order_relaxed) + more;
    if (options_.progress) options_.progress(done, text_.size());
  }

  Status ReadNodes(formats::JsonScanner* nodes, GraphParts* parts) {
    SideIndex& side = *parts->side;
    bool valid = true;
    for (Step step = nodes->Next(); step != Step::kEnd; step = nodes->Next()) {
      if (step != Step::kMember || nodes->value_start() != '{') {
        return Damaged(path_, nodes->position());
      }
      if ((side.size() & 0xFFF) == 0) {
        if (options_.cancel != nullptr && options_.cancel->cancelled()) return CancelledError();
        Tell(nodes->position());
      }
      const size_t begin = nodes->position();
      // Names are copied: nothing of the mapping is needed later.
      const uint32_t id = side.Add(Copy(nodes->raw_key(), &parts->arena));
      side.places[id] = begin;
      formats::JsonScanner members = nodes->Enter();
      ScannedNode node;
      if (!ScanVisNode(&members, &node)) return Damaged(path_, members.position());
      nodes->Leave(members);
      const size_t length = nodes->position() - begin;
      if (length > UINT32_MAX) return Damaged(path_, begin);
      parts->lengths->push_back(static_cast<uint32_t>(length));
      parent_names_.push_back(formats::UnescapedView(node.parent, &parts->arena, &valid));
      parts->partners.push_back(formats::UnescapedView(node.partner, &parts->arena, &valid));
      children_.push_back(node.children);
      side.shapes.push_back(shapes_.Intern(node.shape));
      Store(node, id, &side);
    }
    return Status::Ok();
  }

  std::string_view Copy(std::string_view raw, base::StringArena* arena) const {
    bool valid = true;
    const std::string_view name = formats::UnescapedView(raw, arena, &valid);
    return name.data() == raw.data() ? arena->Copy(raw) : name;
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
      side->status[id] = StatusOfIndex(bands_, side->index[id]);
    }
  }

  /// Parents by name; the lists of children say only their order.
  Status Link(SideIndex* side, base::StringArena* arena) const {
    if (side->size() == 0) {
      return CorruptError("the file holds no nodes", "build or compare again", path_.string());
    }
    const auto name_of = [side](uint32_t id) { return side->names[id]; };
    dump::NameIndex ids(side->size());
    for (uint32_t id = 0; id < side->size(); ++id) ids.Insert(side->names[id], id, name_of);
    for (uint32_t id = 1; id < side->size(); ++id) {
      side->parents[id] = ids.Find(parent_names_[id], name_of);
    }
    side->sibling_ranks.assign(side->size(), UINT32_MAX);
    bool valid = true;
    for (const std::string_view list : children_) {
      uint32_t rank = 0;
      ForEachString(list, [&](std::string_view raw) {
        const uint32_t child = ids.Find(formats::UnescapedView(raw, arena, &valid), name_of);
        if (child < side->size()) side->sibling_ranks[child] = rank++;
      });
    }
    return Status::Ok();
  }

  std::string_view text_;
  size_t begin_;
  size_t told_;  ///< up to where it is in `done_`
  std::atomic<uint64_t>* done_;
  const std::filesystem::path& path_;
  bool inverted_;
  std::vector<Band> bands_;
  const ReadOptions& options_;
  ShapeTable shapes_;
  std::vector<std::string_view> parent_names_;
  std::vector<std::string_view> children_;
};

class VisFile : public VisSource {
 public:
  VisFile(std::filesystem::path path, Header header, UnitEntry entry)
      : path_(std::move(path)), header_(std::move(header)), units_{entry} {
    if (header_.task == "all") mode_ = compare::CompareMode::kRealData;
    if (header_.task == "md5") mode_ = compare::CompareMode::kMd5;
  }

  bool is_comparison() const override { return header_.bench.has_value(); }
  compare::CompareMode mode() const override { return mode_; }
  bool overflow_checked() const override { return header_.overflow_check; }
  const std::vector<UnitEntry>& units() const override { return units_; }

  Result<std::shared_ptr<UnitSource>> LoadUnit(size_t unit,
                                               const ReadOptions& options) const override;

 private:
  std::filesystem::path path_;
  Header header_;
  compare::CompareMode mode_ = compare::CompareMode::kStatistics;
  std::vector<UnitEntry> units_;
};

Result<Header> ReadHeader(std::string_view text, const std::filesystem::path& path) {
  Header header;
  header.size = text.size();
  const size_t begin = formats::SkipJsonSpace(text, 0);
  std::optional<size_t> npu;
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
    const auto offset = static_cast<size_t>(value.data() - text.data());
    if (key == "NPU" && value[0] == '{') npu = offset;
    if (key == "Bench" && value[0] == '{') header.bench = offset;
    if (key == "task" && value.size() > 2) header.task = value.substr(1, value.size() - 2);
    if (key == "OverflowCheck") header.overflow_check = value == "true";
    if (key == "MicroSteps") {
      (void)std::from_chars(value.data(), value.data() + value.size(), header.micro_steps);
    }
  }
  header.npu = npu.value_or(begin);
  if (!npu) header.bench.reset();
  return header;
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
  MSPROBE_ASSIGN_OR_RETURN(ReadAtFile file, ReadAtFile::Open(path_));
  MSPROBE_ASSIGN_OR_RETURN(const base::MappedFile mapped, base::MappedFile::Open(path_));
  const base::TruncationGuard guard(mapped.bytes());
  const std::string_view text = mapped.text();
  if (text.size() != header_.size) {
    return ChangedError(path_);
  }
  auto loaded = std::make_shared<VisUnit>(std::move(file));
  UnitIndex& index = loaded->index_;
  index.step = units_[unit].step;
  index.rank = units_[unit].rank;
  index.micro_steps = header_.micro_steps;
  GraphParts target{&index.target, &loaded->target_lengths_, {}, {}};
  GraphParts golden{&index.golden, &loaded->golden_lengths_, {}, {}};
  Status golden_status;
  std::atomic<uint64_t> done = 0;
  std::jthread golden_reader;  // joins also when memory runs out here
  if (header_.bench) {
    const auto read = [&] {
      try {
        golden_status =
            GraphReader(text, *header_.bench, path_, mode_, options, &done).Read(&golden);
      } catch (const std::bad_alloc&) {
        golden_status = LimitExceededError("out of memory", {}, path_.string());
      }
    };
    if (options.threads > 1)
      golden_reader = std::jthread(read);
    else
      read();
  }
  const Status status = GraphReader(text, header_.npu, path_, mode_, options, &done).Read(&target);
  if (golden_reader.joinable()) golden_reader.join();
  if (guard.torn()) return ChangedError(path_);
  MSPROBE_RETURN_IF_ERROR(Status(status));
  MSPROBE_RETURN_IF_ERROR(Status(golden_status));
  if (index.is_comparison()) {
    LinkPartners(target.partners, &index.target, index.golden, IndexNames(index.golden));
    LinkPartners(golden.partners, &index.golden, index.target, IndexNames(index.target));
  }
  index.arena.Adopt(std::move(target.arena));
  index.arena.Adopt(std::move(golden.arena));
  index.Finish(mode_);
  return std::shared_ptr<UnitSource>(std::move(loaded));
}

Result<std::unique_ptr<VisSource>> OpenVis(const std::filesystem::path& path,
                                           const ReadOptions& options) {
  if (options.cancel != nullptr && options.cancel->cancelled()) return CancelledError();
  MSPROBE_ASSIGN_OR_RETURN(const base::MappedFile file, base::MappedFile::Open(path));
  const base::TruncationGuard guard(file.bytes());
  MSPROBE_ASSIGN_OR_RETURN(const Header header, ReadHeader(file.text(), path));
  const VisName name = ParseVisName(path.filename().string());
  return std::unique_ptr<VisSource>(
      std::make_unique<VisFile>(path, header, UnitEntry{name.step, name.rank}));
}

}  // namespace msprobe::visfile
