#include <algorithm>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include "base/file.h"
#include "dump/name_index.h"
#include "formats/json/json_escape.h"
#include "formats/json/json_string.h"
#include "visfile/index_blob.h"
#include "visfile/sqlite.h"
#include "visfile/vis_node_scan.h"
#include "visfile/vis_source.h"

namespace msprobe::visfile {

namespace {

constexpr std::string_view kSelectNodes =
    "SELECT n.rowid, n.node_name, n.node_type, n.up_node, n.precision_index, n.overflow_level,"
    " n.micro_step_id, n.matched_node_link, m.idx, m.status, m.role"
    " FROM tb_nodes n LEFT JOIN msprobe_nodes m ON m.rowid = n.rowid AND m.id = n.id"
    " WHERE n.step = ? AND n.rank = ? AND n.data_source = ? ORDER BY n.node_order";
// Files of other tools have no table of ours.
constexpr std::string_view kSelectForeignNodes =
    "SELECT rowid, node_name, node_type, up_node, precision_index, overflow_level, micro_step_id,"
    " matched_node_link, NULL, NULL, NULL"
    " FROM tb_nodes WHERE step = ? AND rank = ? AND data_source = ? ORDER BY node_order";
enum NodeColumn : int {
  kRowId,
  kName,
  kType,
  kUpNode,
  kIndex,
  kOverflow,
  kMicroStep,
  kLink,
  kOwnIndex,
  kStatus,
  kRole,
};

constexpr std::string_view kSelectNode =
    "SELECT n.input_data, n.output_data, n.matched_distributed, s.stack_info"
    " FROM tb_nodes n LEFT JOIN tb_stack s ON s.id = n.stack_id WHERE n.rowid = ?";
constexpr std::string_view kSelectDirectory =
    "SELECT dump_data_dir FROM tb_nodes WHERE step = ? AND rank = ? AND data_source = ? LIMIT 1";
constexpr std::string_view kSelectReason =
    "SELECT reason, role, ulps FROM msprobe_nodes WHERE rowid = ?";
// Of files without a count of units in the last place.
constexpr std::string_view kSelectShortReason =
    "SELECT reason, role, NULL FROM msprobe_nodes WHERE rowid = ?";
constexpr std::string_view kSelectDump =
    "SELECT path FROM msprobe_dumps WHERE step = ? AND rank = ? AND side = ?";

struct DbInfo {
  std::filesystem::path path;
  uint64_t stored_bytes = 0;
  bool comparison = false;
  bool overflow_checked = false;
  bool has_own_table = false;
  bool has_ulps = false;
  bool has_index = false;
  int32_t micro_steps = 1;
  compare::CompareMode mode = compare::CompareMode::kStatistics;
};

/// The last string of a JSON list, still escaped; empty for an empty list.
std::string_view LastOfList(std::string_view list) {
  const size_t end = list.rfind('"');
  if (end == std::string_view::npos || end == 0) return {};
  size_t begin = end;
  do {
    begin = list.rfind('"', begin - 1);
    if (begin == std::string_view::npos) return {};
  } while (begin > 0 && list[begin - 1] == '\\');
  return list.substr(begin + 1, end - begin - 1);
}

class DbUnit : public UnitSource {
 public:
  DbUnit(Database database, const DbInfo& info) : database_(std::move(database)), info_(info) {}

  const UnitIndex& index() const override { return index_; }
  UnitIndex& mutable_index() override { return index_; }
  uint64_t bytes() const override {
    return (index_.target.size() + index_.golden.size()) * uint64_t{189};
  }
  Result<std::string> NodeJson(Side side, uint32_t id) const override;

  Status Load(const UnitEntry& entry, const ReadOptions& options);

 private:
  /// False: the file has no index for it, or one that is not up to date.
  Result<bool> LoadIndex(Side which, const UnitEntry& entry, const ReadOptions& options);
  Result<uint64_t> IndexBytes(Side which, const UnitEntry& entry) const;
  Result<uint64_t> CountRows(const UnitEntry& entry) const;
  Result<Statement> SelectIndex(std::string_view what, Side which, const UnitEntry& entry) const;
  /// So much more is read of what `meter_` counts.
  void Tell(uint64_t more, const ReadOptions& options);
  void FindTensors(Side side, const UnitEntry& entry);
  Status LoadRows(const UnitEntry& entry, const ReadOptions& options);
  Status LoadSide(Side which, const UnitEntry& entry, const ReadOptions& options,
                  std::vector<std::string_view>* partners);
  void Store(const Statement& row, uint32_t id, SideIndex* side, std::string_view* partner);
  Status AppendReason(int64_t row, std::string* json) const;

