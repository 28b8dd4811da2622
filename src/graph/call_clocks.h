#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msprobe::graph {

/// One rank's part in a communication.
struct CallEntry {
  uint32_t position = 0;  ///< on that rank, in the order in which nodes are left
  size_t call = 0;        ///< number of the communication
};

/// How many communications, waiting for each other, lie before each.
struct CallClocks {
  std::vector<uint32_t> clocks;  ///< by call
  bool contradictory = false;    ///< the ranks disagree about the order of their communication
};

/// `entries`: by rank, sorted by position; calls at one position (a batch) do not wait for each
/// other.
CallClocks ClockCalls(const std::vector<std::vector<CallEntry>>& entries, size_t calls);

/// The communications, waiting for each other, that a rank has been through at that position.
uint32_t ClockAt(const std::vector<CallEntry>& entries, const CallClocks& clocks,
                 uint32_t position);

}  // namespace msprobe::graph
