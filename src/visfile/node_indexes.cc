#include "visfile/node_indexes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "visfile/big_endian.h"
#include "visfile/btree_writer.h"
#include "visfile/name_order.h"
#include "visfile/record_text.h"

namespace msprobe::visfile {

namespace {

using graph::NodeId;

uint64_t TakeVarint(std::string_view* from) {
  uint64_t value = 0;
  for (size_t i = 0; i < from->size(); ++i) {
    const auto byte = static_cast<unsigned char>((*from)[i]);
    value = value << 7 | (byte & 0x7f);
    if (byte >= 0x80) continue;
    from->remove_prefix(i + 1);
    return value;
  }
  *from = {};
  return value;
}

/// Walks over what SortedNames made.
class Cursor {
 public:
  Cursor(const NodeRows& rows, std::string_view bytes) : rows_(&rows), rest_(bytes) {}

  /// The next name in order; false at the end.
  bool Next() {
    if (rest_.empty()) return false;
    name_.resize(TakeVarint(&rest_));
    const size_t added = TakeVarint(&rest_);
    name_.append(rest_.substr(0, added));
    rest_.remove_prefix(added);
    order_ = static_cast<int64_t>(TakeVarint(&rest_));
    micro_step_ = static_cast<int32_t>(TakeVarint(&rest_));
    children_.resize(TakeVarint(&rest_));
    uint64_t order = 0;
    for (int64_t& child : children_) {
      order += TakeVarint(&rest_);
      child = static_cast<int64_t>(order);
    }
    return true;
  }

  const NodeRows& rows() const { return *rows_; }
  const std::string& name() const { return name_; }
  int64_t order() const { return order_; }
  int32_t micro_step() const { return micro_step_; }
  const std::vector<int64_t>& children() const { return children_; }  ///< their orders, ascending

  auto Key() const {
    return std::tuple(std::string_view(name_), rows_->step, rows_->rank,
                      std::string_view(rows_->source));
  }

 private:
  const NodeRows* rows_;
  std::string_view rest_;
  std::string name_;
  int64_t order_ = 0;
  int32_t micro_step_ = 0;
  std::vector<int64_t> children_;
};

/// Makes entries of one index, column by column.
class Entries {
 public:
  Entries(PageFile* file, uint32_t root) : tree_(file, BTreeWriter::Kind::kIndex, root) {}

  RecordText Begin() {
    types_.clear();
    values_.clear();
    return {&types_, &values_};
  }
  Status End() {
    header_.clear();
    AppendRecordHeader(types_.size(), &header_);
    const std::array<std::string_view, 3> pieces = {header_, types_, values_};
    return tree_.AddEntry(pieces);
  }
  Status Finish() { return tree_.Finish(); }

