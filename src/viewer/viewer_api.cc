#include "viewer/viewer_api.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/answers.h"
#include "viewer/node_detail.h"
#include "viewer/node_lists.h"
#include "viewer/open_files.h"
#include "viewer/query.h"

namespace msprobe::viewer {

using formats::JsonWriter;
using graph::kNoNode;
using visfile::Side;

namespace {

constexpr int64_t kMaxPage = 1000;
constexpr auto kOpenWait = std::chrono::milliseconds(100);
constexpr auto kUnitWait = std::chrono::seconds(20);

Status StillLoading() {
  return {StatusCode::kUnsupported,
          "the file is still being loaded",
          "ask 'open' until it is ready",
          {}};
}

int HttpStatus(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return 200;
    case StatusCode::kInvalidArgument: return 400;
    case StatusCode::kNotFound: return 404;
    case StatusCode::kLimitExceeded: return 413;
    case StatusCode::kCancelled: return 409;
    case StatusCode::kUnsupported:
    case StatusCode::kCorrupt: return 422;
    case StatusCode::kIo:
    case StatusCode::kInternal: return 500;
  }
  return 500;
}

Response ErrorResponse(const Status& status) {
  Response response;
  response.status = HttpStatus(status.code());
  JsonWriter json(&response.body);
  json.BeginObject().Key("error").BeginObject();
  json.Key("fact").String(status.fact());
  json.Key("advice").String(status.advice());
  json.Key("path").String(status.path());
  json.EndObject().EndObject();
  return response;
}

std::string_view KindWord(FileKind kind) {
  switch (kind) {
    case FileKind::kVis: return "vis";
    case FileKind::kVisDb: return "db";
    case FileKind::kDump: return "dump";
  }
  return "";
}

std::string_view ModeWord(compare::CompareMode mode) {
  switch (mode) {
    case compare::CompareMode::kStatistics: return "statistics";
    case compare::CompareMode::kRealData: return "real_data";
    case compare::CompareMode::kMd5: return "md5";
    case compare::CompareMode::kStructure: return "structure";
  }
  return "";
}

/// A unit of an open file, as most requests name one.
struct UnitContext {
  std::shared_ptr<OpenFile> file;
  std::shared_ptr<LoadedUnit> unit;
  std::shared_lock<std::shared_mutex> lock;
  std::vector<visfile::Band> bands;
  const visfile::UnitIndex& index() const { return unit->source->index(); }
};

class Api : public ViewerApi {
 public:
  Api(FileCatalog catalog, const ViewerOptions& options)
      : catalog_(std::move(catalog)),
        options_(options),
        files_({options.threads, options.max_cached_bytes, options.golden}) {}

  Response Handle(const Request& request) override;
  void Shutdown() override { files_.CancelAll(); }

 private:
  using Handler = Status (Api::*)(const Query&, JsonWriter*);
  static Handler FindHandler(std::string_view method, std::string_view route);

  Status Files(const Query& query, JsonWriter* json);
  Status Open(const Query& query, JsonWriter* json);
  Status CancelOpen(const Query& query, JsonWriter* json);
  Status Rows(const Query& query, JsonWriter* json);
  Status Path(const Query& query, JsonWriter* json);
  Status List(const Query& query, JsonWriter* json);
  Status Search(const Query& query, JsonWriter* json);
  Status Seek(const Query& query, JsonWriter* json);
  Status Node(const Query& query, JsonWriter* json);
  Status OverviewBins(const Query& query, JsonWriter* json);
  Status Divergence(const Query& query, JsonWriter* json);

  Result<std::shared_ptr<OpenFile>> FindFile(const Query& query);
  Result<UnitContext> FindUnit(const Query& query);

