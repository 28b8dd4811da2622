#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "base/file.h"
#include "base/ordered_chunks.h"
#include "visfile/content_index.h"
#include "visfile/index_blob.h"
#include "visfile/node_json.h"
#include "visfile/shape_table.h"
#include "visfile/sqlite.h"
#include "visfile/stack_table.h"
#include "visfile/vis_node_scan.h"
#include "visfile/visfile.h"

namespace msprobe::visfile {

namespace {

using graph::NodeId;

constexpr size_t kNodesPerChunk = 512;
constexpr std::string_view kSuffix = ".vis.db";

// No journal: without Finish() the file is removed anyway. Pages may be spilled at any time, so
// the cache is all the memory that the file takes.
constexpr const char* kSettings =
    "PRAGMA page_size=65536; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536; PRAGMA threads=2;";

constexpr const char* kTables = R"sql(
CREATE TABLE tb_nodes (
  id TEXT PRIMARY KEY, graph_id TEXT NOT NULL, node_order INTEGER NOT NULL,
  node_name TEXT NOT NULL, node_type TEXT NOT NULL, up_node TEXT, sub_nodes TEXT,
  precision_index INTEGER, overflow_level TEXT, micro_step_id INTEGER NOT NULL,
  matched_node_link TEXT, stack_id TEXT, parallel_merge_info TEXT, matched_distributed TEXT,
  modified INTEGER NOT NULL, input_data TEXT, output_data TEXT, data_source TEXT,
  dump_data_dir TEXT, step INTEGER NOT NULL, rank INTEGER NOT NULL, is_distributed INTEGER);
CREATE TABLE tb_stack (id TEXT PRIMARY KEY, stack_info TEXT);
CREATE TABLE tb_config (
  id TEXT PRIMARY KEY, graph_type TEXT NOT NULL, task TEXT, tool_tip TEXT, micro_steps INTEGER,
  overflow_check INTEGER, node_colors TEXT NOT NULL, rank_list TEXT NOT NULL,
  step_list TEXT NOT NULL);
CREATE TABLE msprobe_nodes (
  id TEXT, idx REAL, worst_below REAL, status TEXT, reason TEXT, role TEXT);
CREATE TABLE msprobe_index (step INTEGER, rank INTEGER, side INTEGER, data BLOB);
CREATE INDEX nodes_by_order ON tb_nodes (step, rank, node_order, micro_step_id, data_source);
CREATE INDEX nodes_modified ON tb_nodes (step, rank) WHERE modified = 1;
BEGIN;
)sql";

// When the plugin changes nodes our viewer must read them one by one again: hence the trigger.
// One index for each kind of query of the plugin; these two are filled from random places, which is
// cheaper at the end. Names first: SQLite sorts fastest by a text in the first column.
constexpr const char* kIndexes = R"sql(
PRAGMA mmap_size = 1099511627776;
CREATE INDEX nodes_by_parent ON tb_nodes (up_node, step, rank, data_source, node_order);
CREATE INDEX nodes_by_name ON tb_nodes (node_name, step, rank, data_source);
CREATE TRIGGER msprobe_index_stale
AFTER UPDATE OF node_name, up_node, precision_index, matched_node_link ON tb_nodes
BEGIN DELETE FROM msprobe_index; END;
COMMIT;
)sql";

constexpr std::string_view kInsertNode =
    "INSERT INTO tb_nodes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,'',?,0,?,?,?,?,?,?,?)";
enum NodeParameter : int {
  kId,
  kGraphId,
  kOrder,
  kName,
  kType,
  kUpNode,
  kSubNodes,
  kIndex,
  kOverflow,
  kMicroStep,
  kMatchedLink,
  kStackId,
  kDistributed,
  kInputs,
  kOutputs,
  kSource,
  kDumpDataDir,
  kStep,
  kRank,
  kIsDistributed,
};

constexpr std::string_view kInsertVerdict =
    "INSERT INTO msprobe_nodes (rowid, id, idx, worst_below, status, reason, role) "
    "VALUES (?,?,?,?,?,?,?)";
