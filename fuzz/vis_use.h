#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "formats/json/json_writer.h"
#include "viewer/answers.h"
#include "viewer/node_detail.h"
#include "visfile/vis_source.h"

namespace msprobe::fuzz {

/// A file in memory, written anew for every case.
inline const std::filesystem::path& ScratchFile(const char* name) {
  static const std::filesystem::path file = [name] {
    std::string pattern = "/dev/shm/msprobe_fuzz_XXXXXX";
    return std::filesystem::path(::mkdtemp(pattern.data())) / name;
  }();
  return file;
}

inline void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// What is promised of every index: ids in range, each node once in the order, parents first.
inline void CheckSide(const visfile::SideIndex& side, size_t partners) {
  const size_t count = side.size();
  if (side.order.size() != count || side.position.size() != count) std::abort();
  for (uint32_t at = 0; at < count; ++at) {
    const uint32_t id = side.order[at];
    if (id >= count || side.position[id] != at) std::abort();
    const uint32_t parent = side.parents[id];
    if (id == 0 ? parent != graph::kNoNode : side.position[parent] >= at) std::abort();
    if (side.partners[id] != graph::kNoNode && side.partners[id] >= partners) std::abort();
  }
}

/// Shows everything of a unit as the viewer does.
inline void ShowUnit(const visfile::UnitSource& unit) {
  const visfile::UnitIndex& index = unit.index();
  CheckSide(index.target, index.golden.size());
  CheckSide(index.golden, index.target.size());
  constexpr uint32_t kMaxNodes = 200;
  for (const visfile::Side which : {visfile::Side::kTarget, visfile::Side::kGolden}) {
    for (uint32_t id = 0; id < index.side(which).size() && id < kMaxNodes; ++id) {
      std::string text;
      formats::JsonWriter json(&text);
      (void)viewer::WriteDetail(
          unit, which, id, [](int64_t) { return int64_t{-1}; }, nullptr, &json)
          .ok();
    }
  }
}

inline void ShowFile(const Result<std::unique_ptr<visfile::VisSource>>& source) {
  if (!source.ok()) return;
  for (size_t i = 0; i < (*source)->units().size() && i < 8; ++i) {
    const auto unit = (*source)->LoadUnit(i, {});
    if (unit.ok()) ShowUnit(**unit);
  }
}

}  // namespace msprobe::fuzz
