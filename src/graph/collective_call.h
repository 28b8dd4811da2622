#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dump/record.h"
#include "graph/node_name.h"

namespace msprobe::graph {

enum class CollectivePattern : uint8_t {
  kAllToAll,     ///< everybody sends and receives
  kOneToAll,     ///< broadcast, scatter: `root` sends
  kAllToOne,     ///< reduce, gather: `root` receives
  kPointToPoint  ///< send, recv and batches of them
};

/// One send or receive of a point-to-point call.
struct Transfer {
  int64_t peer = -1;  ///< rank on the other end; -1: not recorded (recv from anybody)
  bool is_send = false;
};

/// What the record of a distributed API says about its partners.
struct CollectiveCall {
  CollectivePattern pattern = CollectivePattern::kAllToAll;
  std::string group;           ///< equal on all members; empty: the default group
  std::vector<int64_t> ranks;  ///< members; empty: not recorded
  int64_t root = -1;
  std::vector<Transfer> transfers;  ///< kPointToPoint
};

/// True for forward calls of Distributed.* and MintDistributed.*.
bool IsCollective(const NodeName& name);

CollectiveCall ReadCollectiveCall(const NodeName& name, const dump::Record& record);

}  // namespace msprobe::graph
