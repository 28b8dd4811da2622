#include "visfile/vis_db_tables.h"

#include <array>
#include <utility>

namespace msprobe::visfile {

namespace {

// No journal: without Finish() the file is removed anyway.
constexpr const char* kSettings =
    "PRAGMA page_size=65536; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "PRAGMA locking_mode=EXCLUSIVE;";
static_assert(PageFile::kPageSize == 65536);

// One index for each kind of query of the plugin.
constexpr const char* kTables = R"sql(
BEGIN;
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
  id TEXT, idx REAL, worst_below REAL, status TEXT, reason TEXT, role TEXT, ulps TEXT);
CREATE TABLE msprobe_dumps (step INTEGER, rank INTEGER, side INTEGER, path TEXT);
CREATE TABLE msprobe_index (step INTEGER, rank INTEGER, side INTEGER, data BLOB);
CREATE INDEX nodes_by_order ON tb_nodes (step, rank, node_order, micro_step_id, data_source);
CREATE INDEX nodes_by_parent ON tb_nodes (up_node, step, rank, data_source, node_order);
CREATE INDEX nodes_by_name ON tb_nodes (node_name, step, rank, data_source);
CREATE INDEX nodes_modified ON tb_nodes (step, rank) WHERE modified = 1;
COMMIT;
)sql";

Result<Database> Open(const std::filesystem::path& path, const std::filesystem::path& shown) {
  MSPROBE_ASSIGN_OR_RETURN(Database database, Database::Open(path, Database::Mode::kWrite, shown));
  MSPROBE_RETURN_IF_ERROR(database.Execute(kSettings));
  return database;
}

/// The numbers below `count` in the order of their texts: 0, 1, 10, 100, 11, 2 …
template <class Visit>
Status ForEachByText(uint32_t count, const Visit& visit) {
  if (count == 0) return Status::Ok();
  MSPROBE_RETURN_IF_ERROR(visit(0));
  uint64_t number = 1;
  for (uint32_t left = count - 1; left > 0; --left) {
    MSPROBE_RETURN_IF_ERROR(visit(static_cast<uint32_t>(number)));
    if (number * 10 < count) {
      number *= 10;
      continue;
    }
    if (number + 1 >= count) number /= 10;
    for (++number; number % 10 == 0;) number /= 10;
  }
  return Status::Ok();
}

}  // namespace

RecordText TableRows::Begin() {
  types_.clear();
  values_.clear();
  return {&types_, &values_};
}

Status TableRows::Add(int64_t row_id, std::string_view types, std::string_view values) {
  header_.clear();
  AppendRecordHeader(types.size(), &header_);
  const std::array<std::string_view, 3> pieces = {header_, types, values};
  return tree_.AddRow(row_id, pieces);
}

Status TableRows::Add(int64_t row_id, std::span<const std::string_view, 2> types,
                      std::span<const std::string_view, 2> values, std::string_view between) {
  types_.clear();
  RecordText(&types_, &values_).TextOfSize(between.size());
  header_.clear();
  AppendRecordHeader(types[0].size() + types_.size() + types[1].size(), &header_);
  const std::array<std::string_view, 7> pieces = {header_,   types[0], types_,   types[1],
                                                  values[0], between,  values[1]};
  return tree_.AddRow(row_id, pieces);
}

VisDbTables::VisDbTables(PageFile file, NodeIndexes node_indexes, const Roots& roots,
                         std::filesystem::path path, std::filesystem::path shown)
    : file_(std::move(file)),
      node_indexes_(std::move(node_indexes)),
      roots_(roots),
      nodes_(&file_, roots.nodes),
      verdicts_(&file_, roots.verdicts),
      index_blobs_(&file_, roots.index_blobs),
      stacks_(&file_, roots.stacks),
      path_(std::move(path)),
      shown_(std::move(shown)) {}

Result<VisDbTables::Roots> VisDbTables::MakeTables(const std::filesystem::path& path,
                                                   const std::filesystem::path& shown) {
  MSPROBE_ASSIGN_OR_RETURN(Database database, Open(path, shown));
  MSPROBE_RETURN_IF_ERROR(database.Execute(kTables));
  Roots roots{};
  {
    MSPROBE_ASSIGN_OR_RETURN(Statement find,
                             database.Prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?"));
    const std::pair<std::string_view, uint32_t*> wanted[] = {
        {"tb_nodes", &roots.nodes},
        {"msprobe_nodes", &roots.verdicts},
        {"msprobe_index", &roots.index_blobs},
        {"tb_stack", &roots.stacks},
        {"sqlite_autoindex_tb_stack_1", &roots.stacks_by_id},
        {"sqlite_autoindex_tb_nodes_1", &roots.indexes.by_id},
        {"nodes_by_order", &roots.indexes.by_order},
        {"nodes_by_parent", &roots.indexes.by_parent},
        {"nodes_by_name", &roots.indexes.by_name}};
    for (const auto& [name, root] : wanted) {
      find.BindText(0, name);
      MSPROBE_ASSIGN_OR_RETURN(const bool found, find.Step());
      if (found) *root = static_cast<uint32_t>(find.Int(0));
      find.Reset();
    }
  }
  MSPROBE_RETURN_IF_ERROR(database.Close());
  return roots;
}

Result<std::unique_ptr<VisDbTables>> VisDbTables::Create(const std::filesystem::path& path,
                                                         const std::filesystem::path& shown) {
  MSPROBE_ASSIGN_OR_RETURN(const Roots roots, MakeTables(path, shown));
  MSPROBE_ASSIGN_OR_RETURN(PageFile file, PageFile::Open(path, shown));
  MSPROBE_ASSIGN_OR_RETURN(NodeIndexes indexes, NodeIndexes::Create(path.parent_path(), shown));
  return std::unique_ptr<VisDbTables>(
      new VisDbTables(std::move(file), std::move(indexes), roots, path, shown));
}

Result<uint32_t> VisDbTables::AddStack(const StackKey& key, std::string_view text) {
  bool added = false;
  const uint32_t number = stack_numbers_.Find(key, &added);
  if (!added) return number;
  RecordText record = stacks_.Begin();
  record.Text(std::to_string(number));
  record.Text(text);
  MSPROBE_RETURN_IF_ERROR(stacks_.End(int64_t{number} + 1));
  stack_count_ = number + 1;
  return number;
}

Status VisDbTables::FinishStacks() {
  MSPROBE_RETURN_IF_ERROR(stacks_.Finish());
  BTreeWriter by_id(&file_, BTreeWriter::Kind::kIndex, roots_.stacks_by_id);
  std::string types, values, header;
  MSPROBE_RETURN_IF_ERROR(ForEachByText(stack_count_, [&](uint32_t number) {
    types.clear();
    values.clear();
    header.clear();
    RecordText record(&types, &values);
    record.Text(std::to_string(number));
    record.Int(int64_t{number} + 1);
    AppendRecordHeader(types.size(), &header);
    const std::array<std::string_view, 3> pieces = {header, types, values};
    return by_id.AddEntry(pieces);
  }));
  return by_id.Finish();
}

Result<Database> VisDbTables::Finish() {
  for (TableRows* table : {&nodes_, &verdicts_, &index_blobs_}) {
    MSPROBE_RETURN_IF_ERROR(table->Finish());
  }
  MSPROBE_RETURN_IF_ERROR(FinishStacks());
  MSPROBE_RETURN_IF_ERROR(node_indexes_.Write(roots_.indexes, &file_));
  MSPROBE_RETURN_IF_ERROR(file_.Finish());
  return Open(path_, shown_);
}

}  // namespace msprobe::visfile
