#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "base/file.h"
#include "base/ordered_chunks.h"
#include "base/thread_pool.h"
#include "visfile/content_index.h"
#include "visfile/index_blob.h"
#include "visfile/node_json.h"
#include "visfile/shape_table.h"
#include "visfile/vis_db_tables.h"
#include "visfile/vis_node_scan.h"
#include "visfile/visfile.h"

namespace msprobe::visfile {

namespace {

using graph::NodeId;

constexpr size_t kNodesPerChunk = 512;
constexpr std::string_view kSuffix = ".vis.db";

// When the plugin changes nodes our viewer must read them one by one again.
constexpr const char* kTrigger = R"sql(
CREATE TRIGGER msprobe_index_stale
AFTER UPDATE OF node_name, up_node, precision_index, matched_node_link ON tb_nodes
BEGIN DELETE FROM msprobe_index; END;
)sql";

constexpr std::string_view kInsertConfig = "INSERT INTO tb_config VALUES ('1',?,?,?,?,?,?,?,?)";

/// What is rendered of one node, one behind the other in Chunk::types and Chunk::values.
struct Row {
  enum Part : uint8_t { kBeforeStackId, kBehindStackId, kStack, kVerdict };
  static constexpr size_t kParts = 4;

  NodeId node;
  std::array<size_t, kParts + 1> types;
  std::array<size_t, kParts + 1> values;
  size_t shape_begin;
  size_t shape_size;
  StackKey stack;
};

struct Chunk {
  std::string types;
  std::string values;
  std::vector<Row> rows;
  NodeScratch scratch;

  std::string_view Types(const Row& row, Row::Part part) const {
    return std::string_view(types).substr(row.types[part], row.types[part + 1] - row.types[part]);
  }
  std::string_view Values(const Row& row, Row::Part part) const {
    return std::string_view(values).substr(row.values[part],
                                           row.values[part + 1] - row.values[part]);
  }
};

/// Renders rows of one graph.
class RowMaker {
 public:
  RowMaker(const SideText& side, const NodeRows& rows, Chunk* chunk)
      : side_(side),
        rows_(rows),
        id_(rows.graph_id() + "_"),
        chunk_(*chunk),
        record_(&chunk->types, &chunk->values) {}

  void Add(NodeId node, size_t order) {
    row_ = &chunk_.rows.emplace_back();
    row_->node = node;
    side_.Load(node, &chunk_.scratch);
    id_.resize(rows_.graph_id().size() + 1);
    id_.append(side_.graph().nodes[node].name);
    Begin(Row::kBeforeStackId);
    AddHead(node, order);
    Begin(Row::kBehindStackId);
    AddValues(node);
    Begin(Row::kStack);
    side_.AppendStack(node, &chunk_.values);
    Begin(Row::kVerdict);
    row_->stack = StackKey::Of(chunk_.Values(*row_, Row::kStack));
    AddVerdict(node);
    Begin(Row::kParts);
  }

 private:
  void Begin(size_t part) {
    row_->types[part] = chunk_.types.size();
    row_->values[part] = chunk_.values.size();
  }

  /// A column of text that `append` appends to the values.
  template <class Append>
  void Column(const Append& append) {
    const size_t begin = chunk_.values.size();
    append(&chunk_.values);
    record_.TextOfSize(chunk_.values.size() - begin);
  }
  void Optional(std::string_view text) {
    if (text.empty()) return record_.Null();
    record_.Text(text);
  }