constexpr std::string_view kInsertIndex = "INSERT INTO msprobe_index VALUES (?,?,?,?)";
constexpr std::string_view kInsertStack = "INSERT INTO tb_stack VALUES (?,?)";
constexpr std::string_view kInsertConfig = "INSERT INTO tb_config VALUES ('1',?,?,?,?,?,?,?,?)";

/// The rendered columns of one node, one behind the other in Chunk::text.
struct Row {
  enum Column : uint8_t { kId, kSubNodes, kMatchedLink, kDistributed, kInputs, kOutputs, kStack };
  static constexpr size_t kColumns = 7;

  NodeId node;
  std::array<size_t, kColumns + 1> begin;
  StackKey stack;
};

struct Chunk {
  std::string text;
  std::vector<Row> rows;
  size_t first_order = 0;
  NodeScratch scratch;

  std::string_view Text(const Row& row, Row::Column column) const {
    return std::string_view(text).substr(row.begin[column],
                                         row.begin[column + 1] - row.begin[column]);
  }
};

void RenderRow(const SideText& side, std::string_view graph_id, NodeId node, Chunk* chunk) {
  std::string& text = chunk->text;
  Row& row = chunk->rows.emplace_back();
  row.node = node;
  side.Load(node, &chunk->scratch);
  row.begin[Row::kId] = text.size();
  text.append(graph_id).append("_").append(side.graph().nodes[node].name);
  row.begin[Row::kSubNodes] = text.size();
  if (!side.graph().children(node).empty()) side.AppendChildren(node, &text);
  row.begin[Row::kMatchedLink] = text.size();
  side.AppendMatchedLink(node, &chunk->scratch, &text);
  row.begin[Row::kDistributed] = text.size();
  side.AppendDistributed(node, &text);
  row.begin[Row::kInputs] = text.size();
  side.AppendInputs(node, &chunk->scratch, &text);
  row.begin[Row::kOutputs] = text.size();
  side.AppendOutputs(node, &chunk->scratch, &text);
  row.begin[Row::kStack] = text.size();
  side.AppendStack(node, &text);
  row.begin[Row::kColumns] = text.size();
  row.stack = StackKey::Of(chunk->Text(row, Row::kStack));
}

std::string IntegerList(const std::set<int64_t>& numbers) {
  std::string list = "[";
  for (const int64_t number : numbers) {
    if (list.size() > 1) list.append(", ");
    list.append(std::to_string(number));
  }
  return list + "]";
}

void BindOptional(Statement* statement, int index, double value) {
  if (std::isnan(value)) {
    statement->BindNull(index);
  } else {
    statement->BindDouble(index, value);
  }
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
  Writer(base::AtomicFile file, Database database, const WriteOptions& options)
      : file_(std::move(file)), database_(std::move(database)), options_(options) {}

  Status Prepare();
  Status Add(const VisContent& content) override;
  Result<std::filesystem::path> Finish() override;

 private:
  Status AddContent(const VisContent& content);
  Status AddSide(const SideText& side, std::string_view source, int64_t step, int64_t rank,
                 SideIndex* index);
  Status AddIndex(const SideIndex& index, Side side, int64_t step, int64_t rank);
  Status Insert(const SideText& side, const Chunk& chunk, SideIndex* index);
  Status InsertRow(const SideText& side, const Chunk& chunk, const Row& row, size_t order);
  Status InsertVerdict(const SideText& side, NodeId node, std::string_view id);
  Status InsertConfig();

  base::AtomicFile file_;
  Database database_;
  WriteOptions options_;
  Statement insert_node_;
  Statement insert_verdict_;
  Statement insert_stack_;
  StackTable stacks_;
  int64_t row_id_ = 0;
  ShapeTable* shapes_ = nullptr;  ///< of the side that is being added
  Status failure_;                ///< of an Add(): the file is of no use

  std::optional<compare::CompareMode> mode_;  ///< none: a single graph
  bool overflow_check_ = false;
  int32_t micro_steps_ = 1;
  std::set<int64_t> steps_;
  std::set<int64_t> ranks_;
};

