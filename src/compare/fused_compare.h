#pragma once

#include "compare/comparison.h"

namespace msprobe::compare {

/// Projections that one side makes at once and the other in parts have no partner; but the largest,
/// the smallest, the mean and the norm of a concatenation follow from those of its parts. Adds to
/// the reason of the group's nodes how far the two sides are apart, by their statistics, in every
/// mode that has some.
void CompareFusedGroups(Comparison* comparison);

}  // namespace msprobe::compare
