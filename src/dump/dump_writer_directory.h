#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "msprobe/status.h"

namespace msprobe::dump {

/// <dump_path>/step<N>/rank<R>, or proc<PID> of this process.
std::filesystem::path UnitDirectory(const std::string& dump_path, int64_t step,
                                    std::optional<int64_t> rank);

/// Creates the directory of one unit. Files of an earlier run are removed with `overwrite`, else
/// an InvalidArgument error.
Status ClaimDirectory(const std::filesystem::path& directory, bool overwrite);

}  // namespace msprobe::dump
