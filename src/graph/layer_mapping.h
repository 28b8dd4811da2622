#pragma once

#include <string>

#include "graph/match.h"

namespace msprobe::graph {

/// The text of a layer mapping file; `path` is for messages only.
Result<LayerMapping> ParseLayerMapping(const std::string& text, const std::string& path);

}  // namespace msprobe::graph
