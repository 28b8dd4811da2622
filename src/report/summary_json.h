#pragma once

#include <span>
#include <string>

#include "formats/json/json_writer.h"
#include "report/first_places.h"
#include "report/unit_summary.h"

namespace msprobe::report {

/// The counts of all units together, as one object.
void WriteTotals(std::span<const UnitSummary> units, formats::JsonWriter* json);

/// One node with its step and rank.
void WritePlaced(const PlacedNode& placed, formats::JsonWriter* json);

/// The closing summary as one JSON object: schema/graph_summary.schema.json.
std::string SummaryJson(std::span<const UnitSummary> units, double seconds, int exit_code);

}  // namespace msprobe::report