  /// id … matched_node_link
  void AddHead(NodeId id, size_t order) {
    const graph::Graph& graph = side_.graph();
    const graph::Node& node = graph.nodes[id];
    record_.Text(id_);
    record_.Text(std::string_view(id_).substr(0, id_.size() - node.name.size() - 1));
    record_.Int(static_cast<int64_t>(order));
    record_.Text(node.name);
    record_.Text(std::to_string(static_cast<int>(node.kind)));
    record_.Text(node.parent == graph::kNoNode ? std::string_view()
                                               : graph.nodes[node.parent].name);
    Column([&](std::string* out) {
      if (!graph.children(id).empty()) side_.AppendChildren(id, out);
    });
    AddPluginIndex(side_.PluginIndex(id));
    Optional(OverflowText(node.overflow));
    record_.Int(node.micro_step);
    Column([&](std::string* out) { side_.AppendMatchedLink(id, &chunk_.scratch, out); });
  }

  /// An INTEGER column keeps whole numbers as such.
  void AddPluginIndex(double index) {
    if (index == 0 || index == 1) return record_.Int(static_cast<int64_t>(index));
    record_.Real(index);
  }

  /// parallel_merge_info … is_distributed
  void AddValues(NodeId node) {
    record_.Text({});
    Column([&](std::string* out) { side_.AppendDistributed(node, out); });
    record_.Int(0);
    Column([&](std::string* out) { side_.AppendInputs(node, &chunk_.scratch, out); });
    const size_t outputs = chunk_.values.size();
    Column([&](std::string* out) { side_.AppendOutputs(node, &chunk_.scratch, out); });
    const std::string_view shape = FirstShape(std::string_view(chunk_.values).substr(outputs));
    row_->shape_begin =
        shape.empty() ? 0 : static_cast<size_t>(shape.data() - chunk_.values.data());
    row_->shape_size = shape.size();
    record_.Text(rows_.source);
    record_.Text(side_.graph().dump->dump_data_dir());
    record_.Int(rows_.step);
    record_.Int(rows_.rank);
    record_.Int(side_.Peers(node).empty() ? 0 : 1);
  }

  /// A row of msprobe_nodes; nothing where there is nothing to say.
  void AddVerdict(NodeId node) {
    const NodeVerdict verdict = side_.Verdict(node);
    if (verdict.status.empty()) return;
    record_.Text(id_);
    record_.Real(verdict.index);
    record_.Real(verdict.worst_below);
    record_.Text(verdict.status);
    Optional(verdict.reason);
    Optional(verdict.role);
    const size_t begin = chunk_.values.size();
    side_.AppendUlps(node, chunk_.scratch, &chunk_.values);
    if (chunk_.values.size() == begin) return;  // SQLite reads a column that is not there as NULL
    record_.TextOfSize(chunk_.values.size() - begin);
  }

  const SideText& side_;
  const NodeRows& rows_;
  std::string id_;
  Chunk& chunk_;
  RecordText record_;
  Row* row_ = nullptr;
};

std::string IntegerList(const std::set<int64_t>& numbers) {
  std::string list = "[";
  for (const int64_t number : numbers) {
    if (list.size() > 1) list.append(", ");
    list.append(std::to_string(number));
  }
  return list + "]";
}

void BindOptional(Statement* statement, int index, std::string_view text) {
  if (text.empty()) {
    statement->BindNull(index);
  } else {
    statement->BindText(index, text);
  }
}

class Writer final : public VisDbWriter {
 public:
  Writer(base::AtomicFile file, std::unique_ptr<VisDbTables> tables, const WriteOptions& options)
      : file_(std::move(file)), tables_(std::move(tables)), options_(options) {}

  Status Add(const VisContent& content) override;
  Result<std::filesystem::path> Finish() override;

 private:
  /// One graph on its way into the file.
  struct Part {
    SideText text;
    NodeRows rows;
    SideIndex* index;
    Side side;
    std::vector<NodeId> order = {};
    std::string sorted_names = {};
  };

  Status AddContent(const VisContent& content);
  Status AddNodes(Part* part);
  Status AddIndex(const Part& part);
  Status Insert(const Chunk& chunk, ShapeTable* shapes, SideIndex* index);
  Status InsertConfig(Database* database);
  Status InsertDumps(Database* database);