  FileCatalog catalog_;
  ViewerOptions options_;
  OpenFiles files_;
};

Api::Handler Api::FindHandler(std::string_view method, std::string_view route) {
  struct Route {
    std::string_view method;
    std::string_view route;
    Handler handler;
  };
  static constexpr std::array kRoutes = {
      Route{"GET", "files", &Api::Files},
      Route{"GET", "open", &Api::Open},
      Route{"DELETE", "open", &Api::CancelOpen},
      Route{"GET", "rows", &Api::Rows},
      Route{"GET", "path", &Api::Path},
      Route{"GET", "list", &Api::List},
      Route{"GET", "search", &Api::Search},
      Route{"GET", "seek", &Api::Seek},
      Route{"GET", "node", &Api::Node},
      Route{"GET", "overview", &Api::OverviewBins},
      Route{"GET", "divergence", &Api::Divergence},
  };
  for (const Route& entry : kRoutes) {
    if (entry.method == method && entry.route == route) return entry.handler;
  }
  return nullptr;
}

Response Api::Handle(const Request& request) {
  const Handler handler = FindHandler(request.method, request.route);
  if (handler == nullptr) {
    return ErrorResponse(NotFoundError(
        "there is no such request", {},
        std::string(request.method) + " " + std::string(request.route.substr(0, 200))));
  }
  Result<Query> query = Query::Parse(request.query);
  if (!query.ok()) return ErrorResponse(query.status());
  Response response;
  JsonWriter json(&response.body);
  const Status status = (this->*handler)(*query, &json);
  if (!status.ok()) return ErrorResponse(status);
  return response;
}

Status Api::Files(const Query&, JsonWriter* json) {
  bool truncated = false;
  const std::vector<CatalogEntry> entries = catalog_.List(&truncated);
  json->BeginObject();
  json->Key("root").String(catalog_.root().string());
  json->Key("files").BeginArray();
  for (const CatalogEntry& entry : entries) {
    json->BeginObject().Key("file").String(entry.file).Key("kind").String(KindWord(entry.kind));
    const std::string name = std::filesystem::path(entry.file).filename().string();
    json->Key("type").String(name.starts_with("compare_") ? "compare"
                             : name.starts_with("build_") ? "build"
                                                          : "");
    json->Key("bytes").UInt(entry.bytes).Key("modified").Int(entry.modified).EndObject();
  }
  json->EndArray();
  json->Key("notes").BeginArray();
  if (truncated) {
    json->String("only the first " + std::to_string(FileCatalog::kMaxFiles) + " files are shown");
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

Result<std::shared_ptr<OpenFile>> Api::FindFile(const Query& query) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view name, query.Text("file"));
  MSPROBE_ASSIGN_OR_RETURN(const ResolvedFile file, catalog_.Resolve(name));
  return files_.Open(file);
}

Result<UnitContext> Api::FindUnit(const Query& query) {
  UnitContext context;
  MSPROBE_ASSIGN_OR_RETURN(context.file, FindFile(query));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t unit, query.Int("u", 0, 0, INT32_MAX));
  // After a restart of the server a page goes on asking without 'open': wait for the loading.
  MSPROBE_ASSIGN_OR_RETURN(context.unit, context.file->Unit(static_cast<size_t>(unit), kUnitWait));
  if (context.unit == nullptr) return StillLoading();
  context.lock = std::shared_lock(context.unit->mutex);
  context.bands = visfile::BandsOf(context.file->source().mode());
  files_.Trim();
  return context;
}

void WriteBands(std::span<const visfile::Band> bands, JsonWriter* json) {
  json->Key("bands").BeginArray();
  for (const visfile::Band& band : bands) {
    json->BeginObject().Key("color").String(band.color);
    json->Key("lo");
    WriteIndex(band.lo, json);
    json->Key("hi");
    WriteIndex(band.hi, json);
    json->Key("label").String(band.label).EndObject();
  }
  json->EndArray();
}

/// A unit that is not summed up yet, or that cannot be read.
void WriteUnknownUnit(const visfile::UnitEntry& unit, const Status& failure, JsonWriter* json) {
  json->BeginObject();
  WriteOptional("step", unit.step, json);
  WriteOptional("rank", unit.rank, json);
  json->Key("pending").Bool(failure.ok());
  if (!failure.ok()) json->Key("error").String(failure.ToString());
  json->EndObject();
}