  mutable std::mutex mutex_;  ///< SQLite connections serve one thread at a time
  mutable Database database_;
  DbInfo info_;
  UnitIndex index_;
  /// Bytes of the index, or rows where there is none.
  struct Meter {
    uint64_t done = 0;
    uint64_t total = 0;
  };
  Meter meter_;
};

void DbUnit::Store(const Statement& row, uint32_t id, SideIndex* side, std::string_view* partner) {
  side->places[id] = static_cast<uint64_t>(row.Int(kRowId));
  // The plugin writes the kind as a number, as we do.
  side->kinds[id] = ParseKind(row.Text(kType));
  side->overflow[id] = ParseOverflow(row.Text(kOverflow));
  side->micro_steps[id] = static_cast<int32_t>(row.Int(kMicroStep));
  const std::string_view link = LastOfList(row.Text(kLink));
  bool valid = true;
  const std::string_view unescaped = formats::UnescapedView(link, &index_.arena, &valid);
  *partner = unescaped.data() == link.data() ? index_.arena.Copy(link) : unescaped;
  if (!row.IsNull(kOwnIndex)) {
    side->index[id] = static_cast<float>(std::clamp(row.Double(kOwnIndex), 0., 1.));
  } else if ((!info_.has_own_table || !link.empty()) && !row.IsNull(kIndex)) {
    // Not ours, or a pair that the plugin has made by hand.
    side->index[id] = std::clamp(static_cast<float>(row.Double(kIndex)), 0.F, 1.F);
  }
  const auto status = ParseNodeStatus(row.Text(kStatus));
  if (status && (*status != compare::NodeStatus::kUnmatched || link.empty())) {
    side->status[id] = *status;
  } else if (!row.IsNull(kIndex)) {
    const double index = row.Double(kIndex);
    side->status[id] = index >= 0.6   ? compare::NodeStatus::kError
                       : index >= 0.3 ? compare::NodeStatus::kWarning
                                      : compare::NodeStatus::kPass;
  }
  side->roles[id] = ParseRole(row.Text(kRole));
}

Status DbUnit::LoadSide(Side which, const UnitEntry& entry, const ReadOptions& options,
                        std::vector<std::string_view>* partners) {
  SideIndex& side = index_.side(which);
  MSPROBE_ASSIGN_OR_RETURN(
      Statement rows, database_.Prepare(info_.has_own_table ? kSelectNodes : kSelectForeignNodes));
  rows.BindInt(0, entry.step.value_or(0));
  rows.BindInt(1, entry.rank.value_or(0));
  rows.BindText(2, which == Side::kTarget ? "NPU" : "Bench");
  std::vector<std::string_view> parents;
  // Rows come children first; the root, which comes last, must be node 0.
  side.Add("");
  parents.emplace_back();
  partners->emplace_back();
  uint64_t text_bytes = 0;
  uint64_t rows_read = 0;
  for (;;) {
    MSPROBE_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    // Columns can have defaults: a small file must not become texts without end.
    for (const int column : {kName, kUpNode, kLink}) text_bytes += rows.Text(column).size();
    if (text_bytes > info_.stored_bytes) {
      return CorruptError("the table tb_nodes holds more text than the file has bytes",
                          "build or compare again", info_.path.string());
    }
    if ((side.size() & 0xFFF) == 0) {
      if (options.cancel != nullptr && options.cancel->cancelled()) return CancelledError();
      Tell(std::exchange(rows_read, 0), options);
    }
    ++rows_read;
    const std::string_view parent = rows.Text(kUpNode);
    const bool is_root = parent.empty() || parent == "None";
    const uint32_t id = is_root ? 0 : side.Add({});
    if (!is_root) {
      parents.push_back(index_.arena.Copy(parent));
      partners->emplace_back();
    }
    side.names[id] = index_.arena.Copy(rows.Text(kName));
    Store(rows, id, &side, &(*partners)[id]);
  }
  Tell(rows_read, options);
  if (side.size() == 1 && side.names[0].empty()) {
    return CorruptError("the file holds no nodes for this step and rank", "build or compare again",
                        info_.path.string());
  }
  const auto name_of = [&side](uint32_t id) { return side.names[id]; };
  dump::NameIndex ids(side.size());
  for (uint32_t id = 0; id < side.size(); ++id) ids.Insert(side.names[id], id, name_of);
  for (uint32_t id = 1; id < side.size(); ++id) side.parents[id] = ids.Find(parents[id], name_of);
  return Status::Ok();
}

void LinkPartners(const std::vector<std::string_view>& names, const SideIndex& to,
                  SideIndex* from) {
  const auto name_of = [&to](uint32_t id) { return to.names[id]; };
  dump::NameIndex ids(to.size());
  for (uint32_t id = 0; id < to.size(); ++id) ids.Insert(to.names[id], id, name_of);
  for (uint32_t id = 0; id < from->size(); ++id) {
    if (!names[id].empty()) from->partners[id] = ids.Find(names[id], name_of);
  }
}

void DbUnit::Tell(uint64_t more, const ReadOptions& options) {
  meter_.done += more;
  if (options.progress) options.progress(meter_.done, meter_.total);
}

/// Fast by the index that the files of the plugin and ours have; else no slower than reading them.
Result<uint64_t> DbUnit::CountRows(const UnitEntry& entry) const {
  MSPROBE_ASSIGN_OR_RETURN(
      Statement count,
      database_.Prepare("SELECT count(*) FROM tb_nodes WHERE step = ? AND rank = ?"));
  count.BindInt(0, entry.step.value_or(0));
  count.BindInt(1, entry.rank.value_or(0));
  MSPROBE_ASSIGN_OR_RETURN(const bool any, count.Step());
  return any ? static_cast<uint64_t>(count.Int(0)) : 0;
}

Result<Statement> DbUnit::SelectIndex(std::string_view what, Side which,
                                      const UnitEntry& entry) const {
  MSPROBE_ASSIGN_OR_RETURN(
      Statement statement,
      database_.Prepare("SELECT " + std::string(what) +
                        " FROM msprobe_index WHERE step = ? AND rank = ? AND side = ?"));
  statement.BindInt(0, entry.step.value_or(0));
  statement.BindInt(1, entry.rank.value_or(0));
  statement.BindInt(2, static_cast<int64_t>(which));
  return statement;
}

Result<uint64_t> DbUnit::IndexBytes(Side which, const UnitEntry& entry) const {
  if (!info_.has_index) return 0;
  MSPROBE_ASSIGN_OR_RETURN(Statement size, SelectIndex("sum(length(data))", which, entry));
  MSPROBE_ASSIGN_OR_RETURN(const bool any, size.Step());
  return any ? static_cast<uint64_t>(std::max<int64_t>(0, size.Int(0))) : 0;
}

Result<bool> DbUnit::LoadIndex(Side which, const UnitEntry& entry, const ReadOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(const uint64_t bytes, IndexBytes(which, entry));
  if (bytes == 0) return false;
  MSPROBE_ASSIGN_OR_RETURN(Statement pieces, SelectIndex("data", which, entry));
  SideIndex side;
  uint64_t piece = 0;
  const Status status = ReadIndexBlob(
      [&]() -> Result<std::string_view> {
        // What was handed out before is read by now.
        Tell(std::exchange(piece, 0), options);
        MSPROBE_ASSIGN_OR_RETURN(const bool more, pieces.Step());
        if (!more) return std::string_view();
        piece = pieces.Blob(0).size();
        return pieces.Blob(0);
      },
      bytes, &side, &index_.arena);
  // Another version's, or damaged: the rows say the same.
  if (!status.ok()) return false;
  Tell(piece, options);
  index_.side(which) = std::move(side);
  return true;
}

Status DbUnit::Load(const UnitEntry& entry, const ReadOptions& options) {
  index_.step = entry.step;
  index_.rank = entry.rank;
  index_.micro_steps = info_.micro_steps;
  MSPROBE_ASSIGN_OR_RETURN(const uint64_t target_bytes, IndexBytes(Side::kTarget, entry));
  MSPROBE_ASSIGN_OR_RETURN(const uint64_t golden_bytes, IndexBytes(Side::kGolden, entry));
  meter_ = {0, target_bytes + golden_bytes};
  MSPROBE_ASSIGN_OR_RETURN(bool indexed, LoadIndex(Side::kTarget, entry, options));
  if (indexed && info_.comparison) {
    MSPROBE_ASSIGN_OR_RETURN(indexed, LoadIndex(Side::kGolden, entry, options));
  }
  if (!indexed) {
    index_.target = {};
    MSPROBE_ASSIGN_OR_RETURN(const uint64_t rows, CountRows(entry));
    meter_ = {0, rows};
    MSPROBE_RETURN_IF_ERROR(LoadRows(entry, options));
  }
  index_.Finish(info_.mode);
  for (const Side side : {Side::kTarget, Side::kGolden}) FindTensors(side, entry);
  database_.StopWhen([] { return false; });  // `options` may end before this does
  return Status::Ok();
}

/// Nothing else needs it: a file that does not say it is fine.
void DbUnit::FindTensors(Side side, const UnitEntry& entry) {
  Result<Statement> directory = database_.Prepare(kSelectDirectory);
  if (!directory.ok()) return;
  directory->BindInt(0, entry.step.value_or(0));
  directory->BindInt(1, entry.rank.value_or(0));
  directory->BindText(2, side == Side::kTarget ? "NPU" : "Bench");
  const Result<bool> found = directory->Step();
  if (found.ok() && *found) index_.side(side).tensor_directory = directory->Text(0);
  Result<Statement> dump = database_.Prepare(kSelectDump);
  if (!dump.ok()) return;
  dump->BindInt(0, entry.step.value_or(0));
  dump->BindInt(1, entry.rank.value_or(0));
  dump->BindInt(2, static_cast<int64_t>(side));
  const Result<bool> named = dump->Step();
  if (named.ok() && *named) index_.side(side).dump = dump->Text(0);
}

Status DbUnit::LoadRows(const UnitEntry& entry, const ReadOptions& options) {
  std::vector<std::string_view> target_partners;
  std::vector<std::string_view> golden_partners;
  MSPROBE_RETURN_IF_ERROR(LoadSide(Side::kTarget, entry, options, &target_partners));
  if (info_.comparison) {
    MSPROBE_RETURN_IF_ERROR(LoadSide(Side::kGolden, entry, options, &golden_partners));
    LinkPartners(target_partners, index_.golden, &index_.target);
    LinkPartners(golden_partners, index_.target, &index_.golden);
  }
  return Status::Ok();
}

void AppendColumn(std::string_view key, std::string_view value, std::string_view empty,
                  std::string* json) {
  formats::AppendJsonString(key, json);
  json->append(":").append(value.empty() ? empty : value).append(",");
}

Status DbUnit::AppendReason(int64_t row, std::string* json) const {
  json->append("\"msprobe\":{");
  if (info_.has_own_table) {
    MSPROBE_ASSIGN_OR_RETURN(
        Statement reason, database_.Prepare(info_.has_ulps ? kSelectReason : kSelectShortReason));
    reason.BindInt(0, row);
    MSPROBE_ASSIGN_OR_RETURN(const bool found, reason.Step());
    if (found) {
      json->append("\"reason\":");
      formats::AppendJsonString(reason.Text(0), json);
      json->append(",\"role\":");
      formats::AppendJsonString(reason.Text(1), json);
      if (!reason.IsNull(2)) json->append(",\"ulps\":").append(reason.Text(2));
    }
  }
  json->append("}}");
  return Status::Ok();
}

Result<std::string> DbUnit::NodeJson(Side side, uint32_t id) const {
  if (id >= index_.side(side).size()) return InvalidArgumentError("there is no such node");
  const auto row = static_cast<int64_t>(index_.side(side).places[id]);
  const std::lock_guard lock(mutex_);
  MSPROBE_ASSIGN_OR_RETURN(Statement node, database_.Prepare(kSelectNode));
  node.BindInt(0, row);
  MSPROBE_ASSIGN_OR_RETURN(const bool found, node.Step());
  if (!found) {
    return NotFoundError("the node is no longer in the file", "open the file again",
                         info_.path.string());
  }
  std::string json = "{";
  AppendColumn("input_data", node.Text(0), "{}", &json);
  AppendColumn("output_data", node.Text(1), "{}", &json);
  AppendColumn("matched_distributed", node.Text(2), "{}", &json);
  AppendColumn("stack_info", node.Text(3), "[]", &json);
  MSPROBE_RETURN_IF_ERROR(AppendReason(row, &json));
  return json;
}

/// What SQLite says of a statement that was given up is no error of the file.
Status CancelledOr(Status status, const ReadOptions& options) {
  const bool cancelled = options.cancel != nullptr && options.cancel->cancelled();
  return cancelled ? CancelledError() : std::move(status);
}

/// Opens a file of which nothing is believed. While `options` lives, reading can be given up.
Result<Database> OpenForReading(const std::filesystem::path& path, const ReadOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(Database database, Database::Open(path, Database::Mode::kRead));
  database.DistrustSchema();
  if (options.cancel != nullptr) {
    database.StopWhen([cancel = options.cancel] { return cancel->cancelled(); });
  }
  MSPROBE_RETURN_IF_ERROR(CancelledOr(database.CheckSchema(), options));
  return database;
}

class VisDbFile : public VisSource {
 public:
  VisDbFile(DbInfo info, std::vector<UnitEntry> units)
      : info_(std::move(info)), units_(std::move(units)) {}

