#pragma once

#include <string>
#include <string_view>

#include "msprobe/status.h"

namespace msprobe::server {

/// The page with its style, its script and `data` (JSON) inside: one file that needs no server.
/// Errors: Unsupported (built without the front end).
Result<std::string> RenderReport(std::string_view data);

}  // namespace msprobe::server
