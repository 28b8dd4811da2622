#include <algorithm>

#include "base/numbers.h"
#include "viewer/answers.h"
#include "viewer/api.h"
#include "viewer/node_detail.h"
#include "viewer/node_lists.h"

namespace msprobe::viewer {

using formats::JsonWriter;
using graph::kNoNode;
using visfile::Side;

namespace {

Result<uint32_t> NodeId(const RequestQuery& query, std::string_view name, size_t count) {
  MSPROBE_ASSIGN_OR_RETURN(const int64_t id,
                           query.RequiredInt(name, -1, static_cast<int64_t>(count) - 1));
  return id < 0 ? kNoNode : static_cast<uint32_t>(id);
}

Result<Side> SideOf(const RequestQuery& query, const visfile::UnitIndex& unit) {
  const std::string_view word = query.Find("side").value_or("t");
  if (word == "t") return Side::kTarget;
  if (word == "g" && unit.is_comparison()) return Side::kGolden;
  return InvalidArgumentError("the parameter 'side' must be t or, in comparisons, g");
}

Result<NodeRef> NodeOf(const RequestQuery& query, const visfile::UnitIndex& unit) {
  NodeRef node;
  MSPROBE_ASSIGN_OR_RETURN(node.side, SideOf(query, unit));
  const visfile::SideIndex& side = unit.side(node.side);
  if (const auto name = query.Find("name")) {
    const auto found = std::find(side.names.begin(), side.names.end(), *name);
    if (found == side.names.end()) {
      return NotFoundError("no node has this name", {}, std::string(name->substr(0, 200)));
    }
    node.id = static_cast<uint32_t>(found - side.names.begin());
    return node;
  }
  MSPROBE_ASSIGN_OR_RETURN(const int64_t id,
                           query.RequiredInt("id", 0, static_cast<int64_t>(side.size()) - 1));
  node.id = static_cast<uint32_t>(id);
  return node;
}

void WriteItems(const visfile::UnitIndex& unit, uint64_t total, int64_t offset,
                std::span<const NodeRef> items, JsonWriter* json) {
  json->BeginObject().Key("total").UInt(total).Key("offset").Int(offset);
  json->Key("items").BeginArray();
  for (const NodeRef& item : items) WriteItem(unit, item, json);
  json->EndArray().EndObject();
}

void WriteRows(const visfile::UnitSource& unit, const std::vector<RowIds>& rows, Page page,
               JsonWriter* json) {
  json->Key("rows").BeginArray();
  const auto total = static_cast<int64_t>(rows.size());
  for (int64_t at = page.offset; at < total && at - page.offset < page.limit; ++at) {
    WriteRow(unit, rows[static_cast<size_t>(at)], json);
  }
  json->EndArray();
}

int64_t IdOrGap(uint32_t id) { return id == kNoNode ? -1 : int64_t{id}; }

/// The object Path of the API; with `page` it has the page of that many rows where the node is.
void WritePath(const visfile::UnitSource& unit, NodeRef node, bool alone, int64_t page,
               JsonWriter* json) {
  const std::vector<PathStep> path = PathTo(unit.index(), node.side, node.id, alone);
  json->BeginObject().Key("side").String(SideLetter(node.side)).Key("id").UInt(node.id);
  json->Key("rows").BeginArray();
  for (const PathStep& step : path) {
    json->BeginObject().Key("t").Int(IdOrGap(step.row.target));
    json->Key("g").Int(IdOrGap(step.row.golden));
    json->Key("at").UInt(step.at).Key("total").UInt(step.total).EndObject();
  }
  json->EndArray();
  if (page > 0 && !path.empty()) {
    RowIds parent{0, unit.index().is_comparison() ? 0 : kNoNode};
    if (alone) (node.side == Side::kTarget ? parent.golden : parent.target) = kNoNode;
    if (path.size() > 1) parent = path[path.size() - 2].row;
    const int64_t offset = path.back().at / page * page;
    json->Key("page").BeginObject().Key("offset").Int(offset);
    WriteRows(unit, AlignChildren(unit.index(), parent), {offset, page}, json);
    json->EndObject();
  }
  json->EndObject();
}

/// "12.12,13.-1" → rows. Errors: InvalidArgument.
Result<std::vector<RowIds>> RowsOf(const RequestQuery& query, const visfile::UnitIndex& unit) {
  constexpr size_t kMaxRows = 200;  // as in web/src/api/source.ts
  MSPROBE_ASSIGN_OR_RETURN(std::string_view text, query.Text("of"));
  const auto id_of = [](std::string_view part, size_t count) -> std::optional<uint32_t> {
    if (part == "-1") return kNoNode;
    const std::optional<uint64_t> id = base::ParseUnsigned(part);
    return id && *id < count ? std::optional(static_cast<uint32_t>(*id)) : std::nullopt;
  };
  std::vector<RowIds> rows;
  while (!text.empty()) {
    if (rows.size() == kMaxRows) {
      return InvalidArgumentError(
          "the parameter 'of' may name " + std::to_string(kMaxRows) + " rows at most",
          "ask for the others in another request");
    }
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t dot = part.find('.');
    const auto target = id_of(part.substr(0, dot), unit.target.size());
    const auto golden = dot == std::string_view::npos
                            ? std::nullopt
                            : id_of(part.substr(dot + 1), unit.golden.size());
    if (!target || !golden) {
      return InvalidArgumentError("the parameter 'of' must be rows as T.G,T.G");
    }
    rows.push_back({*target, *golden});
  }
  return rows;
}

/// Whether the list is followed forwards. Errors: InvalidArgument.
Result<bool> IsForward(const RequestQuery& query) {
  const std::string_view direction = query.Find("dir").value_or("1");
  if (direction == "1" || direction == "-1") return direction == "1";
  return InvalidArgumentError(
      "the parameter 'dir' must be 1, the next node, or -1, the one before");
}

Result<NodeFilter> FilterOf(const RequestQuery& query, const UnitContext& context) {
  return NodeFilter::Parse(query.Find("by").value_or(""), query.Find("value").value_or(""),
                           context.bands);
}

}  // namespace

Status Api::Rows(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  const visfile::UnitIndex& unit = context.index();
  RowIds row;
  MSPROBE_ASSIGN_OR_RETURN(row.target, NodeId(call.query, "t", unit.target.size()));
  MSPROBE_ASSIGN_OR_RETURN(row.golden, NodeId(call.query, "g", unit.golden.size()));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t micro, call.query.Int("micro", -1, -1, INT32_MAX));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(call.query));
  std::vector<RowIds> rows = AlignChildren(unit, row);
  if (micro >= 0) {
    std::erase_if(rows, [&](const RowIds& child) {
      return child.target != kNoNode ? unit.target.micro_steps[child.target] != micro
                                     : unit.golden.micro_steps[child.golden] != micro;
    });
  }
  json->BeginObject().Key("total").UInt(rows.size()).Key("offset").Int(page.offset);
  WriteRows(*context.unit->source, rows, page, json);
  json->EndObject();
  return Status::Ok();
}

