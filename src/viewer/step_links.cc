#include "viewer/step_links.h"

namespace msprobe::viewer {

void StepLinks::Add(size_t number, int64_t rank, const graph::Graph* target,
                    const graph::Graph* golden) {
  const std::lock_guard lock(mutex_);
  Rank& known = ranks_[number];
  if (known.known) return;
  known.known = true;
  --missing_;
  known.target = target_.Add(*target, rank);
  if (golden != nullptr) known.golden = golden_.Add(*golden, rank);
}

void StepLinks::Skip(size_t number) {
  const std::lock_guard lock(mutex_);
  if (ranks_[number].known) return;
  ranks_[number].known = true;
  --missing_;
}

bool StepLinks::Link(size_t number, graph::Graph* target, graph::Graph* golden) const {
  const std::lock_guard lock(mutex_);
  if (missing_ > 0) return false;
  const Rank& rank = ranks_[number];
  if (rank.target) target_.Link(*rank.target, target);
  if (rank.golden) golden_.Link(*rank.golden, golden);
  return true;
}

}  // namespace msprobe::viewer