 private:
  BTreeWriter tree_;
  std::string header_, types_, values_;
};

Status WriteById(std::vector<Cursor> cursors, Entries* entries) {
  // No graph_id with its "_" is the beginning of another: graphs do not mix.
  std::ranges::sort(cursors, {},
                    [](const Cursor& cursor) { return cursor.rows().graph_id() + "_"; });
  for (Cursor& cursor : cursors) {
    std::string id = cursor.rows().graph_id() + "_";
    const size_t prefix = id.size();
    while (cursor.Next()) {
      id.resize(prefix);
      id.append(cursor.name());
      RecordText record = entries->Begin();
      record.Text(id);
      record.Int(cursor.rows().first_row + cursor.order());
      MSPROBE_RETURN_IF_ERROR(entries->End());
    }
  }
  return entries->Finish();
}

/// The sides of one step and rank, from all others apart.
Status WriteUnitByOrder(std::span<Cursor> sides, Entries* entries) {
  std::vector<std::vector<int32_t>> micro_steps(sides.size());
  size_t longest = 0;
  for (size_t side = 0; side < sides.size(); ++side) {
    while (sides[side].Next()) {
      const auto order = static_cast<size_t>(sides[side].order());
      if (micro_steps[side].size() <= order) micro_steps[side].resize(order + 1);
      micro_steps[side][order] = sides[side].micro_step();
    }
    longest = std::max(longest, micro_steps[side].size());
  }
  std::vector<std::pair<int32_t, size_t>> here;  // micro step and side
  for (size_t order = 0; order < longest; ++order) {
    here.clear();
    for (size_t side = 0; side < sides.size(); ++side) {
      if (order < micro_steps[side].size()) here.emplace_back(micro_steps[side][order], side);
    }
    std::ranges::sort(here);
    for (const auto& [micro_step, side] : here) {
      const NodeRows& rows = sides[side].rows();
      RecordText record = entries->Begin();
      record.Int(rows.step);
      record.Int(rows.rank);
      record.Int(static_cast<int64_t>(order));
      record.Int(micro_step);
      record.Text(rows.source);
      record.Int(rows.first_row + static_cast<int64_t>(order));
      MSPROBE_RETURN_IF_ERROR(entries->End());
    }
  }
  return Status::Ok();
}

Status WriteByOrder(std::vector<Cursor> cursors, Entries* entries) {
  const auto unit = [](const Cursor& cursor) {
    return std::pair(cursor.rows().step, cursor.rows().rank);
  };
  std::ranges::sort(cursors, {}, [&](const Cursor& cursor) {
    return std::pair(unit(cursor), std::string_view(cursor.rows().source));
  });
  for (size_t begin = 0, end = 0; begin < cursors.size(); begin = end) {
    while (end < cursors.size() && unit(cursors[end]) == unit(cursors[begin])) ++end;
    MSPROBE_RETURN_IF_ERROR(
        WriteUnitByOrder(std::span(cursors).subspan(begin, end - begin), entries));
  }
  return entries->Finish();
}

Status AddByParent(std::string_view parent, const NodeRows& rows, int64_t order, Entries* entries) {
  RecordText record = entries->Begin();
  record.Text(parent);
  record.Int(rows.step);
  record.Int(rows.rank);
  record.Text(rows.source);
  record.Int(order);
  record.Int(rows.first_row + order);
  return entries->End();
}

/// The roots have no parent, which is sorted as an empty name.
Status AddRoots(std::vector<Cursor> cursors, Entries* entries) {
  std::ranges::sort(cursors, {}, [](const Cursor& cursor) { return cursor.Key(); });
  for (Cursor& cursor : cursors) {
    int64_t last = -1;
    while (cursor.Next()) last = std::max(last, cursor.order());
    if (last < 0) continue;
    MSPROBE_RETURN_IF_ERROR(AddByParent({}, cursor.rows(), last, entries));
  }
  return Status::Ok();
}

Status AddByName(const Cursor& cursor, Entries* entries) {
  RecordText record = entries->Begin();
  record.Text(cursor.name());
  record.Int(cursor.rows().step);
  record.Int(cursor.rows().rank);
  record.Text(cursor.rows().source);
  record.Int(cursor.rows().first_row + cursor.order());
  return entries->End();
}

Status WriteMerged(std::vector<Cursor> cursors, Entries* by_parent, Entries* by_name) {
  MSPROBE_RETURN_IF_ERROR(AddRoots(cursors, by_parent));
  std::erase_if(cursors, [](Cursor& cursor) { return !cursor.Next(); });
  std::vector<Cursor*> heap;
  heap.reserve(cursors.size());
  for (Cursor& cursor : cursors) heap.push_back(&cursor);
  const auto later = [](const Cursor* a, const Cursor* b) { return b->Key() < a->Key(); };
  std::ranges::make_heap(heap, later);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, later);
    Cursor& first = *heap.back();
    MSPROBE_RETURN_IF_ERROR(AddByName(first, by_name));
    for (const int64_t child : first.children()) {
      MSPROBE_RETURN_IF_ERROR(AddByParent(first.name(), first.rows(), child, by_parent));
    }
    if (first.Next()) {
      std::ranges::push_heap(heap, later);
    } else {
      heap.pop_back();
    }
  }
  MSPROBE_RETURN_IF_ERROR(by_parent->Finish());
  return by_name->Finish();
}

}  // namespace

std::string SortedNames(const graph::Graph& graph, const std::vector<NodeId>& order) {
  std::vector<uint32_t> orders(graph.nodes.size());
  for (uint32_t i = 0; i < order.size(); ++i) orders[order[i]] = i;
  std::string bytes;
  std::string_view last;
  for (const NodeId id : SortedByName(graph, order)) {
    const graph::Node& node = graph.nodes[id];
    const auto shared =
        static_cast<size_t>(std::ranges::mismatch(last, node.name).in1 - last.begin());
    last = node.name;
    AppendVarint(shared, &bytes);
    AppendVarint(node.name.size() - shared, &bytes);
    bytes.append(node.name.substr(shared));
    AppendVarint(orders[id], &bytes);
    AppendVarint(static_cast<uint32_t>(node.micro_step), &bytes);
    AppendVarint(node.children_size, &bytes);
    uint32_t before = 0;
    for (const NodeId child : graph.children(id)) {
      AppendVarint(orders[child] - before, &bytes);
      before = orders[child];
    }
  }
  return bytes;
}

Result<NodeIndexes> NodeIndexes::Create(const std::filesystem::path& directory,
                                        const std::filesystem::path& shown) {
  NodeIndexes indexes;
  MSPROBE_ASSIGN_OR_RETURN(indexes.scratch_, base::ScratchFile::Create(directory, shown));
  return indexes;
}

Status NodeIndexes::Add(const NodeRows& rows, std::string_view sorted_names) {
  runs_.push_back({rows, scratch_.size(), sorted_names.size()});
  return scratch_.Append(sorted_names);
}

Status NodeIndexes::Write(const NodeIndexRoots& roots, PageFile* file) {
  MSPROBE_ASSIGN_OR_RETURN(const base::ScratchFile::Mapping mapping, scratch_.Map());
  const std::string_view bytes = mapping.text();
  std::vector<Cursor> cursors;
  cursors.reserve(runs_.size());
  for (const Run& run : runs_) cursors.emplace_back(run.rows, bytes.substr(run.begin, run.size));
  Entries by_id(file, roots.by_id);
  MSPROBE_RETURN_IF_ERROR(WriteById(cursors, &by_id));
  Entries by_order(file, roots.by_order);
  MSPROBE_RETURN_IF_ERROR(WriteByOrder(cursors, &by_order));
  Entries by_parent(file, roots.by_parent);
  Entries by_name(file, roots.by_name);
  return WriteMerged(std::move(cursors), &by_parent, &by_name);
}

}  // namespace msprobe::visfile
