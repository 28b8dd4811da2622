#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "msprobe/status.h"
#include "viewer/recorded_pair.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

struct IdPair {
  uint32_t target = 0;
  uint32_t golden = 0;
  bool operator==(const IdPair&) const = default;
};

/// The pairs that a person has made in one unit, in the order in which they were made; each action
/// is undone as a whole.
class HandMatches {
 public:
  using NamePairs = std::vector<std::pair<std::string, std::string>>;

  /// Directories below which tensor files may be read.
  void MayRead(std::vector<std::filesystem::path> roots) { roots_ = std::move(roots); }

  /// What a match pairs: two unmatched nodes, with `children` also what lies below them under the
  /// same label. Errors: InvalidArgument.
  static Result<std::vector<IdPair>> Plan(const visfile::UnitIndex& index, IdPair pair,
                                          bool children);
  /// Makes an action of planned pairs that MeasurePairs() has compared. Errors: InvalidArgument, if
  /// one of the nodes was paired meanwhile; then nothing is changed.
  Status Add(visfile::UnitSource* unit, compare::CompareMode mode, const std::vector<IdPair>& pairs,
             std::vector<PairVerdict> verdicts);
  /// Takes back one pair, or without one the last action. Errors: NotFound.
  Result<std::vector<IdPair>> Remove(visfile::UnitSource* unit, compare::CompareMode mode,
                                     const std::optional<IdPair>& pair);
  /// Applies what was saved. Pairs whose nodes are gone or matched by now are left out: how many.
  size_t Restore(const std::vector<NamePairs>& actions, visfile::UnitSource* unit,
                 compare::CompareMode mode);

  const std::vector<std::filesystem::path>& roots() const { return roots_; }

  /// Puts pairs back that Remove() has taken from a copy of this.
  void ApplyAgain(const std::vector<IdPair>& pairs, visfile::UnitSource* unit,
                  compare::CompareMode mode);

  std::vector<IdPair> pairs() const;
  /// The last action; empty: there is none.
  std::vector<IdPair> last() const;
  const PairVerdict* Find(visfile::Side side, uint32_t id, const visfile::UnitIndex& index) const;

 private:
  using Action = std::vector<IdPair>;
  void Apply(visfile::UnitIndex* index, IdPair pair, PairVerdict verdict);
  void TakeBack(visfile::UnitIndex* index, IdPair pair);

  std::vector<std::filesystem::path> roots_;
  std::vector<Action> actions_;
  std::map<uint32_t, PairVerdict> verdicts_;  ///< by target node
};

/// Compares pairs; of real data this takes long. Reads nothing of the unit that matching changes,
/// so that nobody need be kept from it meanwhile. Errors: Cancelled.
Result<std::vector<PairVerdict>> MeasurePairs(const visfile::UnitSource& unit,
                                              compare::CompareMode mode,
                                              const std::vector<std::filesystem::path>& roots,
                                              const std::vector<IdPair>& pairs,
                                              const base::CancelToken* cancel);

/// "<file>.matches.json" beside the file: the only file that the viewer writes.
std::filesystem::path MatchesPath(const std::filesystem::path& file);

/// The saved actions of one unit; none if nothing was saved. Errors: InvalidArgument, Io.
Result<std::vector<HandMatches::NamePairs>> LoadMatches(const std::filesystem::path& file,
                                                        const visfile::UnitEntry& unit);
/// What one request changes in the saved actions of a unit.
struct MatchesChange {
  HandMatches::NamePairs made = {};     ///< a new action
  HandMatches::NamePairs removed = {};  ///< out of whatever actions hold them
};
/// Changes the saved actions of one unit, all or nothing. What else is saved stays: pairs that do
/// not apply to what is compared now, and those that another viewer has saved meanwhile.
Status ChangeMatches(const std::filesystem::path& file, const visfile::UnitEntry& unit,
                     const MatchesChange& change);
/// The names by which pairs are saved.
HandMatches::NamePairs NamesOf(const std::vector<IdPair>& pairs, const visfile::UnitIndex& index);

/// The pairs as a layer mapping for `msprobe graph -lm`. What a mapping cannot say (calls of
/// functions, which it pairs by their order) stands in comments; Unsupported if that is all.
Result<std::string> MatchesYaml(const visfile::UnitIndex& index, const std::vector<IdPair>& pairs);

}  // namespace msprobe::viewer
