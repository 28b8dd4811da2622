#pragma once

#include <cstddef>
#include <filesystem>

namespace msprobe::base {

/// Files that must not outlive the process, for the case that a signal ends it at once.
inline constexpr size_t kNoTemporaryFile = SIZE_MAX;

/// Remembers `path` until ForgetTemporaryFile; kNoTemporaryFile if it is too long, or if too many
/// are remembered already.
size_t RememberTemporaryFile(const std::filesystem::path& path);
void ForgetTemporaryFile(size_t slot);

/// True once RemoveTemporaryFiles() has begun: no further one may be created.
bool TemporaryFilesEnd();

/// Removes them all, for a process that ends now. Safe in a signal handler.
void RemoveTemporaryFiles();

}  // namespace msprobe::base