Status Api::Inside(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  const visfile::UnitIndex& unit = context.index();
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<RowIds> wanted, RowsOf(call.query, unit));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(call.query));
  json->BeginObject().Key("inside").BeginArray();
  int64_t left = kMaxPage;
  for (const RowIds& row : wanted) {
    const std::vector<RowIds> rows = AlignChildren(unit, row);
    const auto count = std::min(static_cast<int64_t>(rows.size()), page.limit);
    if (count > left) break;
    left -= count;
    json->BeginObject().Key("t").Int(IdOrGap(row.target)).Key("g").Int(IdOrGap(row.golden));
    WriteRows(*context.unit->source, rows, {0, count}, json);
    json->EndObject();
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

Status Api::Path(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeRef node, NodeOf(call.query, context.index()));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t alone, call.query.Int("alone", 0, 0, 1));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t page, call.query.Int("page", 0, 0, kMaxPage));
  WritePath(*context.unit->source, node, alone != 0, page, json);
  return Status::Ok();
}

Status Api::List(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const Side side, SideOf(call.query, context.index()));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter filter, FilterOf(call.query, context));
  const NodePage found =
      ListNodes(context.index(), side, filter, static_cast<uint64_t>(page.offset),
                static_cast<uint64_t>(page.limit));
  WriteItems(context.index(), found.total, page.offset, found.items, json);
  return Status::Ok();
}

Status Api::Search(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view text, call.query.Text("q"));
  MSPROBE_RETURN_IF_ERROR(NameSearch::Check(text));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(call.query));
  const std::string_view sides = call.query.Find("side").value_or("b");
  std::vector<NodeRef> items;
  uint64_t total = 0;
  const auto offset = static_cast<uint64_t>(page.offset);
  const auto limit = static_cast<uint64_t>(page.limit);
  const auto take = [&](Side side, NameSearch* search, const NameSearch::Page* known) {
    NameSearch::Page found = search->Find(text, offset - std::min(offset, total),
                                          limit - items.size(), options_.threads, known);
    for (const uint32_t id : found.ids) items.push_back({side, id});
    total += found.total;
    return found;
  };
  NameSearch::Page target;
  if (sides != "g") target = take(Side::kTarget, &context.unit->target_search, nullptr);
  if (sides != "t") {
    take(Side::kGolden, &context.unit->golden_search, sides == "g" ? nullptr : &target);
  }
  WriteItems(context.index(), total, page.offset, items, json);
  return Status::Ok();
}

