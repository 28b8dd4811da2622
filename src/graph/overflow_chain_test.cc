#include "graph/overflow_chain.h"

#include <gtest/gtest.h>

#include <vector>

namespace msprobe::graph {
namespace {

constexpr NodeId kReduce = 5;

/// A rank with one collective at position 5 and, if not 0, something of its own before it.
OverflowScan Scan(uint32_t own_position, bool sends) {
  OverflowScan scan;
  scan.communication.push_back({kReduce, 5, sends});
  OverflowEvent event;
  event.output = Finiteness::kNaN;
  if (own_position > 0) {
    event.position = own_position;
    event.name = "Torch.exp.0.forward";
  } else {
    event.node = kReduce;
    event.position = 5;
    event.is_collective = true;
    event.name = "Distributed.all_reduce.0.forward";
  }
  scan.events.push_back(event);
  return scan;
}

LinkedCall Call(CollectivePattern pattern, size_t root = LinkedCall::kNoRoot) {
  LinkedCall call;
  call.name = "Distributed.all_reduce.0.forward";
  call.pattern = pattern;
  call.root = root;
  call.members = {{0, kReduce}, {1, kReduce}, {2, kReduce}};
  return call;
}

TEST(OverflowChain, SourceComesBeforeDestination) {
  const std::vector<OverflowScan> scans = {Scan(0, false), Scan(3, true), Scan(0, false)};
  const std::vector<int64_t> ranks = {0, 1, 2};
  const OverflowChain chain = ChainOverflow(scans, ranks, {Call(CollectivePattern::kAllToAll)});
  ASSERT_EQ(chain.origins.size(), 1U);
  EXPECT_EQ(chain.ranks[chain.origins[0]].rank, 1);
  EXPECT_EQ(chain.ranks[chain.origins[0]].reached, 2U);
  ASSERT_EQ(chain.hops.size(), 1U);
  EXPECT_EQ(chain.hops[0].from, 1);
  EXPECT_EQ(chain.hops[0].to, (std::vector<int64_t>{0, 2}));
  EXPECT_FALSE(chain.contradictory);
}

TEST(OverflowChain, OnlyTheRootOfABroadcastSends) {
  const std::vector<OverflowScan> scans = {Scan(0, false), Scan(3, true), Scan(0, false)};
  const std::vector<int64_t> ranks = {0, 1, 2};
  const OverflowChain chain = ChainOverflow(scans, ranks, {Call(CollectivePattern::kOneToAll, 0)});
  EXPECT_EQ(chain.hops.size(), 0U);
  EXPECT_EQ(chain.origins.size(), 3U);
}

TEST(OverflowChain, ReceivedFromARankThatWasNotDumped) {
  const std::vector<OverflowScan> scans = {Scan(0, false)};
  const std::vector<int64_t> ranks = {4};
  LinkedCall call = Call(CollectivePattern::kAllToAll);
  call.members = {{0, kReduce}};
  const OverflowChain chain = ChainOverflow(scans, ranks, {call});
  ASSERT_EQ(chain.ranks.size(), 1U);
  EXPECT_EQ(chain.ranks[0].origin, OverflowOrigin::kReceivedUnknown);
}

TEST(OverflowChain, ACircleIsCutAndSaid) {
  std::vector<OverflowScan> scans(2);
  for (size_t rank = 0; rank < 2; ++rank) {
    OverflowScan& scan = scans[rank];
    scan.communication = {{1, 1, false}, {2, 2, true}};
    OverflowEvent event;
    event.node = 1;
    event.position = 1;
    event.output = Finiteness::kNaN;
    event.is_collective = true;
    scan.events.push_back(event);
  }
  LinkedCall one = Call(CollectivePattern::kAllToAll);
  one.members = {{0, 1}, {1, 2}};
  LinkedCall other = Call(CollectivePattern::kAllToAll);
  other.members = {{0, 2}, {1, 1}};
  const std::vector<int64_t> ranks = {0, 1};
  const OverflowChain chain = ChainOverflow(scans, ranks, {one, other});
  EXPECT_TRUE(chain.contradictory);
  EXPECT_EQ(chain.ranks.size(), 2U);
  EXPECT_EQ(chain.origins.size(), 1U);
}

}  // namespace
}  // namespace msprobe::graph
