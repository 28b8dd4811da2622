#include "app/rule_use.h"

#include <map>
#include <string>

#include "base/shortened.h"

namespace msprobe::app {

namespace {

constexpr size_t kNamed = 3;
constexpr size_t kLongest = 200;  // of a pattern, bytes

bool IsUsed(const std::vector<bool>& used, size_t rule) { return rule < used.size() && used[rule]; }

}  // namespace

void RuleUse::Note(const std::vector<bool>& used, std::vector<bool>* all) {
  const std::lock_guard lock(mutex_);
  if (all->size() < used.size()) all->resize(used.size());
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) (*all)[i] = true;
  }
}

void RuleUse::NoteApplied(const std::vector<bool>& applied) { Note(applied, &mapping_); }

void RuleUse::NoteNodes(const compare::ToleranceProfile& profile,
                        const compare::Comparison& comparison) {
  if (profile.rules().empty()) return;
  std::vector<bool> used(profile.rules().size());
  for (size_t id = 0; id < comparison.nodes.size(); ++id) {
    if (comparison.nodes[id].status == compare::NodeStatus::kUnmatched) continue;
    const auto* rule = profile.RuleOf(comparison.target->nodes[id].name);
    if (rule != nullptr) used[static_cast<size_t>(rule - profile.rules().data())] = true;
  }
  Note(used, &tolerance_);
}

void RuleUse::TellUnused(const graph::LayerMapping& mapping, const std::filesystem::path& file,
                         base::Diagnostics* diagnostics) const {
  std::map<size_t, std::string> unused;  // in the order of the file
  for (const auto& [class_name, rules] : mapping.by_class) {
    for (const graph::LayerMapping::Rule& rule : rules) {
      if (IsUsed(mapping_, rule.number)) continue;
      unused[rule.number] =
          "'" + class_name + ": " + rule.target_path + ": " + rule.golden_path + "'";
    }
  }
  for (const auto& [number, rule] : unused) {
    diagnostics->Add(base::DiagnosticKind::kUnusedRule,
                     InvalidArgumentError("the rule " + rule + " fits no pair of modules",
                                          "class and first path are the target's, the second path "
                                          "is the golden side's",
                                          file.string()));
  }
}

void RuleUse::TellUnused(const compare::ToleranceProfile& profile,
                         const std::filesystem::path& file, base::Diagnostics* diagnostics) const {
  std::string named;
  size_t count = 0;
  for (size_t i = 0; i < profile.rules().size(); ++i) {
    if (IsUsed(tolerance_, i)) continue;
    if (++count > kNamed) continue;
    named +=
        (named.empty() ? "'" : ", '") + base::Shortened(profile.rules()[i].pattern, kLongest) + "'";
  }
  if (count == 0) return;
  if (count > kNamed) named += " and " + std::to_string(count - kNamed) + " more";
  diagnostics->Add(base::DiagnosticKind::kUnusedRule,
                   InvalidArgumentError(
                       "rules of the tolerances decide about no matched node: " + named,
                       "patterns are names of the target's nodes; the first rule that fits decides",
                       file.string()));
}

}  // namespace msprobe::app
