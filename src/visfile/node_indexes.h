#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/scratch_file.h"
#include "graph/graph.h"
#include "msprobe/status.h"
#include "visfile/page_file.h"

namespace msprobe::visfile {

/// One graph in `tb_nodes`; its rows stand one behind the other in completion order.
struct NodeRows {
  std::string source;  ///< "NPU", "Bench"
  int64_t step = 0;
  int64_t rank = 0;
  int64_t first_row = 0;

  /// `graph_id`, and with a name behind it `id`.
  std::string graph_id() const {
    return source + "_" + std::to_string(step) + "_" + std::to_string(rank);
  }
};

/// First pages of the indexes over `tb_nodes`.
struct NodeIndexRoots {
  uint32_t by_id = 0;
  uint32_t by_order = 0;   ///< step, rank, node_order, micro_step_id, data_source
  uint32_t by_parent = 0;  ///< up_node, step, rank, data_source, node_order
  uint32_t by_name = 0;    ///< node_name, step, rank, data_source
};

/// The names of a graph's nodes, sorted, with what else the indexes hold; `order` is its
/// CompletionOrder.
std::string SortedNames(const graph::Graph& graph, const std::vector<graph::NodeId>& order);

/// Makes the indexes over `tb_nodes`: keeps the sorted names of all graphs in a temporary file and
/// merges them at the end, so that nothing is sorted twice and nothing in memory grows.
class NodeIndexes {
 public:
  /// The temporary file lies on the disk of `directory`; errors name `shown`.
  static Result<NodeIndexes> Create(const std::filesystem::path& directory,
                                    const std::filesystem::path& shown);

  /// Every (source, step, rank) once.
  Status Add(const NodeRows& rows, std::string_view sorted_names);
  /// Fills the indexes. Call it once, at the end.
  Status Write(const NodeIndexRoots& roots, PageFile* file);

 private:
  struct Run {
    NodeRows rows;
    uint64_t begin;
    uint64_t size;
  };

  base::ScratchFile scratch_;
  std::vector<Run> runs_;
};

}  // namespace msprobe::visfile
