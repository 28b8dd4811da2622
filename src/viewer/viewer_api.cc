#include "viewer/viewer_api.h"

#include <algorithm>
#include <array>

#include "viewer/answers.h"
#include "viewer/api.h"
#include "viewer/embedded_unit.h"
#include "viewer/guarded.h"

namespace msprobe::viewer {

using formats::JsonWriter;

namespace {

// Long polling: the answer leaves as soon as the file is ready, a page need not guess when to ask.
constexpr auto kOpenWait = std::chrono::milliseconds(200);
constexpr auto kUnitWait = std::chrono::seconds(20);
/// Requests that wait hold a thread of the server each: the rest of its threads answers others.
constexpr int kMaxWaiting = 8;

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

}  // namespace

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
      Route{"GET", "inside", &Api::Inside},
      Route{"GET", "path", &Api::Path},
      Route{"GET", "list", &Api::List},
      Route{"GET", "search", &Api::Search},
      Route{"GET", "seek", &Api::Seek},
      Route{"GET", "node", &Api::Node},
      Route{"GET", "overview", &Api::OverviewBins},
      Route{"GET", "divergence", &Api::Divergence},
      Route{"GET", "matches", &Api::Matches},
      Route{"POST", "matches", &Api::AddMatch},
      Route{"DELETE", "matches", &Api::RemoveMatch},
      Route{"GET", "matches.yaml", &Api::YamlOfMatches},
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
  Result<RequestQuery> query = RequestQuery::Parse(request.query);
  if (!query.ok()) return ErrorResponse(query.status());
  Response response;
  const Status status = Guarded([&] {
    JsonWriter json(&response.body);
    return (this->*handler)({*query, request.body, &json, &response});
  });
  if (!status.ok()) return ErrorResponse(status);
  return response;
}

Status Api::Files(const Call& call) {
  JsonWriter* const json = call.json;
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

Result<FileContext> Api::FindFile(const RequestQuery& query, OpenFiles::Freshness freshness) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view name, query.Text("file"));
  MSPROBE_ASSIGN_OR_RETURN(const ResolvedFile resolved, catalog_.Resolve(name));
  // The numbers in a request are those of the version that it names.
  const std::optional<std::string_view> version = query.Find("v");
  if (version) freshness = OpenFiles::Freshness::kAsOpened;
  FileContext context = files_.Open(resolved, freshness);
  if (version && *version != std::to_string(context.version)) {
    return Status(StatusCode::kCancelled, "the file has changed since it was opened",
                  "reload the page", std::string(name));
  }
  return context;
}

Result<UnitContext> Api::FindUnit(const RequestQuery& query) {
  UnitContext context;
  MSPROBE_ASSIGN_OR_RETURN(context.file, FindFile(query, OpenFiles::Freshness::kAsOpened));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t number, query.Int("u", 0, 0, INT32_MAX));
  context.number = static_cast<size_t>(number);
  // After a restart of the server a page goes on asking without 'open': wait for the loading.
  const OneMore waiting(&waiting_);
  const auto patience = waiting.others() < kMaxWaiting ? kUnitWait : std::chrono::seconds(0);
  MSPROBE_ASSIGN_OR_RETURN(context.unit, context.file.open->Unit(context.number, patience));
  if (context.unit == nullptr) return StillLoading();
  context.lock = std::shared_lock(context.unit->mutex);
  context.bands = visfile::BandsOf(context.file.open->source().mode());
  files_.Trim();
  return context;
}

namespace {

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

/// The object Unit as far as it is known.
std::string UnitText(const OpenFile& file, size_t unit) {
  OpenFile::Summary summary = file.SummaryOf(unit);
  if (summary.json.empty()) {
    JsonWriter json(&summary.json);
    WriteUnknownUnit(file.source().units()[unit], summary.failure, &json);
  }
  return std::move(summary.json);
}

/// The members of an open file's answer.
void WriteOpened(std::string_view name, const OpenFile& file, const std::vector<std::string>& units,
                 bool can_match, const std::vector<std::string>& notes, JsonWriter* json) {
  const visfile::VisSource& source = file.source();
  json->Key("state").String("ready");
  json->Key("file").String(name);
  json->Key("type").String(source.is_comparison() ? "compare" : "build");
  json->Key("mode").String(ModeWord(source.mode()));
  json->Key("overflow").Bool(source.overflow_checked());
  json->Key("can_match").Bool(can_match);
  WriteBands(visfile::BandsOf(source.mode()), json);
  json->Key("units").BeginArray();
  for (const std::string& unit : units) json->Raw(unit);
  json->EndArray();
  json->Key("notes").BeginArray();
  for (const std::string& note : notes) json->String(note);
  json->EndArray();
}

/// What is lost looks like what was never recorded.
void NoteCutDumps(const visfile::UnitIndex& unit, std::vector<std::string>* notes) {
  for (const visfile::SideIndex* side : {&unit.target, &unit.golden}) {
    if (side->cut_off) {
      notes->push_back("dump.json is cut off, records at its end are lost: " + side->dump);
    }
  }
}

}  // namespace

