#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "msprobe/status.h"
#include "visfile/btree_writer.h"
#include "visfile/node_indexes.h"
#include "visfile/page_file.h"
#include "visfile/record_text.h"
#include "visfile/sqlite.h"
#include "visfile/stack_table.h"

namespace msprobe::visfile {

/// Rows of one table, written without SQLite.
class TableRows {
 public:
  TableRows(PageFile* file, uint32_t root) : tree_(file, BTreeWriter::Kind::kTable, root) {}

  /// The columns of the next row, to be filled in their order; then call End().
  RecordText Begin();
  Status End(int64_t row_id) { return Add(row_id, types_, values_); }
  Status Add(int64_t row_id, std::string_view types, std::string_view values);
  /// A row whose columns were appended in two parts, with a text column between them.
  Status Add(int64_t row_id, std::span<const std::string_view, 2> types,
             std::span<const std::string_view, 2> values, std::string_view between);
  Status Finish() { return tree_.Finish(); }

 private:
  BTreeWriter tree_;
  std::string types_, values_, header_;
};

/// The tables of a `.vis.db`. SQLite makes them empty and has the last word on the small ones;
/// between that the large ones and their indexes are written page by page.
class VisDbTables {
 public:
  /// `path` is an empty file; errors name `shown`.
  static Result<std::unique_ptr<VisDbTables>> Create(const std::filesystem::path& path,
                                                     const std::filesystem::path& shown);

  TableRows& nodes() { return nodes_; }              ///< tb_nodes
  TableRows& verdicts() { return verdicts_; }        ///< msprobe_nodes
  TableRows& index_blobs() { return index_blobs_; }  ///< msprobe_index
  NodeIndexes& node_indexes() { return node_indexes_; }
  /// The stack's number in tb_stack, which gets `text` if it is new.
  Result<uint32_t> AddStack(const StackKey& key, std::string_view text);

  /// Writes the indexes, and opens the file by SQLite for what is left. Nothing of the above may
  /// be called any more.
  Result<Database> Finish();

 private:
  struct Roots {
    uint32_t nodes, verdicts, index_blobs, stacks, stacks_by_id;
    NodeIndexRoots indexes;
  };
  VisDbTables(PageFile file, NodeIndexes node_indexes, const Roots& roots,
              std::filesystem::path path, std::filesystem::path shown);
  static Result<Roots> MakeTables(const std::filesystem::path& path,
                                  const std::filesystem::path& shown);
  Status FinishStacks();

  PageFile file_;
  NodeIndexes node_indexes_;
  Roots roots_;
  TableRows nodes_, verdicts_, index_blobs_, stacks_;
  StackTable stack_numbers_;
  uint32_t stack_count_ = 0;
  std::filesystem::path path_, shown_;
};

}  // namespace msprobe::visfile
