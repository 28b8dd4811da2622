#pragma once

#include <string>
#include <string_view>

#include "report/print.h"
#include "report/unit_details.h"

namespace msprobe::report {

/// "error in 0, out 0.25" after `lead`; nothing where no error was measured (without a partner, or
/// with equal outputs), which the reason tells.
inline void AppendErrors(std::string_view lead, const DivergedNode& node, std::string* out) {
  if (node.error_in == 0 && node.error_out == 0) return;
  out->append(lead).append("error in ").append(ShortNumber(node.error_in));
  out->append(", out ").append(ShortNumber(node.error_out));
}

}  // namespace msprobe::report
