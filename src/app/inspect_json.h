#pragma once

#include <string>
#include <vector>

#include "app/inspect.h"

namespace msprobe::app {

/// The report of `msprobe inspect --json`: schema/inspect.schema.json.
std::string InspectJson(const std::vector<UnitReport>& units);

}  // namespace msprobe::app
