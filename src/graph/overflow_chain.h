#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/collective_linker.h"
#include "graph/overflow_scan.h"

namespace msprobe::graph {

/// Why a rank has values that are not finite.
enum class OverflowOrigin : uint8_t {
  kComputed,         ///< a node made them out of finite ones
  kInput,            ///< they were in the data when the first recorded node took them
  kBackward,         ///< they were in the gradients that the first recorded backward took
  kWeights,          ///< they were in the parameters
  kReceived,         ///< another rank sent them
  kReceivedUnknown,  ///< a communication brought them, from ranks that were not dumped or not
                     ///< recorded
};
std::string_view OverflowOriginText(OverflowOrigin origin);  // "computed", "input data" …

/// How the overflow came to one rank.
struct RankOverflow {
  int64_t rank = 0;
  OverflowOrigin origin = OverflowOrigin::kComputed;
  OverflowEvent first;
  uint32_t clock = 0;      ///< how many communications, one waiting for the other, lie before it
  int64_t from_rank = -1;  ///< kReceived
  std::string through;     ///< kReceived…: the communication on this rank
  std::vector<int64_t> not_dumped;  ///< kReceivedUnknown: ranks that took part in `through`
  uint64_t reached = 0;             ///< other ranks that have it from here, directly or not
};

/// One communication that carried it on.
struct OverflowHop {
  std::string through;
  int64_t from = 0;
  std::vector<int64_t> to;
  uint32_t clock = 0;
};

struct OverflowChain {
  std::vector<RankOverflow> ranks;  ///< those with an overflow, in the order in which it came
  std::vector<size_t> origins;      ///< of `ranks`: not received from another; the first is first
  std::vector<OverflowHop> hops;    ///< of ranks[origins[0]], source before destination
  bool contradictory = false;       ///< the ranks disagree about the order of their communication
};

/// Orders what the ranks say by their communication: whoever sends comes before who receives.
/// `calls` number the ranks as `scans` and `rank_numbers` do.
OverflowChain ChainOverflow(std::span<const OverflowScan> scans,
                            std::span<const int64_t> rank_numbers,
                            const std::vector<LinkedCall>& calls);

}  // namespace msprobe::graph
