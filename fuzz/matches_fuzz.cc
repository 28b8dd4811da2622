// <file>.matches.json, which may come with a file from elsewhere: pairs of nodes that are there and
// free, each once; saved and read again they are the same, and undone nothing is left of them.

#include <set>

#include "viewer/api_fixture.h"
#include "viewer/hand_matches.h"
#include "vis_use.h"

namespace {

using namespace msprobe;

struct Opened {
  std::unique_ptr<visfile::VisSource> file;
  std::shared_ptr<visfile::UnitSource> unit;
};

const std::filesystem::path& File() { return fuzz::ScratchFile("a.vis"); }

Opened Open() {
  const viewer::fixture::SmallComparison small(compare::CompareMode::kStatistics, true);
  viewer::fixture::WriteVis(small, File());
  auto file = visfile::OpenVis(File(), {});
  auto unit = (*file)->LoadUnit(0, {});
  return {std::move(*file), std::move(*unit)};
}

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Opened opened = Open();
  constexpr auto kMode = compare::CompareMode::kStatistics;
  const visfile::UnitEntry entry = opened.file->units()[0];
  fuzz::WriteFile(viewer::MatchesPath(File()), {reinterpret_cast<const char*>(data), size});
  auto loaded = viewer::LoadMatches(File(), entry);
  if (!loaded.ok()) return 0;
  visfile::UnitSource* unit = opened.unit.get();
  const std::vector<uint32_t> before = unit->index().target.partners;
  viewer::HandMatches matches;
  matches.Restore(*loaded, unit, kMode);
  const visfile::UnitIndex& index = unit->index();
  std::set<uint32_t> seen;
  for (const viewer::IdPair pair : matches.pairs()) {
    Check(seen.insert(pair.target).second);
    Check(before[pair.target] == graph::kNoNode);
    Check(index.target.partners[pair.target] == pair.golden);
    Check(index.golden.partners[pair.golden] == pair.target);
    Check(matches.Find(visfile::Side::kTarget, pair.target, index) != nullptr);
  }
  (void)viewer::MatchesYaml(index, matches.pairs());
  // What a request makes and takes back leaves all other pairs as they were.
  const viewer::HandMatches::NamePairs made = {{"made", "by hand"}};
  for (auto& action : *loaded) std::erase(action, made.front());
  std::erase_if(*loaded, [](const auto& action) { return action.empty(); });
  Check(viewer::ChangeMatches(File(), entry, {.made = made}).ok());
  Check(viewer::ChangeMatches(File(), entry, {.removed = made}).ok());
  Check(viewer::LoadMatches(File(), entry).value() == *loaded);
  while (!matches.pairs().empty()) Check(matches.Remove(unit, kMode, std::nullopt).ok());
  Check(index.target.partners == before);
  return 0;
}
