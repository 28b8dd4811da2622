#pragma once

#include "compare/comparison.h"

namespace msprobe::report {

/// True for a value that one side did not record, or that has no partner: not wrong, but nobody
/// knows. (Tensors that neither side has values of are no loss; unreadable ones are counted apart.)
bool IsLeftOut(const compare::Comparison& comparison, const compare::ValueResult& value);
/// The same for a node as a whole.
bool IsLeftOut(const compare::Comparison& comparison, const compare::NodeResult& node);

}  // namespace msprobe::report
