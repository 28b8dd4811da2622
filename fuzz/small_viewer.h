#pragma once

#include <memory>

#include "viewer/api_fixture.h"
#include "viewer/viewer_api.h"

namespace msprobe::fuzz {

/// A viewer of a directory with one file of each format, which lives as long as the process.
inline viewer::ViewerApi& SmallViewer() {
  static const auto api = [] {
    static const viewer::fixture::ScratchDirectory directory;
    const viewer::fixture::SmallComparison small(compare::CompareMode::kStatistics, true);
    viewer::fixture::WriteVis(small, directory.path() / "a.vis");
    viewer::fixture::WriteDb(small, directory.path() / "b.vis.db", 2);
    auto made = viewer::ViewerApi::Create(directory.path(), {.allow_saving = false});
    return std::move(made).value();
  }();
  return *api;
}

}  // namespace msprobe::fuzz