Status Writer::Prepare() {
  MSPROBE_RETURN_IF_ERROR(database_.Execute(kSettings));
  MSPROBE_RETURN_IF_ERROR(database_.Execute(kTables));
  MSPROBE_ASSIGN_OR_RETURN(insert_node_, database_.Prepare(kInsertNode));
  MSPROBE_ASSIGN_OR_RETURN(insert_verdict_, database_.Prepare(kInsertVerdict));
  MSPROBE_ASSIGN_OR_RETURN(insert_stack_, database_.Prepare(kInsertStack));
  return Status::Ok();
}

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
  UnitIndex index = IndexContent(content);
  if (content.comparison == nullptr) {
    micro_steps_ = std::max(micro_steps_, content.single->micro_steps);
    const SideText single(content, SideText::Side::kSingle, Dialect::kDb);
    MSPROBE_RETURN_IF_ERROR(AddSide(single, "NPU", step, rank, &index.target));
    return AddIndex(index.target, Side::kTarget, step, rank);
  }
  if (!mode_) mode_ = content.comparison->mode;
  micro_steps_ = std::max(micro_steps_, content.comparison->target->micro_steps);
  {
    const SideText target(content, SideText::Side::kTarget, Dialect::kDb);
    MSPROBE_RETURN_IF_ERROR(AddSide(target, "NPU", step, rank, &index.target));
  }
  const SideText golden(content, SideText::Side::kGolden, Dialect::kDb);
  MSPROBE_RETURN_IF_ERROR(AddSide(golden, "Bench", step, rank, &index.golden));
  MSPROBE_RETURN_IF_ERROR(AddIndex(index.target, Side::kTarget, step, rank));
  return AddIndex(index.golden, Side::kGolden, step, rank);
}

Status Writer::AddIndex(const SideIndex& index, Side side, int64_t step, int64_t rank) {
  MSPROBE_ASSIGN_OR_RETURN(Statement insert, database_.Prepare(kInsertIndex));
  insert.BindInt(0, step);
  insert.BindInt(1, rank);
  insert.BindInt(2, static_cast<int64_t>(side));
  return WriteIndexBlob(index, [&insert](std::string_view piece) {
    insert.BindBlob(3, piece);
    return insert.Step().status();
  });
}

Status Writer::AddSide(const SideText& side, std::string_view source, int64_t step, int64_t rank,
                       SideIndex* index) {
  const std::string graph_id =
      std::string(source) + "_" + std::to_string(step) + "_" + std::to_string(rank);
  insert_node_.BindText(kGraphId, graph_id);
  insert_node_.BindText(kSource, source);
  insert_node_.BindText(kDumpDataDir, side.graph().dump->dump_data_dir());
  insert_node_.BindInt(kStep, step);
  insert_node_.BindInt(kRank, rank);
  const std::vector<NodeId> order = graph::CompletionOrder(side.graph());
  ShapeTable shapes;
  shapes_ = &shapes;
  index->shapes.assign(order.size(), 0);
  MSPROBE_RETURN_IF_ERROR(base::OrderedChunks<Chunk>(
      order.size(), kNodesPerChunk, {options_.threads, options_.cancel},
      [&](size_t begin, size_t end, Chunk* chunk) {
        chunk->text.clear();
        chunk->rows.clear();
        chunk->first_order = begin;
        for (size_t i = begin; i < end; ++i) RenderRow(side, graph_id, order[i], chunk);
      },
      [&](const Chunk& chunk) { return Insert(side, chunk, index); }));
  index->shape_texts = shapes.TakeTexts();
  return Status::Ok();
}

Status Writer::Insert(const SideText& side, const Chunk& chunk, SideIndex* index) {
  size_t order = chunk.first_order;
  for (const Row& row : chunk.rows) {
    MSPROBE_RETURN_IF_ERROR(InsertRow(side, chunk, row, order++));
    MSPROBE_RETURN_IF_ERROR(InsertVerdict(side, row.node, chunk.Text(row, Row::kId)));
    index->places[row.node] = static_cast<uint64_t>(row_id_);
    index->shapes[row.node] = shapes_->Intern(FirstShape(chunk.Text(row, Row::kOutputs)));
  }
  return Status::Ok();
}