Status Api::Seek(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeRef from, NodeOf(call.query, context.index()));
  MSPROBE_ASSIGN_OR_RETURN(const bool forward, IsForward(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter filter, FilterOf(call.query, context));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t with_path, call.query.Int("path", 0, 0, 1));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t alone, call.query.Int("alone", 0, 0, 1));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t page, call.query.Int("page", 0, 0, kMaxPage));
  json->BeginObject().Key("item");
  const auto found = SeekNode(context.index(), from, forward, filter);
  if (!found) {
    json->Null().EndObject();
    return Status::Ok();
  }
  WriteItem(context.index(), *found, json);
  if (with_path != 0) {
    json->Key("path");
    WritePath(*context.unit->source, *found, alone != 0, page, json);
  }
  json->EndObject();
  return Status::Ok();
}

Status Api::Node(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeRef node, NodeOf(call.query, context.index()));
  const auto& units = context.file.open->source().units();
  const auto step = context.index().step;
  const auto unit_of_rank = [&](int64_t rank) { return UnitOf(units, step, rank); };
  return WriteDetail(*context.unit->source, node.side, node.id, unit_of_rank,
                     context.unit->hand.Find(node.side, node.id, context.index()), json);
}

Status Api::OverviewBins(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t bins, call.query.Int("bins", 400, 1, 4000));
  json->BeginObject().Key("bins").BeginArray();
  for (const OverviewBin& bin : Overview(context.index(), static_cast<uint32_t>(bins))) {
    WriteOverviewBin(context.index(), bin, json);
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

namespace {

/// Where nobody is to blame: the first node that differs, or, where none does, the first error, as
/// `msprobe compare` names it. One that cannot be read does not count, as it may agree; a
/// collection of calls only repeats its worst child.
std::optional<NodeRef> FirstDifference(const visfile::SideIndex& target) {
  std::optional<NodeRef> error;
  for (const uint32_t id : target.order) {
    if (id == 0 || target.kinds[id] == graph::NodeKind::kApiCollection) continue;
    const compare::NodeStatus status = target.status[id];
    if (target.roles[id] != compare::Role::kNone && status != compare::NodeStatus::kUnreadable) {
      return NodeRef{Side::kTarget, id};
    }
    if (!error && status == compare::NodeStatus::kError) error = NodeRef{Side::kTarget, id};
  }
  return error;
}

Status WriteDivergence(const UnitContext& context, NodeRef at, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const RecordedNode node,
                           ReadNode(*context.unit->source, at.side, at.id));
  json->BeginObject().Key("id").UInt(at.id);
  json->Key("name").String(context.index().target.names[at.id]);
  json->Key("reason").String(node.reason);
  json->Key("frame").String(node.stack.empty() ? "" : node.stack.front()).EndObject();
  return Status::Ok();
}

}  // namespace

Status Api::Divergence(const Call& call) {
  JsonWriter* const json = call.json;
  constexpr uint64_t kMaxCulprits = 100;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  const visfile::UnitIndex& unit = context.index();
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter culprits,
                           NodeFilter::Parse("role", "culprit", context.bands));
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter victims,
                           NodeFilter::Parse("role", "victim", context.bands));
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter undecidable,
                           NodeFilter::Parse("role", "undecidable", context.bands));
  const NodePage found = ListNodes(unit, Side::kTarget, culprits, 0, kMaxCulprits);
  json->BeginObject().Key("total").UInt(found.total);
  json->Key("victims").UInt(ListNodes(unit, Side::kTarget, victims, 0, 0).total);
  json->Key("undecided").UInt(ListNodes(unit, Side::kTarget, undecidable, 0, 0).total);
  json->Key("culprits").BeginArray();
  for (const NodeRef& culprit : found.items) {
    MSPROBE_RETURN_IF_ERROR(WriteDivergence(context, culprit, json));
  }
  json->EndArray().Key("first_difference");
  const auto first = found.total == 0 ? FirstDifference(unit.target) : std::nullopt;
  if (first) {
    MSPROBE_RETURN_IF_ERROR(WriteDivergence(context, *first, json));
  } else {
    json->Null();
  }
  json->EndObject();
  return Status::Ok();
}

}  // namespace msprobe::viewer
