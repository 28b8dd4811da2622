#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json/json_writer.h"
#include "msprobe/status.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// Shape of the node's first output as the file has it ("[2, 8]"), empty if it has none.
std::string OutputShape(const visfile::UnitSource& unit, visfile::Side side, uint32_t id);

/// The object Detail of docs/viewer-api.md. `unit_of_rank` says which unit holds the same step of
/// another rank; -1: none.
Status WriteDetail(const visfile::UnitSource& unit, visfile::Side side, uint32_t id,
                   const std::function<int64_t(int64_t rank)>& unit_of_rank,
                   formats::JsonWriter* json);

/// Recorded values of one node, by place ("input.0"), as its `.vis` object has them.
struct RecordedValue {
  std::string key;
  std::string section;                                      ///< "input", "output", "parameter"
  std::vector<std::pair<std::string, std::string>> fields;  ///< in file order
  const std::string* Find(std::string_view field) const;
};
struct RecordedNode {
  std::vector<RecordedValue> values;
  std::vector<std::string> stack;
  std::string reason;
  struct Peer {
    std::string rank;
    std::string name;
  };
  std::vector<Peer> peers;  ///< the same collective on other ranks
};
Result<RecordedNode> ReadNode(const visfile::UnitSource& unit, visfile::Side side, uint32_t id);

}  // namespace msprobe::viewer