bool Api::CanMatch(const FileContext& file) const {
  return options_.allow_saving && file.open->source().is_comparison();
}

Status Api::Open(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const auto file, FindFile(call.query, OpenFiles::Freshness::kNewest));
  MSPROBE_ASSIGN_OR_RETURN(const int64_t named, call.query.Int("u", 0, 0, INT32_MAX));
  auto number = static_cast<size_t>(named);
  Result<std::shared_ptr<LoadedUnit>> found = file.open->Unit(number, kOpenWait);
  if (!call.query.Find("u")) {
    // Whoever names no unit sees the first one that can be read, or why there is none.
    const Status failure = found.status();
    const auto deadline = std::chrono::steady_clock::now() + kOpenWait;
    while (!found.ok() && file.open->state() == OpenFile::State::kReady &&
           ++number < file.open->source().units().size()) {
      const auto left = deadline - std::chrono::steady_clock::now();
      found = file.open->Unit(number, std::chrono::duration_cast<std::chrono::milliseconds>(left));
    }
    if (!found.ok()) return failure;
  }
  MSPROBE_ASSIGN_OR_RETURN(const auto unit, std::move(found));
  json->BeginObject();
  if (unit == nullptr) {
    const bool builds = file.resolved.kind == FileKind::kDump;
    const std::string_view phase = !builds                         ? "reading"
                                   : options_.dumps.golden.empty() ? "building"
                                                                   : "comparing";
    json->Key("state").String("loading").Key("phase").String(phase);
    const OpenFile::Progress progress = file.open->ProgressOf(number);
    json->Key("done").UInt(progress.done).Key("total").UInt(progress.total).EndObject();
    return Status::Ok();
  }
  std::vector<std::string> notes;
  {
    const std::shared_lock lock(unit->mutex);
    if (!unit->note.empty()) notes.push_back(unit->note);
    NoteCutDumps(unit->source->index(), &notes);
  }
  if (file.open->SummedUp()) file.open->Told();
  std::vector<std::string> units(file.open->source().units().size());
  for (size_t i = 0; i < units.size(); ++i) units[i] = UnitText(*file.open, i);
  WriteOpened(*call.query.Text("file"), *file.open, units, CanMatch(file), notes, json);
  json->Key("version").String(std::to_string(file.version)).EndObject();
  return Status::Ok();
}

Status Api::CancelOpen(const Call& call) {
  JsonWriter* const json = call.json;
  MSPROBE_ASSIGN_OR_RETURN(const std::string_view name, call.query.Text("file"));
  MSPROBE_ASSIGN_OR_RETURN(const ResolvedFile file, catalog_.Resolve(name));
  files_.Close(file);
  json->BeginObject().EndObject();
  return Status::Ok();
}

namespace {

/// Waits for a unit, however long it takes, but not for longer than the user wants.
Result<std::shared_ptr<LoadedUnit>> AwaitUnit(OpenFile* file, size_t number,
                                              const base::CancelToken* cancel) {
  for (;;) {
    if (cancel != nullptr && cancel->cancelled()) return CancelledError();
    MSPROBE_ASSIGN_OR_RETURN(auto unit, file->Unit(number, kOpenWait));
    if (unit != nullptr) return unit;
  }
}

/// The part of a unit that is exported; nullptr: all of it.
Result<std::shared_ptr<ReportPart>> CutPart(const LoadedUnit& unit, compare::CompareMode mode,
                                            const std::string& subtree) {
  if (subtree.empty()) return std::shared_ptr<ReportPart>();
  return ReportPart::Cut(unit.source, subtree, visfile::BandsOf(mode).back().lo);
}

std::string OfAll(size_t count, size_t all) {
  return std::to_string(count) + " of " + std::to_string(all);
}

}  // namespace

