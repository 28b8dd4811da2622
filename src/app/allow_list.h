#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "msprobe/status.h"
#include "report/unit_details.h"

namespace msprobe::app {

/// Nodes that are known not to be compared, each with the reason:
///   allow:
///     - name: Module.head.Linear.forward.0
///       reason: the head is not ported yet
///     - name: "*.dropout.*"       # * any text, ? one character
///       reason: dropout is off on this side
class AllowList {
 public:
  struct Entry {
    std::string pattern;
    std::string reason;
  };
  struct Outcome {
    std::vector<const report::NotCompared*> unknown;  ///< no entry says that they may be so
    uint64_t known = 0;
    std::vector<Entry> stale;  ///< entries that nothing needs any more
  };

  /// Errors: NotFound, InvalidArgument (yaml is broken or has another structure; names the line).
  static Result<AllowList> Load(const std::filesystem::path& path);
  /// The same of a text; `path` is for messages.
  static Result<AllowList> Parse(const std::string& text, const std::string& path);

  Outcome Apply(std::span<const report::NotCompared> nodes) const;

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> exact_;  ///< into entries_
  std::vector<size_t> patterns_;                   ///< into entries_
};

}  // namespace msprobe::app
