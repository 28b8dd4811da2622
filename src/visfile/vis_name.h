#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msprobe::visfile {

/// What the name of a `.vis` says: "compare_step0_rank3_20260101120000.vis". Files of one run
/// differ only in step and rank.
struct VisName {
  std::string group;  ///< the name with stars for the numbers; empty: neither step nor rank
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
};
VisName ParseVisName(std::string_view name);

}  // namespace msprobe::visfile