Result<Api::Exported> Api::ChooseUnits(const FileContext& file, const ExportLimits& limits) {
  const visfile::VisSource& source = file.open->source();
  const size_t all = source.units().size();
  Exported chosen;
  size_t unreadable = 0;
  size_t others = 0;
  uint64_t nodes = 0;
  Status failure;
  for (size_t number = 0; number < all; ++number) {
    auto unit = AwaitUnit(file.open.get(), number, limits.cancel);
    if (!unit.ok()) {
      // One damaged rank does not hide the others.
      if (unit.status().code() == StatusCode::kCancelled) return unit.status();
      if (failure.ok()) failure = unit.status();
      ++unreadable;
      continue;
    }
    const std::shared_lock lock((*unit)->mutex);
    if (!limits.subtree.empty() && !ReportPart::Has((*unit)->source->index(), limits.subtree)) {
      ++others;
      continue;
    }
    MSPROBE_ASSIGN_OR_RETURN(const auto part, CutPart(**unit, source.mode(), limits.subtree));
    const visfile::UnitIndex& index = part == nullptr ? (*unit)->source->index() : part->index();
    nodes += index.target.size() + index.golden.size();
    if (nodes > limits.nodes) {
      if (!chosen.units.empty()) break;
      return LimitExceededError(
          "the graph has " + std::to_string(nodes) + " nodes, too many for one page",
          "export a part with --subtree NODE, or send the file and look at it with msprobe view",
          file.resolved.path.string());
    }
    chosen.units.push_back(number);
    files_.Trim();
  }
  if (chosen.units.empty() && !failure.ok()) return failure;
  if (chosen.units.empty()) {
    return NotFoundError("no node has this name", "give the whole name, as the page shows it",
                         limits.subtree.substr(0, 200));
  }
  if (chosen.units.size() + unreadable + others < all) {
    chosen.notes.push_back("only the first " + OfAll(chosen.units.size(), all) +
                           " steps and ranks are in this report");
  } else if (others > 0) {
    chosen.notes.push_back(OfAll(chosen.units.size(), all) +
                           " steps and ranks have this node; the others are not in this report");
  }
  if (unreadable > 0) {
    chosen.notes.push_back(OfAll(unreadable, all) +
                           " steps and ranks cannot be read: " + failure.ToString());
  }
  return chosen;
}

Result<std::string> Api::ExportData(std::string_view name, const ExportLimits& limits) {
  FileContext file;
  MSPROBE_ASSIGN_OR_RETURN(file.resolved, catalog_.Resolve(name));
  file = files_.Open(file.resolved, OpenFiles::Freshness::kNewest);
  // What the file holds is known once a unit of it is there, or said to be damaged.
  const auto first = AwaitUnit(file.open.get(), 0, limits.cancel);
  if (!first.ok() && file.open->state() != OpenFile::State::kReady) return first.status();
  MSPROBE_ASSIGN_OR_RETURN(Exported chosen, ChooseUnits(file, limits));
  const visfile::VisSource& source = file.open->source();
  std::vector<visfile::UnitEntry> entries;
  entries.reserve(chosen.units.size());
  for (const size_t number : chosen.units) entries.push_back(source.units()[number]);
  std::string units;
  std::vector<std::string> notes;
  std::vector<std::string> summaries;
  DetailBudget details{limits.detail_bytes, 0};
  for (const size_t number : chosen.units) {
    MSPROBE_ASSIGN_OR_RETURN(const auto unit, AwaitUnit(file.open.get(), number, limits.cancel));
    const std::shared_lock lock(unit->mutex);
    MSPROBE_ASSIGN_OR_RETURN(const auto part, CutPart(*unit, source.mode(), limits.subtree));
    if (!units.empty()) units.push_back(',');
    MSPROBE_RETURN_IF_ERROR(
        AppendEmbeddedUnit(*unit, part.get(), source.mode(), entries, &details, &units));
    NoteCutDumps(unit->source->index(), &notes);
    summaries.push_back(
        file.open->SummaryJson(part == nullptr ? unit->source->index() : part->index()));
    files_.Trim();
  }
  if (!limits.subtree.empty()) {
    notes.push_back("only " + limits.subtree + " and what is in it is in this report");
  }
  if (details.left_out > 0) {
    notes.push_back("the values of " + std::to_string(details.left_out) +
                    " nodes are not in this report, to keep it small");
  }
  notes.insert(notes.end(), chosen.notes.begin(), chosen.notes.end());
  std::string data = R"({"version":1,"open":)";
  JsonWriter json(&data);
  json.BeginObject();
  // A report has no directory around it that would say what "." is.
  const std::string own = name == "." ? file.resolved.path.filename().string() : std::string(name);
  WriteOpened(own, *file.open, summaries, false, notes, &json);
  json.EndObject();
  data.append(R"(,"units":[)").append(units).append("]}");
  return data;
}

Result<std::unique_ptr<ViewerApi>> ViewerApi::Create(const std::filesystem::path& root,
                                                     const ViewerOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(FileCatalog catalog, FileCatalog::Create(root));
  return std::unique_ptr<ViewerApi>(std::make_unique<Api>(std::move(catalog), options));
}

}  // namespace msprobe::viewer
