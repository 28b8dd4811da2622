#pragma once

#include <filesystem>
#include <mutex>
#include <vector>

#include "base/diagnostics.h"
#include "compare/comparison.h"
#include "compare/tolerance.h"
#include "graph/layer_mapping.h"

namespace msprobe::app {

/// Which rules that a person wrote have done something in any unit: a misspelt one would do nothing
/// in silence. Units may tell from several threads.
class RuleUse {
 public:
  /// Rules of a layer mapping, by number.
  void NoteApplied(const std::vector<bool>& applied);
  /// The rules of `profile` that decide about a target node with a partner.
  void NoteNodes(const compare::ToleranceProfile& profile, const compare::Comparison& comparison);

  void TellUnused(const graph::LayerMapping& mapping, const std::filesystem::path& file,
                  base::Diagnostics* diagnostics) const;
  /// One line for all of them: what was learned of many ranks may be meant for others.
  void TellUnused(const compare::ToleranceProfile& profile, const std::filesystem::path& file,
                  base::Diagnostics* diagnostics) const;

 private:
  void Note(const std::vector<bool>& used, std::vector<bool>* all);

  std::mutex mutex_;
  std::vector<bool> mapping_;
  std::vector<bool> tolerance_;
};

}  // namespace msprobe::app