Status Api::Open(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const auto file, FindFile(query));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t first, query.Int("u", 0, 0, INT32_MAX));
  MSPROBE_ASSIGN_OR_RETURN(const auto unit, file->Unit(static_cast<size_t>(first), kOpenWait));
  json->BeginObject();
  if (unit == nullptr) {
    json->Key("state").String("loading").Key("phase").String("reading");
    json->Key("done").UInt(file->done()).Key("total").UInt(file->total()).EndObject();
    return Status::Ok();
  }
  const visfile::VisSource& source = file->source();
  json->Key("state").String("ready");
  json->Key("file").String(*query.Text("file"));
  json->Key("type").String(source.is_comparison() ? "compare" : "build");
  json->Key("mode").String(ModeWord(source.mode()));
  json->Key("overflow").Bool(source.overflow_checked());
  json->Key("can_match").Bool(options_.allow_saving && source.is_comparison());
  WriteBands(visfile::BandsOf(source.mode()), json);
  json->Key("units").BeginArray();
  for (size_t i = 0; i < source.units().size(); ++i) {
    const OpenFile::Summary summary = file->SummaryOf(i);
    if (summary.json.empty())
      WriteUnknownUnit(source.units()[i], summary.failure, json);
    else
      json->Raw(summary.json);
  }
  json->EndArray();
  json->Key("notes").BeginArray().EndArray().EndObject();
  return Status::Ok();
}

Status Api::CancelOpen(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view name, query.Text("file"));
  MSPROBE_ASSIGN_OR_RETURN(const ResolvedFile file, catalog_.Resolve(name));
  files_.Close(file);
  json->BeginObject().EndObject();
  return Status::Ok();
}

Result<uint32_t> NodeId(const Query& query, std::string_view name, size_t count) {
  MSPROBE_ASSIGN_OR_RETURN(const int64_t id,
                           query.RequiredInt(name, -1, static_cast<int64_t>(count) - 1));
  return id < 0 ? kNoNode : static_cast<uint32_t>(id);
}

Result<Side> SideOf(const Query& query, const visfile::UnitIndex& unit) {
  const std::string_view word = query.Find("side").value_or("t");
  if (word == "t") return Side::kTarget;
  if (word == "g" && unit.is_comparison()) return Side::kGolden;
  return InvalidArgumentError("the parameter 'side' must be t or, in comparisons, g");
}

Result<NodeRef> NodeOf(const Query& query, const visfile::UnitIndex& unit) {
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

struct Page {
  int64_t offset = 0;
  int64_t limit = 0;
};

Result<Page> PageOf(const Query& query) {
  Page page;
  MSPROBE_ASSIGN_OR_RETURN(page.offset, query.Int("offset", 0, 0, INT64_MAX));
  MSPROBE_ASSIGN_OR_RETURN(page.limit, query.Int("limit", 200, 0, kMaxPage));
  return page;
}

Status Api::Rows(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  const visfile::UnitIndex& unit = context.index();
  RowIds row;
  MSPROBE_ASSIGN_OR_RETURN(row.target, NodeId(query, "t", unit.target.size()));
  MSPROBE_ASSIGN_OR_RETURN(row.golden, NodeId(query, "g", unit.golden.size()));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t micro, query.Int("micro", -1, -1, INT32_MAX));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(query));
  std::vector<RowIds> rows = AlignChildren(unit, row);
  if (micro >= 0) {
    std::erase_if(rows, [&](const RowIds& child) {
      return child.target != kNoNode ? unit.target.micro_steps[child.target] != micro
                                     : unit.golden.micro_steps[child.golden] != micro;
    });
  }
  json->BeginObject().Key("total").UInt(rows.size()).Key("offset").Int(page.offset);
  json->Key("rows").BeginArray();
  const auto total = static_cast<int64_t>(rows.size());
  for (int64_t at = page.offset; at < total && at - page.offset < page.limit; ++at) {
    WriteRow(*context.unit->source, rows[static_cast<size_t>(at)], json);
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

Status Api::Path(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeRef node, NodeOf(query, context.index()));
  const auto id_of = [](uint32_t id) { return id == kNoNode ? int64_t{-1} : int64_t{id}; };
  json->BeginObject().Key("side").String(SideLetter(node.side)).Key("id").UInt(node.id);
  json->Key("rows").BeginArray();
  for (const PathStep& step : PathTo(context.index(), node.side, node.id)) {
    json->BeginObject().Key("t").Int(id_of(step.row.target)).Key("g").Int(id_of(step.row.golden));
    json->Key("at").UInt(step.at).Key("total").UInt(step.total).EndObject();
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

void WriteItems(const visfile::UnitIndex& unit, uint64_t total, int64_t offset,
                std::span<const NodeRef> items, JsonWriter* json) {
  json->BeginObject().Key("total").UInt(total).Key("offset").Int(offset);
  json->Key("items").BeginArray();
  for (const NodeRef& item : items) WriteItem(unit, item, json);
  json->EndArray().EndObject();
}

Result<NodeFilter> FilterOf(const Query& query, const UnitContext& context) {
  return NodeFilter::Parse(query.Find("by").value_or(""), query.Find("value").value_or(""),
                           context.bands);
}

Status Api::List(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  MSPROBE_ASSIGN_OR_RETURN(const Side side, SideOf(query, context.index()));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter filter, FilterOf(query, context));
  const NodePage found =
      ListNodes(context.index(), side, filter, static_cast<uint64_t>(page.offset),
                static_cast<uint64_t>(page.limit));
  WriteItems(context.index(), found.total, page.offset, found.items, json);
  return Status::Ok();
}

Status Api::Search(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view text, query.Text("q"));
  MSPROBE_ASSIGN_OR_RETURN(const Page page, PageOf(query));
  const std::string_view sides = query.Find("side").value_or("b");
  std::vector<NodeRef> items;
  uint64_t total = 0;
  const auto take = [&](Side side, NameSearch* search) {
    const std::vector<uint32_t> hits = search->Find(text);
    for (const uint32_t id : hits) {
      if (total >= static_cast<uint64_t>(page.offset) &&
          items.size() < static_cast<size_t>(page.limit)) {
        items.push_back({side, id});
      }
      ++total;
    }
  };
  if (sides != "g") take(Side::kTarget, &context.unit->target_search);
  if (sides != "t") take(Side::kGolden, &context.unit->golden_search);
  WriteItems(context.index(), total, page.offset, items, json);
  return Status::Ok();
}

