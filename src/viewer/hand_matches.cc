#include "viewer/hand_matches.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viewer/node_label.h"

namespace msprobe::viewer {

using graph::kNoNode;
using visfile::Side;
using visfile::SideIndex;
using visfile::UnitIndex;

namespace {

constexpr size_t kMaxPairs = 100'000;

bool Unmatched(const UnitIndex& index, IdPair pair) {
  return index.target.partners[pair.target] == kNoNode &&
         index.golden.partners[pair.golden] == kNoNode;
}

std::string LabelIn(const SideIndex& side, uint32_t id) {
  return LabelOf(side.names[id], side.names[side.parents[id]]).label;
}

/// Unmatched children of the pair that have the same label and kind, in order.
void AppendChildren(const UnitIndex& index, IdPair pair, std::vector<IdPair>* pairs) {
  std::multimap<std::string, uint32_t> free;
  for (const uint32_t golden : index.golden.children(pair.golden)) {
    if (index.golden.partners[golden] == kNoNode) {
      free.emplace(LabelIn(index.golden, golden), golden);
    }
  }
  for (const uint32_t target : index.target.children(pair.target)) {
    if (index.target.partners[target] != kNoNode) continue;
    const auto found = free.find(LabelIn(index.target, target));
    if (found == free.end() || index.target.kinds[target] != index.golden.kinds[found->second]) {
      continue;
    }
    pairs->push_back({target, found->second});
    free.erase(found);
  }
}

void SumUp(UnitIndex* index, compare::CompareMode mode) {
  const float worst_band = visfile::BandsOf(mode).back().lo;
  index->target.SumUp(worst_band);
  index->golden.SumUp(worst_band);
}

void SetVerdict(SideIndex* side, uint32_t id, uint32_t partner, float metric,
                compare::NodeStatus status) {
  side->partners[id] = partner;
  side->index[id] = metric;
  side->status[id] = status;
}

Status HasPartner() {
  return InvalidArgumentError("one of the nodes has a partner already",
                              "pick two nodes without partners");
}

PairVerdict Measure(const visfile::UnitSource& unit, compare::CompareMode mode,
                    const std::vector<std::filesystem::path>& roots, IdPair pair) {
  const UnitIndex& index = unit.index();
  const Result<RecordedNode> target = ReadNode(unit, Side::kTarget, pair.target);
  const Result<RecordedNode> golden = ReadNode(unit, Side::kGolden, pair.golden);
  if (target.ok() && golden.ok()) {
    const TensorPlace target_tensors = PlaceOfTensors(index.target.tensor_directory, roots);
    const TensorPlace golden_tensors = PlaceOfTensors(index.golden.tensor_directory, roots);
    return CompareRecorded(mode, {index.target.names[pair.target], *target, target_tensors},
                           {index.golden.names[pair.golden], *golden, golden_tensors});
  }
  PairVerdict verdict;
  verdict.index = std::nanf("");
  verdict.status = compare::NodeStatus::kUnreadable;
  verdict.reason = (target.ok() ? golden : target).status().fact();
  return verdict;
}

}  // namespace

Result<std::vector<PairVerdict>> MeasurePairs(const visfile::UnitSource& unit,
                                              compare::CompareMode mode,
                                              const std::vector<std::filesystem::path>& roots,
                                              const std::vector<IdPair>& pairs,
                                              const base::CancelToken* cancel) {
  std::vector<PairVerdict> verdicts;
  for (const IdPair& pair : pairs) {
    if (cancel != nullptr && cancel->cancelled()) return CancelledError();
    verdicts.push_back(Measure(unit, mode, roots, pair));
  }
  return verdicts;
}

void HandMatches::Apply(UnitIndex* index, IdPair pair, PairVerdict verdict) {
  verdict.target_role = std::exchange(index->target.roles[pair.target], compare::Role::kNone);
  verdict.golden_role = std::exchange(index->golden.roles[pair.golden], compare::Role::kNone);
  SetVerdict(&index->target, pair.target, pair.golden, verdict.index, verdict.status);
  SetVerdict(&index->golden, pair.golden, pair.target, verdict.index, verdict.status);
  verdicts_[pair.target] = std::move(verdict);
}

void HandMatches::TakeBack(UnitIndex* index, IdPair pair) {
  constexpr auto kUnmatched = compare::NodeStatus::kUnmatched;
  SetVerdict(&index->target, pair.target, kNoNode, std::nanf(""), kUnmatched);
  SetVerdict(&index->golden, pair.golden, kNoNode, std::nanf(""), kUnmatched);
  const auto verdict = verdicts_.find(pair.target);
  if (verdict == verdicts_.end()) return;
  index->target.roles[pair.target] = verdict->second.target_role;
  index->golden.roles[pair.golden] = verdict->second.golden_role;
  verdicts_.erase(verdict);
}

Result<std::vector<IdPair>> HandMatches::Plan(const UnitIndex& index, IdPair pair, bool children) {
  if (!Unmatched(index, pair)) return HasPartner();
  std::vector<IdPair> action{pair};
  for (size_t i = 0; children && i < action.size() && action.size() < kMaxPairs; ++i) {
    AppendChildren(index, action[i], &action);
  }
  return action;
}

Status HandMatches::Add(visfile::UnitSource* unit, compare::CompareMode mode,
                        const std::vector<IdPair>& pairs, std::vector<PairVerdict> verdicts) {
  UnitIndex& index = unit->mutable_index();
  for (const IdPair& pair : pairs) {
    if (!Unmatched(index, pair)) return HasPartner();
  }
  for (size_t i = 0; i < pairs.size(); ++i) Apply(&index, pairs[i], std::move(verdicts[i]));
  SumUp(&index, mode);
  actions_.push_back(pairs);
  return Status::Ok();
}

Result<std::vector<IdPair>> HandMatches::Remove(visfile::UnitSource* unit,
                                                compare::CompareMode mode,
                                                const std::optional<IdPair>& pair) {
  constexpr const char* kLook = "look at the matches as they are now";
  if (actions_.empty()) return NotFoundError("there is no match by hand to undo", kLook);
  Action removed;
  if (!pair) {
    removed = std::move(actions_.back());
    actions_.pop_back();
  } else {
    for (Action& action : actions_) {
      const auto found = std::ranges::find(action, *pair);
      if (found == action.end()) continue;
      removed = {*found};
      action.erase(found);
      break;
    }
    std::erase_if(actions_, [](const Action& action) { return action.empty(); });
    if (removed.empty()) return NotFoundError("this pair was not made by hand", kLook);
  }
  for (const IdPair& made : removed) TakeBack(&unit->mutable_index(), made);
  SumUp(&unit->mutable_index(), mode);
  return removed;
}

size_t HandMatches::Restore(const std::vector<NamePairs>& actions, visfile::UnitSource* unit,
                            compare::CompareMode mode) {
  if (actions.empty()) return 0;
  UnitIndex& index = unit->mutable_index();
  std::map<std::string_view, uint32_t> targets;
  std::map<std::string_view, uint32_t> goldens;
  // Only unmatched nodes can be meant, and they are few.
  const auto add_free = [](const SideIndex& side, std::map<std::string_view, uint32_t>* ids) {
    for (uint32_t id = 1; id < side.size(); ++id) {
      if (side.partners[id] == kNoNode) ids->emplace(side.names[id], id);
    }
  };
  add_free(index.target, &targets);
  add_free(index.golden, &goldens);
  size_t left_out = 0;
  for (const NamePairs& names : actions) {
    Action action;
    for (const auto& [target, golden] : names) {
      const auto t = targets.find(target);
      const auto g = goldens.find(golden);
      if (t == targets.end() || g == goldens.end() || !Unmatched(index, {t->second, g->second})) {
        ++left_out;
        continue;
      }
      const IdPair pair{t->second, g->second};
      Apply(&index, pair, Measure(*unit, mode, roots_, pair));
      action.push_back(pair);
    }
    if (!action.empty()) actions_.push_back(std::move(action));
  }
  SumUp(&index, mode);
  return left_out;
}

void HandMatches::ApplyAgain(const std::vector<IdPair>& pairs, visfile::UnitSource* unit,
                             compare::CompareMode mode) {
  for (const IdPair& pair : pairs) {
    Apply(&unit->mutable_index(), pair, verdicts_.at(pair.target));  // as it was measured before
  }
  SumUp(&unit->mutable_index(), mode);
}

std::vector<IdPair> HandMatches::pairs() const {
  std::vector<IdPair> all;
  for (const Action& action : actions_) all.insert(all.end(), action.begin(), action.end());
  return all;
}

std::vector<IdPair> HandMatches::last() const {
  return actions_.empty() ? Action() : actions_.back();
}

HandMatches::NamePairs NamesOf(const std::vector<IdPair>& pairs, const UnitIndex& index) {
  HandMatches::NamePairs names;
  for (const IdPair& pair : pairs) {
    names.emplace_back(index.target.names[pair.target], index.golden.names[pair.golden]);
  }
  return names;
}

const PairVerdict* HandMatches::Find(Side side, uint32_t id, const UnitIndex& index) const {
  const uint32_t target = side == Side::kTarget ? id : index.golden.partners[id];
  const auto found = verdicts_.find(target);
  return found == verdicts_.end() ? nullptr : &found->second;
}

}  // namespace msprobe::viewer
