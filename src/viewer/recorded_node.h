#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "msprobe/status.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// A recorded value, by place ("input.0"), as the node's `.vis` object has it.
struct RecordedValue {
  std::string key;
  std::string section;                                      ///< "input", "output", "parameter"
  std::vector<std::pair<std::string, std::string>> fields;  ///< in file order
  std::string ulps;  ///< how many elements are how many units in the last place apart: "0:20 1:3"
  const std::string* Find(std::string_view field) const;
};

/// What a file keeps of one node.
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

/// True for what a side recorded of a value; every other field of a target value is a metric.
bool IsRecordedField(std::string_view field);

/// Parses a node's object; `name` is the node's.
Result<RecordedNode> ParseNode(std::string json, std::string_view name);
Result<RecordedNode> ReadNode(const visfile::UnitSource& unit, visfile::Side side, uint32_t id);

/// Shape of the node's first output as the file has it ("[2, 8]"), empty if it has none.
std::string OutputShape(const visfile::UnitSource& unit, visfile::Side side, uint32_t id);

}  // namespace msprobe::viewer
