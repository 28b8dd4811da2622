#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/file.h"
#include "base/open_descriptor.h"
#include "formats/json/config_json.h"
#include "formats/json/json_writer.h"
#include "viewer/answers.h"
#include "viewer/hand_matches.h"

namespace msprobe::viewer {

using formats::ConfigJson;
using formats::ConfigValue;
using formats::JsonWriter;

namespace {

struct SavedUnit {
  visfile::UnitEntry entry;
  std::vector<HandMatches::NamePairs> actions;
};

bool Same(const visfile::UnitEntry& a, const visfile::UnitEntry& b) {
  return a.step == b.step && a.rank == b.rank;
}

Result<std::optional<int64_t>> OptionalInt(const ConfigValue& unit, std::string_view key) {
  const std::optional<ConfigValue> value = unit.Find(key);
  if (!value || value->is_null()) return std::optional<int64_t>();
  MSPROBE_ASSIGN_OR_RETURN(const int64_t number, value->Int(key));
  return std::optional<int64_t>(number);
}

Result<HandMatches::NamePairs> ReadPairs(const ConfigValue& list) {
  HandMatches::NamePairs pairs;
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<ConfigValue> items, list.List("a match"));
  for (const ConfigValue& item : items) {
    MSPROBE_ASSIGN_OR_RETURN(const std::vector<ConfigValue> names, item.List("a pair"));
    if (names.size() != 2) return item.Error("a pair must be two names");
    MSPROBE_ASSIGN_OR_RETURN(const std::string_view target, names[0].String("the target"));
    MSPROBE_ASSIGN_OR_RETURN(const std::string_view golden, names[1].String("the golden node"));
    pairs.emplace_back(target, golden);
  }
  return pairs;
}

Result<std::vector<SavedUnit>> ReadFile(const std::filesystem::path& path) {
  std::vector<SavedUnit> saved;
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, size_t> places;
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(there)) return saved;
  if (!std::filesystem::is_regular_file(there)) {
    return InvalidArgumentError("saved matches are read from a plain file, not by a link",
                                "remove it, or put the file there", path.string());
  }
  MSPROBE_ASSIGN_OR_RETURN(const ConfigJson file, ConfigJson::Read(path.string()));
  const std::optional<ConfigValue> units = file.root().Find("units");
  if (!units) return file.root().Error("the file holds no 'units'", "remove it to start anew");
  MSPROBE_ASSIGN_OR_RETURN(const std::vector<ConfigValue> list, units->List("units"));
  for (const ConfigValue& unit : list) {
    visfile::UnitEntry entry;
    MSPROBE_ASSIGN_OR_RETURN(entry.step, OptionalInt(unit, "step"));
    MSPROBE_ASSIGN_OR_RETURN(entry.rank, OptionalInt(unit, "rank"));
    // A file that somebody edited may name a unit twice.
    const auto [place, is_new] = places.try_emplace({entry.step, entry.rank}, saved.size());
    if (is_new) saved.push_back({entry, {}});
    SavedUnit& out = saved[place->second];
    const std::optional<ConfigValue> matches = unit.Find("matches");
    if (!matches) continue;
    MSPROBE_ASSIGN_OR_RETURN(const std::vector<ConfigValue> actions, matches->List("matches"));
    for (const ConfigValue& action : actions) {
      MSPROBE_ASSIGN_OR_RETURN(HandMatches::NamePairs pairs, ReadPairs(action));
      out.actions.push_back(std::move(pairs));
    }
  }
  return saved;
}

/// Keeps other viewers from changing saved matches at the same time, as long as it lives. The
/// directory is locked, as the file is replaced by each change. Where the file system has no such
/// locks, or somebody holds this one for long, the change is made without: it takes a moment only.
class ChangeLock {
 public:
  explicit ChangeLock(const std::filesystem::path& directory)
      : fd_(base::OpenAboveStreams(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)) {
    for (int tries = 0; fd_ >= 0 && tries < 1000 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      ::usleep(2000);
    }
  }
  ChangeLock(const ChangeLock&) = delete;
  ChangeLock& operator=(const ChangeLock&) = delete;
  ~ChangeLock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  const int fd_;
};

/// An action that loses its last pair is gone.
void RemovePairs(const HandMatches::NamePairs& removed,
                 std::vector<HandMatches::NamePairs>* actions) {
  const std::set<HandMatches::NamePairs::value_type> names(removed.begin(), removed.end());
  for (HandMatches::NamePairs& action : *actions) {
    std::erase_if(action, [&names](const auto& pair) { return names.contains(pair); });
  }
  std::erase_if(*actions, [](const auto& action) { return action.empty(); });
}

std::string Render(const std::vector<SavedUnit>& units) {
  std::string text;
  JsonWriter json(&text, formats::JsonLayout::kIndented);
  json.BeginObject().Key("units").BeginArray();
  for (const SavedUnit& unit : units) {
    json.BeginObject();
    WriteOptional("step", unit.entry.step, &json);
    WriteOptional("rank", unit.entry.rank, &json);
    json.Key("matches").BeginArray();
    for (const HandMatches::NamePairs& action : unit.actions) {
      json.BeginArray();
      for (const auto& [target, golden] : action) {
        json.BeginArray().String(target).String(golden).EndArray();
      }
      json.EndArray();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  text.push_back('\n');
  return text;
}

}  // namespace

std::filesystem::path MatchesPath(const std::filesystem::path& file) {
  return file.string() + ".matches.json";
}

Result<std::vector<HandMatches::NamePairs>> LoadMatches(const std::filesystem::path& file,
                                                        const visfile::UnitEntry& unit) {
  MSPROBE_ASSIGN_OR_RETURN(std::vector<SavedUnit> saved, ReadFile(MatchesPath(file)));
  for (SavedUnit& entry : saved) {
    if (Same(entry.entry, unit)) return std::move(entry.actions);
  }
  return std::vector<HandMatches::NamePairs>();
}

Status ChangeMatches(const std::filesystem::path& file, const visfile::UnitEntry& unit,
                     const MatchesChange& change) {
  const std::filesystem::path path = MatchesPath(file);
  const ChangeLock lock(path.has_parent_path() ? path.parent_path() : ".");
  MSPROBE_ASSIGN_OR_RETURN(std::vector<SavedUnit> saved, ReadFile(path));
  auto entry = std::ranges::find_if(
      saved, [&unit](const SavedUnit& known) { return Same(known.entry, unit); });
  if (entry == saved.end()) entry = saved.insert(saved.end(), {unit, {}});
  RemovePairs(change.removed, &entry->actions);
  if (!change.made.empty()) {
    // It may be saved already, by another viewer or because it did not apply here before.
    RemovePairs(change.made, &entry->actions);
    entry->actions.push_back(change.made);
  }
  if (entry->actions.empty()) saved.erase(entry);
  if (saved.empty()) {
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return IoError("cannot remove the saved matches", error.value(), path.string());
    return Status::Ok();
  }
  const std::string text = Render(saved);
  if (text.size() > ConfigJson::kMaxBytes) {
    return LimitExceededError("the matches by hand would be " + std::to_string(text.size()) +
                                  " bytes, more than can be read again",
                              "undo some, or export them as a layer mapping", path.string());
  }
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile out, base::AtomicFile::Create(path));
  MSPROBE_RETURN_IF_ERROR(out.Append(text));
  return out.Commit();
}

}  // namespace msprobe::viewer
