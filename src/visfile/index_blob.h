#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/string_arena.h"
#include "msprobe/status.h"
#include "visfile/unit_index.h"

namespace msprobe::visfile {

/// The arrays of a SideIndex as bytes, in pieces: reading them is many times faster than reading a
/// row for each node. Little endian; made and read by the same versions only, see kIndexVersion.
inline constexpr uint32_t kIndexVersion = 1;

using TakePiece = std::function<Status(std::string_view piece)>;
/// The next piece; empty at the end.
using NextPiece = std::function<Result<std::string_view>()>;

/// `side` must be complete.
Status WriteIndexBlob(const SideIndex& side, const TakePiece& take);

/// Reads what WriteIndexBlob wrote; names go to `arena`. The caller completes the index.
/// `total_bytes` of all pieces bounds what a damaged count can make it allocate. Errors: Corrupt.
Status ReadIndexBlob(const NextPiece& next, uint64_t total_bytes, SideIndex* side,
                     base::StringArena* arena);

}  // namespace msprobe::visfile
