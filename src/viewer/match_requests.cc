#include <algorithm>

#include "formats/json/config_json.h"
#include "viewer/answers.h"
#include "viewer/api.h"

namespace msprobe::viewer {

using formats::ConfigJson;
using formats::ConfigValue;
using formats::JsonWriter;

namespace {

/// Nobody edits a request: of keys that stand twice one is a mistake of the program that sends it.
Result<ConfigJson> ParseBody(std::string_view body) {
  MSPROBE_ASSIGN_OR_RETURN(ConfigJson json,
                           ConfigJson::Parse(std::string(body), {}, "the request's body"));
  MSPROBE_RETURN_IF_ERROR(json.CheckKeys());
  return json;
}

constexpr size_t kMaxShown = kMaxPage;
/// Matches that are compared hold a thread of the server each: the others answer meanwhile.
constexpr int kMaxMatching = 4;

Result<uint32_t> NodeId(const ConfigValue& body, std::string_view key, size_t count) {
  const std::optional<ConfigValue> value = body.Find(key);
  if (!value) {
    return InvalidArgumentError("the request's body lacks '" + std::string(key) + "'");
  }
  MSPROBE_ASSIGN_OR_RETURN(const int64_t id, value->Int(key));
  if (id < 1 || id >= static_cast<int64_t>(count)) {
    return InvalidArgumentError("there is no node '" + std::string(key) + "' of this number");
  }
  return static_cast<uint32_t>(id);
}

Result<IdPair> PairOf(const ConfigValue& body, const visfile::UnitIndex& unit) {
  IdPair pair;
  MSPROBE_ASSIGN_OR_RETURN(pair.target, NodeId(body, "t", unit.target.size()));
  MSPROBE_ASSIGN_OR_RETURN(pair.golden, NodeId(body, "g", unit.golden.size()));
  return pair;
}

void WritePair(const visfile::UnitIndex& index, IdPair pair, JsonWriter* json) {
  json->BeginObject().Key("t").UInt(pair.target).Key("g").UInt(pair.golden);
  json->Key("target").String(index.target.names[pair.target]);
  json->Key("golden").String(index.golden.names[pair.golden]);
}

/// The pair that a request takes back; none: the last action, where it still is the one that the
/// page shows.
Result<std::optional<IdPair>> TakenBack(const ConfigValue& body, const HandMatches& hand,
                                        const visfile::UnitIndex& unit) {
  if (body.Find("t") || body.Find("g")) {
    MSPROBE_ASSIGN_OR_RETURN(const IdPair pair, PairOf(body, unit));
    return std::optional(pair);
  }
  const std::optional<ConfigValue> seen = body.Find("last");
  if (!seen) {
    const bool is_empty = body.kind() == formats::JsonKind::kObject && body.Keys().empty();
    if (is_empty) return std::optional<IdPair>();
    return InvalidArgumentError("the request's body names no match",
                                "send {}, {t, g} or {last: {t, g, count}}");
  }
  MSPROBE_ASSIGN_OR_RETURN(const IdPair first, PairOf(*seen, unit));
  const std::optional<ConfigValue> given = seen->Find("count");
  if (!given) return InvalidArgumentError("the request's body lacks 'count'");
  MSPROBE_ASSIGN_OR_RETURN(const int64_t count, given->Int("count"));
  const std::vector<IdPair> last = hand.last();
  if (last.empty() || last.front() != first || count != static_cast<int64_t>(last.size())) {
    return InvalidArgumentError("this pair is not the last match any more",
                                "look at the matches as they are now");
  }
  return std::optional<IdPair>();
}

/// The rows that show the pairs now: pairs whose parents do not face each other stand apart.
void WriteChanged(const visfile::UnitSource& unit, const std::vector<IdPair>& pairs,
                  JsonWriter* json) {
  json->BeginObject().Key("total").UInt(pairs.size()).Key("changed").BeginArray();
  const visfile::UnitIndex& index = unit.index();
  for (size_t i = 0; i < pairs.size() && i < kMaxShown; ++i) {
    const auto [target, golden] = pairs[i];
    const bool face =
        index.target.partners[target] == golden &&
        index.target.partners[index.target.parents[target]] == index.golden.parents[golden];
    if (face) {
      WriteRow(unit, {target, golden}, json);
    } else {
      WriteRow(unit, {target, graph::kNoNode}, json);
      WriteRow(unit, {graph::kNoNode, golden}, json);
    }
  }
  json->EndArray().EndObject();
}

}  // namespace

Result<UnitContext> Api::FindMatchable(const RequestQuery& query) {
  MSPROBE_ASSIGN_OR_RETURN(UnitContext context, FindUnit(query));
  if (!CanMatch(context.file)) {
    return UnsupportedError("nodes of this file cannot be matched by hand",
                            "match in a comparison, with a viewer that may save");
  }
  context.lock.unlock();
  return context;
}

Status Api::Save(const UnitContext& context, const MatchesChange& change) {
  const visfile::VisSource& source = context.file.open->source();
  const std::lock_guard saving(saving_);
  return ChangeMatches(context.file.resolved.MemberOf(context.number),
                       source.units()[context.number], change);
}

Status Api::Matches(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(call.query));
  const std::vector<IdPair> pairs = context.unit->hand.pairs();
  json->BeginObject().Key("total").UInt(pairs.size()).Key("offset").Int(page.offset);
  json->Key("pairs").BeginArray();
  const auto end = std::min(pairs.size(), static_cast<size_t>(page.offset + page.limit));
  for (auto i = static_cast<size_t>(page.offset); i < end; ++i) {
    WritePair(context.index(), pairs[i], json);
    json->EndObject();
  }
  json->EndArray().Key("undo");
  const std::vector<IdPair> last = context.unit->hand.last();
  if (last.empty()) {
    json->Null();
  } else {
    WritePair(context.index(), last.front(), json);
    json->Key("count").UInt(last.size()).EndObject();
  }
  json->Key("mapping").Bool(MatchesYaml(context.index(), pairs).ok()).EndObject();
  return Status::Ok();
}

