#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/diagnostics.h"
#include "compare/comparison.h"
#include "compare/first_divergence.h"
#include "graph/graph.h"
#include "msprobe/status.h"

namespace msprobe::visfile {

/// What is written of one rank in one step: a comparison, or a single graph (`comparison` null).
struct VisContent {
  const compare::Comparison* comparison = nullptr;
  const compare::DivergenceReport* divergences = nullptr;  ///< may be null
  const graph::Graph* single = nullptr;
  std::optional<int64_t> step = std::nullopt;
  std::optional<int64_t> rank = std::nullopt;
  bool overflow_check = false;
  bool complete_stack = false;
  /// Told of records of `single` that cannot be read (a comparison has told of its own); may be
  /// null.
  base::Diagnostics* diagnostics = nullptr;
};

struct WriteOptions {
  size_t threads = 1;
  const base::CancelToken* cancel = nullptr;
};

/// Writes one `.vis`, mode 0640, complete or not at all. Never overwrites: on a clash "_1", "_2" …
/// goes before the suffix. Returns the path written.
Result<std::filesystem::path> WriteVis(const VisContent& content, const std::filesystem::path& path,
                                       const WriteOptions& options);

/// One `.vis.db` for all ranks and steps. Add() calls may come in any order but one at a time.
/// Without Finish() nothing is left behind.
class VisDbWriter {
 public:
  static Result<std::unique_ptr<VisDbWriter>> Create(const std::filesystem::path& path,
                                                     const WriteOptions& options);
  virtual ~VisDbWriter() = default;
  virtual Status Add(const VisContent& content) = 0;
  virtual Result<std::filesystem::path> Finish() = 0;
};

}  // namespace msprobe::visfile
