#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/rank_chain.h"
#include "report/unit_details.h"
#include "report/unit_summary.h"

namespace msprobe::report {

/// Tells one rank what all ranks of its step know of its origins: whose error a collective brought,
/// and when what happened. `rank_numbers`: by number of the trace.
void TellOrigins(std::span<const compare::RankOrigin> origins,
                 std::span<const int64_t> rank_numbers, UnitSummary* summary, UnitDetails* details);

}  // namespace msprobe::report
