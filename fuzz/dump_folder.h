#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "dump/rank_dump.h"

namespace msprobe::fuzz {

/// A folder in memory for the files of one dump.
inline const std::filesystem::path& DumpFolder() {
  static const std::filesystem::path folder = [] {
    std::string pattern = "/dev/shm/msprobe_fuzz_XXXXXX";
    return std::filesystem::path(::mkdtemp(pattern.data()));
  }();
  return folder;
}

inline void WriteDumpFile(const char* name, std::string_view text) {
  std::ofstream(DumpFolder() / name, std::ios::binary) << text;
}

/// Opens the dump and reads all of it.
inline void ReadWholeDump() {
  base::Diagnostics diagnostics;
  auto opened = dump::RankDump::Open(DumpFolder(), {.need_construct = false}, &diagnostics);
  if (!opened.ok()) return;
  const dump::RankDump& dump = **opened;
  dump::Record record;
  for (dump::EntryId entry = 0; entry < dump.entry_count(); ++entry) {
    if (dump.Find(dump.entry_name(entry)) != entry) std::abort();
    if (!dump.Read(entry, &record).ok()) continue;
    for (const dump::Value& value : record.values) {
      if (value.shape_begin + value.shape_size > record.extents.size()) std::abort();
      if (!value.data_name.empty()) (void)dump.TensorPath(value.data_name).ok();
    }
  }
  for (const dump::ConstructEdge& edge : dump.construct()) {
    (void)dump.StackFrames(dump.FindStack(edge.child));
    (void)dump.StackFrames(dump.FindStack(edge.parent));
  }
}

}  // namespace msprobe::fuzz