Status Api::Seek(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeRef from, NodeOf(query, context.index()));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t direction, query.Int("dir", 1, -1, 1));
  MSPROBE_ASSIGN_OR_RETURN(const NodeFilter filter, FilterOf(query, context));
  json->BeginObject().Key("item");
  const auto found = SeekNode(context.index(), from, direction > 0, filter);
  if (found)
    WriteItem(context.index(), *found, json);
  else
    json->Null();
  json->EndObject();
  return Status::Ok();
}

Status Api::Node(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  MSPROBE_ASSIGN_OR_RETURN(const NodeRef node, NodeOf(query, context.index()));
  const auto& units = context.file->source().units();
  const auto step = context.index().step;
  const auto unit_of_rank = [&](int64_t rank) {
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i].step == step && units[i].rank == rank) return static_cast<int64_t>(i);
    }
    return int64_t{-1};
  };
  return WriteDetail(*context.unit->source, node.side, node.id, unit_of_rank, json);
}

Status Api::OverviewBins(const Query& query, JsonWriter* json) {
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t bins, query.Int("bins", 400, 1, 4000));
  json->BeginObject().Key("bins").BeginArray();
  for (const OverviewBin& bin : Overview(context.index(), static_cast<uint32_t>(bins))) {
    json->BeginObject().Key("worst");
    WriteIndex(bin.worst, json);
    json->Key("unmatched").UInt(bin.unmatched);
    json->Key("side").String(SideLetter(bin.node.side)).Key("id").UInt(bin.node.id).EndObject();
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

Status Api::Divergence(const Query& query, JsonWriter* json) {
  constexpr uint64_t kMaxCulprits = 100;
  MSPROBE_ASSIGN_OR_RETURN(const UnitContext context, FindUnit(query));
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
    MSPROBE_ASSIGN_OR_RETURN(const RecordedNode node,
                             ReadNode(*context.unit->source, culprit.side, culprit.id));
    json->BeginObject().Key("id").UInt(culprit.id);
    json->Key("name").String(unit.target.names[culprit.id]);
    json->Key("reason").String(node.reason);
    json->Key("frame").String(node.stack.empty() ? "" : node.stack.front()).EndObject();
  }
  json->EndArray().EndObject();
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<ViewerApi>> ViewerApi::Create(const std::filesystem::path& root,
                                                     const ViewerOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(FileCatalog catalog, FileCatalog::Create(root));
  return std::unique_ptr<ViewerApi>(std::make_unique<Api>(std::move(catalog), options));
}

}  // namespace msprobe::viewer