Result<std::vector<IdPair>> MatchByHand(
    const MatchRequest& request, LoadedUnit* unit,
    const std::function<Status(const std::vector<IdPair>&)>& save) {
  visfile::UnitSource* const source = unit->source.get();
  std::vector<IdPair> planned;
  std::vector<std::filesystem::path> roots;
  {
    const std::shared_lock reading(unit->mutex);
    MSPROBE_ASSIGN_OR_RETURN(planned,
                             HandMatches::Plan(source->index(), request.pair, request.children));
    roots = unit->hand.roots();
  }
  // Without the lock: all other requests about the unit go on.
  MSPROBE_ASSIGN_OR_RETURN(std::vector<PairVerdict> verdicts,
                           MeasurePairs(*source, request.mode, roots, planned, request.cancel));
  const std::unique_lock changing(unit->mutex);
  MSPROBE_RETURN_IF_ERROR(unit->hand.Add(source, request.mode, planned, std::move(verdicts)));
  Status saved = save(planned);
  if (saved.ok()) return planned;
  // What is shown and what is saved must agree.
  MSPROBE_RETURN_IF_ERROR(unit->hand.Remove(source, request.mode, std::nullopt).status());
  return saved;
}

Status Api::AddMatch(const Call& call) {
  MSPROBE_ASSIGN_OR_RETURN(const ConfigJson body, ParseBody(call.body));
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindMatchable(call.query));
  MatchRequest request;
  MSPROBE_ASSIGN_OR_RETURN(request.pair, PairOf(body.root(), context.index()));
  if (const auto flag = body.root().Find("children")) {
    MSPROBE_ASSIGN_OR_RETURN(request.children, flag->Bool("children"));
  }
  request.mode = context.file.open->source().mode();
  request.cancel = &context.file.open->cancel();
  const OneMore matching(&matching_);
  if (matching.others() >= kMaxMatching) {
    return UnsupportedError("other matches are still being compared", "try again in a moment");
  }
  MSPROBE_ASSIGN_OR_RETURN(
      const std::vector<IdPair> made,
      MatchByHand(request, context.unit.get(), [&](const std::vector<IdPair>& pairs) {
        return Save(context, {.made = NamesOf(pairs, context.index())});
      }));
  const std::shared_lock reading(context.unit->mutex);
  context.file.open->SumUpAgain(context.number, context.index());
  WriteChanged(*context.unit->source, made, call.json);
  return Status::Ok();
}

Status Api::RemoveMatch(const Call& call) {
  MSPROBE_ASSIGN_OR_RETURN(const ConfigJson body, ParseBody(call.body.empty() ? "{}" : call.body));
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindMatchable(call.query));
  const std::unique_lock lock(context.unit->mutex);
  MSPROBE_ASSIGN_OR_RETURN(const std::optional<IdPair> pair,
                           TakenBack(body.root(), context.unit->hand, context.index()));
  const compare::CompareMode mode = context.file.open->source().mode();
  visfile::UnitSource* const source = context.unit->source.get();
  HandMatches before = context.unit->hand;
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<IdPair> removed,
                           context.unit->hand.Remove(source, mode, pair));
  Status saved = Save(context, {.removed = NamesOf(removed, context.index())});
  if (!saved.ok()) {
    context.unit->hand = std::move(before);
    context.unit->hand.ApplyAgain(removed, source, mode);
    return saved;
  }
  context.file.open->SumUpAgain(context.number, context.index());
  WriteChanged(*source, removed, call.json);
  return Status::Ok();
}

Status Api::YamlOfMatches(const Call& call) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(call.query));
  MSPROBE_ASSIGN_OR_RETURN(call.response->body,
                           MatchesYaml(context.index(), context.unit->hand.pairs()));
  call.response->content_type = "text/yaml; charset=utf-8";
  return Status::Ok();
}

}  // namespace msprobe::viewer