  bool is_comparison() const override { return info_.comparison; }
  compare::CompareMode mode() const override { return info_.mode; }
  bool overflow_checked() const override { return info_.overflow_checked; }
  const std::vector<UnitEntry>& units() const override { return units_; }

  Result<std::shared_ptr<UnitSource>> LoadUnit(size_t unit,
                                               const ReadOptions& options) const override {
    MSPROBE_ASSIGN_OR_RETURN(Database database, OpenForReading(info_.path, options));
    auto loaded = std::make_shared<DbUnit>(std::move(database), info_);
    MSPROBE_RETURN_IF_ERROR(CancelledOr(loaded->Load(units_[unit], options), options));
    return std::shared_ptr<UnitSource>(std::move(loaded));
  }

 private:
  DbInfo info_;
  std::vector<UnitEntry> units_;
};

Status ReadConfig(Database* database, DbInfo* info) {
  MSPROBE_ASSIGN_OR_RETURN(
      Statement config,
      database->Prepare("SELECT graph_type, task, micro_steps, overflow_check FROM tb_config"));
  MSPROBE_ASSIGN_OR_RETURN(const bool found, config.Step());
  if (!found) {
    return CorruptError("the table tb_config is empty", "build or compare again",
                        info->path.string());
  }
  info->comparison = config.Text(0) == "compare";
  if (config.Text(1) == "all" || config.Text(1) == "tensor") {
    info->mode = compare::CompareMode::kRealData;
  }
  if (config.Text(1) == "md5") info->mode = compare::CompareMode::kMd5;
  info->micro_steps = static_cast<int32_t>(std::max<int64_t>(1, config.Int(2)));
  info->overflow_checked = config.Int(3) != 0;
  MSPROBE_ASSIGN_OR_RETURN(
      Statement own, database->Prepare("SELECT 1 FROM sqlite_master WHERE name = 'msprobe_nodes'"));
  MSPROBE_ASSIGN_OR_RETURN(info->has_own_table, own.Step());
  MSPROBE_ASSIGN_OR_RETURN(
      Statement ulps,
      database->Prepare("SELECT 1 FROM pragma_table_info('msprobe_nodes') WHERE name = 'ulps'"));
  MSPROBE_ASSIGN_OR_RETURN(info->has_ulps, ulps.Step());
  MSPROBE_ASSIGN_OR_RETURN(
      Statement index, database->Prepare("SELECT count(*) FROM pragma_table_info('msprobe_index')"
                                         " WHERE name IN ('step', 'rank', 'side', 'data')"));
  MSPROBE_ASSIGN_OR_RETURN(const bool counted, index.Step());
  info->has_index = counted && index.Int(0) == 4;
  return Status::Ok();
}

/// The steps and ranks that have nodes, by looking each step's ranks up in the index instead of
/// reading all rows.
Result<std::vector<UnitEntry>> ReadUnits(Database* database, const std::filesystem::path& path) {
  MSPROBE_ASSIGN_OR_RETURN(
      Statement next,
      database->Prepare("SELECT step, rank FROM tb_nodes WHERE (step, rank) > (?, ?)"
                        " ORDER BY step, rank LIMIT 1"));
  std::vector<UnitEntry> units;
  int64_t step = std::numeric_limits<int64_t>::min();
  int64_t rank = std::numeric_limits<int64_t>::min();
  for (;;) {
    next.BindInt(0, step);
    next.BindInt(1, rank);
    MSPROBE_ASSIGN_OR_RETURN(const bool found, next.Step());
    if (!found) return units;
    const std::pair<int64_t, int64_t> before{step, rank};
    step = next.Int(0);
    rank = next.Int(1);
    // Texts stand behind all numbers: the next one would be found for ever.
    if (std::pair(step, rank) <= before) {
      return CorruptError("a step or rank in the table tb_nodes is no whole number",
                          "build or compare again", path.string());
    }
    units.push_back({step, rank});
    next.Reset();
  }
}

}  // namespace

Result<std::unique_ptr<VisSource>> OpenVisDb(const std::filesystem::path& path,
                                             const ReadOptions& options) {
  if (options.cancel != nullptr && options.cancel->cancelled()) return CancelledError();
  MSPROBE_ASSIGN_OR_RETURN(Database database, OpenForReading(path, options));
  DbInfo info;
  info.path = path;
  info.stored_bytes = database.StoredBytes();
  MSPROBE_RETURN_IF_ERROR(CancelledOr(ReadConfig(&database, &info), options));
  auto units = ReadUnits(&database, path);
  MSPROBE_RETURN_IF_ERROR(CancelledOr(units.status(), options));
  return std::unique_ptr<VisSource>(
      std::make_unique<VisDbFile>(std::move(info), std::move(*units)));
}

}  // namespace msprobe::visfile