  base::AtomicFile file_;
  std::unique_ptr<VisDbTables> tables_;
  WriteOptions options_;
  int64_t row_id_ = 0;
  int64_t index_row_id_ = 0;
  Status failure_;  ///< of an Add(): the file is of no use

  std::optional<compare::CompareMode> mode_;  ///< none: a single graph
  bool overflow_check_ = false;
  int32_t micro_steps_ = 1;
  std::set<int64_t> steps_;
  std::set<int64_t> ranks_;
  /// A row of msprobe_dumps: where a side was read from.
  struct DumpRow {
    int64_t step;
    int64_t rank;
    Side side;
    std::string path;
  };
  std::vector<DumpRow> dumps_;
};

Status Writer::Add(const VisContent& content) {
  if (failure_.ok()) failure_ = AddContent(content);
  return failure_;
}

Status Writer::AddContent(const VisContent& content) {
  const int64_t step = content.step.value_or(0);
  const int64_t rank = content.rank.value_or(0);
  steps_.insert(step);
  ranks_.insert(rank);
  overflow_check_ |= content.overflow_check;
  UnitIndex index;
  std::vector<Part> parts;
  parts.reserve(2);
  const auto add = [&](SideText::Side text, std::string source, Side side) {
    parts.push_back({SideText(content, text, Dialect::kDb),
                     {std::move(source), step, rank, 0},
                     &index.side(side),
                     side});
  };
  if (content.comparison == nullptr) {
    add(SideText::Side::kSingle, "NPU", Side::kTarget);
  } else {
    if (!mode_) mode_ = content.comparison->mode;
    add(SideText::Side::kTarget, "NPU", Side::kTarget);
    add(SideText::Side::kGolden, "Bench", Side::kGolden);
  }
  micro_steps_ = std::max(micro_steps_, parts[0].text.graph().micro_steps);
  for (const Part& part : parts) {
    dumps_.push_back({step, rank, part.side, part.text.graph().dump->directory().string()});
  }
  base::ParallelFor(parts.size() + 1, 1, options_.threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (i == parts.size()) {
        index = IndexContent(content);
        continue;
      }
      parts[i].order = graph::CompletionOrder(parts[i].text.graph());
      parts[i].sorted_names = SortedNames(parts[i].text.graph(), parts[i].order);
    }
  });
  for (Part& part : parts) MSPROBE_RETURN_IF_ERROR(AddNodes(&part));
  for (const Part& part : parts) MSPROBE_RETURN_IF_ERROR(AddIndex(part));
  return Status::Ok();
}

Status Writer::AddNodes(Part* part) {
  part->rows.first_row = row_id_ + 1;
  MSPROBE_RETURN_IF_ERROR(tables_->node_indexes().Add(part->rows, part->sorted_names));
  part->sorted_names = {};
  part->index->shapes.assign(part->order.size(), 0);
  ShapeTable shapes;
  MSPROBE_RETURN_IF_ERROR(base::OrderedChunks<Chunk>(
      part->order.size(), kNodesPerChunk, {options_.threads, options_.cancel},
      [&](size_t begin, size_t end, Chunk* chunk) {
        chunk->types.clear();
        chunk->values.clear();
        chunk->rows.clear();
        RowMaker maker(part->text, part->rows, chunk);
        for (size_t i = begin; i < end; ++i) maker.Add(part->order[i], i);
      },
      [&](const Chunk& chunk) { return Insert(chunk, &shapes, part->index); }));
  part->index->shape_texts = shapes.TakeTexts();
  return Status::Ok();
}

