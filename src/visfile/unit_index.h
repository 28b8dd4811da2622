#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_arena.h"
#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "graph/graph.h"

namespace msprobe::visfile {

enum class Side : uint8_t { kTarget, kGolden };

/// The hierarchy of one side in flat arrays, indexed by node id; node 0 is the root. What a node
/// recorded (tensors, stack) is not in here: `places` says where the file keeps it.
struct SideIndex {
  std::vector<std::string_view> names;
  std::vector<uint32_t> parents;  ///< graph::kNoNode for the root
  std::vector<graph::NodeKind> kinds;
  std::vector<uint32_t> partners;  ///< on the other side; graph::kNoNode: unmatched
  std::vector<float> index;        ///< 0 fine … 1 worst; NaN: none
  std::vector<compare::NodeStatus> status;
  std::vector<graph::OverflowLevel> overflow;
  std::vector<compare::Role> roles;
  std::vector<int32_t> micro_steps;
  std::vector<uint64_t> places;  ///< meaning is the reader's: an offset, a row id
  /// Place among the siblings, where that is not the order of the ids; empty: it is. Complete()
  /// forgets it.
  std::vector<uint32_t> sibling_ranks;
  /// Shape of the first output: an index into shape_texts, 0 = none. Empty: ask for NodeJson().
  std::vector<uint32_t> shapes;
  std::vector<std::string> shape_texts;
  /// Where the tensor files lie, as the dump says it; may be empty, or gone by now.
  std::string tensor_directory;
  /// The dump that the graph was made of, as whoever made it named it; empty: not known.
  std::string dump;
  bool cut_off = false;  ///< records at the end of that dump are lost

  // Derived by Complete().
  std::vector<float> worst;      ///< worst index of the node and all below it; NaN: none
  std::vector<uint32_t> inside;  ///< nodes of the worst band below it
  std::vector<graph::OverflowLevel> overflow_inside;  ///< the worst one below it
  std::vector<uint32_t> overflow_count;               ///< nodes of that level below it
  std::vector<compare::NodeStatus> status_inside;     ///< the worst one below it
  std::vector<uint32_t> status_count;                 ///< nodes of that status below it
  std::vector<uint32_t> child_begin;                  ///< size() + 1 entries into child_ids
  std::vector<uint32_t> child_ids;
  std::vector<uint32_t> order;     ///< depth first, parents first: execution order
  std::vector<uint32_t> position;  ///< place of a node in `order`

  size_t size() const { return names.size(); }
  std::span<const uint32_t> children(uint32_t id) const {
    return {child_ids.data() + child_begin[id], child_begin[id + 1] - child_begin[id]};
  }
  /// Appends a node with nothing but a name; the caller fills the arrays at the returned id.
  uint32_t Add(std::string_view name);
  void Reserve(size_t count);
  /// Computes what is derived, from the other arrays. Nodes whose parent is out of range or that
  /// are in a cycle hang under the root. `worst_band` is the lower bound of the worst band.
  void Complete(float worst_band);
  /// Only `worst` and what is inside, after indexes have changed.
  void SumUp(float worst_band);
};

/// One step and rank of a file, ready to be browsed.
struct UnitIndex {
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  int32_t micro_steps = 1;
  SideIndex target;
  SideIndex golden;  ///< empty for single graphs
  base::StringArena arena;

  const SideIndex& side(Side which) const { return which == Side::kTarget ? target : golden; }
  SideIndex& side(Side which) { return which == Side::kTarget ? target : golden; }
  bool is_comparison() const { return golden.size() > 0; }

  /// What readers do last: both sides' partners agree, the golden side shows its partners'
  /// metrics, and what is derived is computed.
  void Finish(compare::CompareMode mode);
};

/// 0 for what nobody looks for, then rising: an error is worse than what cannot be told.
int Severity(compare::NodeStatus status);
int Severity(graph::OverflowLevel level);

/// The golden side has no metrics of its own: its nodes show those of their partners.
void ShowPartnersMetrics(const SideIndex& target, SideIndex* golden);

struct Band {
  std::string color;
  float lo = 0;
  float hi = 1;
  std::string label;
};

/// Bands of the precision index by mode, fine to worst.
std::vector<Band> BandsOf(compare::CompareMode mode);
/// What an index alone says of a matched node, for files that say no status. NaN passes.
compare::NodeStatus StatusOfIndex(std::span<const Band> bands, float index);
/// Index of the band that holds `index`; the last band includes its upper bound.
size_t BandIndex(std::span<const Band> bands, float index);

}  // namespace msprobe::visfile
