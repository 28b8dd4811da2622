#include "visfile/name_order.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace msprobe::visfile {

namespace {

using graph::NodeId;

struct Keyed {
  uint64_t key;  ///< eight bytes of the name, the first one highest
  std::string_view name;
  NodeId id;
};

/// Names that begin with the same `depth` bytes.
struct Group {
  size_t begin;
  size_t end;
  size_t depth;
};

// Longer names than anybody has are compared as a whole.
constexpr size_t kDeepest = 512;

uint64_t KeyAt(std::string_view name, size_t depth) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, name.data() + depth, std::min(sizeof(bytes), name.size() - depth));
  if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
  return bytes;
}

/// Sorts by the next eight bytes; what is equal in them is to be sorted by those behind.
void SortGroup(const Group& group, std::vector<Keyed>* all, std::vector<Group>* rest) {
  const std::span<Keyed> names(all->data() + group.begin, group.end - group.begin);
  const bool whole = group.depth >= kDeepest || std::ranges::any_of(names, [&](const Keyed& keyed) {
                       return keyed.name.size() < group.depth;
                     });
  if (whole) {  // one of them ended within the bytes before: a shorter one and NULs look the same
    std::ranges::sort(names, {}, &Keyed::name);
    return;
  }
  for (Keyed& keyed : names) keyed.key = KeyAt(keyed.name, group.depth);
  std::ranges::sort(names, {}, &Keyed::key);
  for (size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    while (end < names.size() && names[end].key == names[begin].key) ++end;
    if (end - begin < 2) continue;
    rest->push_back({group.begin + begin, group.begin + end, group.depth + sizeof(uint64_t)});
  }
}

}  // namespace

std::vector<NodeId> SortedByName(const graph::Graph& graph, std::vector<NodeId> ids) {
  std::vector<Keyed> names;
  names.reserve(ids.size());
  for (const NodeId id : ids) names.push_back({0, graph.nodes[id].name, id});
  std::vector<Group> groups = {{0, names.size(), 0}};
  while (!groups.empty()) {
    const Group group = groups.back();
    groups.pop_back();
    SortGroup(group, &names, &groups);
  }
  std::ranges::transform(names, ids.begin(), &Keyed::id);
  return ids;
}

}  // namespace msprobe::visfile