Status Writer::Insert(const Chunk& chunk, ShapeTable* shapes, SideIndex* index) {
  for (const Row& row : chunk.rows) {
    MSPROBE_ASSIGN_OR_RETURN(const uint32_t stack,
                             tables_->AddStack(row.stack, chunk.Values(row, Row::kStack)));
    ++row_id_;
    const std::array types = {chunk.Types(row, Row::kBeforeStackId),
                              chunk.Types(row, Row::kBehindStackId)};
    const std::array values = {chunk.Values(row, Row::kBeforeStackId),
                               chunk.Values(row, Row::kBehindStackId)};
    MSPROBE_RETURN_IF_ERROR(tables_->nodes().Add(row_id_, types, values, std::to_string(stack)));
    const std::string_view verdict = chunk.Types(row, Row::kVerdict);
    if (!verdict.empty()) {  // with the row id of its node
      MSPROBE_RETURN_IF_ERROR(
          tables_->verdicts().Add(row_id_, verdict, chunk.Values(row, Row::kVerdict)));
    }
    index->places[row.node] = static_cast<uint64_t>(row_id_);
    index->shapes[row.node] =
        shapes->Intern(std::string_view(chunk.values).substr(row.shape_begin, row.shape_size));
  }
  return Status::Ok();
}

Status Writer::AddIndex(const Part& part) {
  TableRows& rows = tables_->index_blobs();
  return WriteIndexBlob(*part.index, [&](std::string_view piece) {
    RecordText record = rows.Begin();
    record.Int(part.rows.step);
    record.Int(part.rows.rank);
    record.Int(static_cast<int64_t>(part.side));
    record.Blob(piece);
    return rows.End(++index_row_id_);
  });
}

Status Writer::InsertConfig(Database* database) {
  MSPROBE_ASSIGN_OR_RETURN(Statement insert, database->Prepare(kInsertConfig));
  std::string tool_tip;
  std::string colors = "{}";
  if (mode_) {
    AppendToolTip(*mode_, &tool_tip);
    colors.clear();
    AppendColors(*mode_, Dialect::kDb, &colors);
  }
  const std::string ranks = IntegerList(ranks_);
  const std::string steps = IntegerList(steps_);
  insert.BindText(0, mode_ ? "compare" : "build");
  insert.BindText(1, mode_ ? TaskText(*mode_) : "");
  BindOptional(&insert, 2, tool_tip);
  insert.BindInt(3, micro_steps_);
  insert.BindInt(4, overflow_check_ ? 1 : 0);
  insert.BindText(5, colors);
  insert.BindText(6, ranks);
  insert.BindText(7, steps);
  return insert.Step().status();
}

Status Writer::InsertDumps(Database* database) {
  MSPROBE_ASSIGN_OR_RETURN(Statement insert,
                           database->Prepare("INSERT INTO msprobe_dumps VALUES (?, ?, ?, ?)"));
  for (const DumpRow& row : dumps_) {
    insert.BindInt(0, row.step);
    insert.BindInt(1, row.rank);
    insert.BindInt(2, static_cast<int64_t>(row.side));
    insert.BindText(3, row.path);
    MSPROBE_RETURN_IF_ERROR(insert.Step().status());
    insert.Reset();
  }
  return Status::Ok();
}

Result<std::filesystem::path> Writer::Finish() {
  MSPROBE_RETURN_IF_ERROR(Status(failure_));
  MSPROBE_ASSIGN_OR_RETURN(Database database, tables_->Finish());
  tables_ = nullptr;
  MSPROBE_RETURN_IF_ERROR(InsertConfig(&database));
  MSPROBE_RETURN_IF_ERROR(InsertDumps(&database));
  MSPROBE_RETURN_IF_ERROR(database.Execute(kTrigger));
  MSPROBE_RETURN_IF_ERROR(database.Close());
  return file_.CommitUnique(kSuffix);
}

}  // namespace

Result<std::unique_ptr<VisDbWriter>> VisDbWriter::Create(const std::filesystem::path& path,
                                                         const WriteOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(path));
  MSPROBE_ASSIGN_OR_RETURN(auto tables, VisDbTables::Create(file.temporary_path(), path));
  return std::unique_ptr<VisDbWriter>(
      std::make_unique<Writer>(std::move(file), std::move(tables), options));
}

}  // namespace msprobe::visfile
