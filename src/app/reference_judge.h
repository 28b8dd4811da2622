#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "compare/first_divergence.h"
#include "compare/tolerance.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "msprobe/status.h"

namespace msprobe::app {

/// A run in high precision beside a target and a golden side of the same lower one.
struct ThreeRuns {
  std::shared_ptr<graph::Graph> target;
  std::shared_ptr<graph::Graph> golden;
  std::shared_ptr<graph::Graph> reference;
};

/// Matches and compares the graphs of two of the runs. `map_names`: by the layer mapping, which
/// leads from the target's names to golden's; the reference has golden's names.
using ComparePair = std::function<Result<compare::Comparison>(
    const std::shared_ptr<graph::Graph>& target, const std::shared_ptr<graph::Graph>& golden,
    bool map_names)>;

/// What golden is off from the reference is the error that its precision makes: the target's node
/// that `match` pairs with golden's may be off a few times as far. `rules` of the user come first.
/// Errors: InvalidArgument for runs of checksums and for a reference that pairs with nothing, those
/// of `compare`.
Result<compare::DivergenceReport> JudgeByReference(const ThreeRuns& runs, const graph::Match& match,
                                                   const compare::ToleranceProfile& rules,
                                                   size_t threads, const ComparePair& compare_pair);

}  // namespace msprobe::app