Status Writer::InsertRow(const SideText& side, const Chunk& chunk, const Row& row, size_t order) {
  bool new_stack = false;
  const std::string stack_id = std::to_string(stacks_.Find(row.stack, &new_stack));
  if (new_stack) {
    insert_stack_.BindText(0, stack_id);
    insert_stack_.BindText(1, chunk.Text(row, Row::kStack));
    MSPROBE_RETURN_IF_ERROR(insert_stack_.Step().status());
  }
  const graph::Node& node = side.graph().nodes[row.node];
  const std::string type = std::to_string(static_cast<int>(node.kind));
  insert_node_.BindText(kId, chunk.Text(row, Row::kId));
  insert_node_.BindInt(kOrder, static_cast<int64_t>(order));
  insert_node_.BindText(kName, node.name);
  insert_node_.BindText(kType, type);
  insert_node_.BindText(kUpNode, node.parent == graph::kNoNode
                                     ? std::string_view()
                                     : side.graph().nodes[node.parent].name);
  insert_node_.BindText(kSubNodes, chunk.Text(row, Row::kSubNodes));
  BindOptional(&insert_node_, kIndex, side.PluginIndex(row.node));
  BindOptional(&insert_node_, kOverflow, OverflowText(node.overflow));
  insert_node_.BindInt(kMicroStep, node.micro_step);
  insert_node_.BindText(kMatchedLink, chunk.Text(row, Row::kMatchedLink));
  insert_node_.BindText(kStackId, stack_id);
  insert_node_.BindText(kDistributed, chunk.Text(row, Row::kDistributed));
  insert_node_.BindText(kInputs, chunk.Text(row, Row::kInputs));
  insert_node_.BindText(kOutputs, chunk.Text(row, Row::kOutputs));
  insert_node_.BindInt(kIsDistributed, side.Peers(row.node).empty() ? 0 : 1);
  return insert_node_.Step().status();
}

Status Writer::InsertVerdict(const SideText& side, NodeId node, std::string_view id) {
  ++row_id_;  // of the node that was inserted last: both rows have the same
  const NodeVerdict verdict = side.Verdict(node);
  if (verdict.status.empty()) return Status::Ok();
  insert_verdict_.BindInt(0, row_id_);
  insert_verdict_.BindText(1, id);
  BindOptional(&insert_verdict_, 2, verdict.index);
  BindOptional(&insert_verdict_, 3, verdict.worst_below);
  insert_verdict_.BindText(4, verdict.status);
  BindOptional(&insert_verdict_, 5, verdict.reason);
  BindOptional(&insert_verdict_, 6, verdict.role);
  return insert_verdict_.Step().status();
}

Status Writer::InsertConfig() {
  MSPROBE_ASSIGN_OR_RETURN(Statement insert, database_.Prepare(kInsertConfig));
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

Result<std::filesystem::path> Writer::Finish() {
  MSPROBE_RETURN_IF_ERROR(Status(failure_));
  MSPROBE_RETURN_IF_ERROR(InsertConfig());
  insert_node_ = Statement();
  insert_verdict_ = Statement();
  insert_stack_ = Statement();
  MSPROBE_RETURN_IF_ERROR(database_.Execute(kIndexes));
  MSPROBE_RETURN_IF_ERROR(database_.Close());
  return file_.CommitUnique(kSuffix);
}

}  // namespace

Result<std::unique_ptr<VisDbWriter>> VisDbWriter::Create(const std::filesystem::path& path,
                                                         const WriteOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(path));
  MSPROBE_ASSIGN_OR_RETURN(Database database,
                           Database::Open(file.temporary_path(), Database::Mode::kWrite, path));
  auto writer = std::make_unique<Writer>(std::move(file), std::move(database), options);
  MSPROBE_RETURN_IF_ERROR(writer->Prepare());
  return std::unique_ptr<VisDbWriter>(std::move(writer));
}

}  // namespace msprobe::visfile
