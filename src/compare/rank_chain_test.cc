#include "compare/rank_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msprobe::compare {
namespace {

using graph::CollectivePattern;
using graph::LinkedCall;
using testing::HasSubstr;

constexpr graph::NodeId kFirstOp = 1, kReduce = 2, kSecondOp = 3, kSecondReduce = 4;
constexpr int64_t kNumbers[] = {4, 7, 9};

/// Two ranks or more, which run: op, all-reduce, op, all-reduce.
class RankChain : public testing::Test {
 protected:
  explicit RankChain(size_t ranks = 2) : traces_(ranks) {
    for (RankTrace& trace : traces_) {
      trace.communications = {{kReduce, 2, true, false, 0, graph::kNoNode},
                              {kSecondReduce, 4, true, false, 0, graph::kNoNode}};
    }
    for (const graph::NodeId node : {kReduce, kSecondReduce}) {
      LinkedCall& call = calls_.emplace_back();
      for (size_t rank = 0; rank < ranks; ++rank) call.members.push_back({rank, node});
      call.all_dumped = true;
    }
  }

  void Origin(size_t rank, graph::NodeId node, Role role, double error_in = 0) {
    traces_[rank].origins.push_back(
        {node, node, role, error_in, 1, "node " + std::to_string(node)});
  }
  /// What the rank puts into the call comes from `origin`.
  void Takes(size_t rank, graph::NodeId call, graph::NodeId origin) {
    RankTrace::Communication& one = traces_[rank].communications[call == kReduce ? 0 : 1];
    one.takes_error = true;
    one.error_in = 1;
    one.origin = origin;
  }
  std::vector<std::vector<RankOrigin>> Chain() const {
    return ChainRanks(traces_, {kNumbers, traces_.size()}, calls_);
  }

  std::vector<RankTrace> traces_;
  std::vector<LinkedCall> calls_;
};

class ThreeRanks : public RankChain {
 protected:
  ThreeRanks() : RankChain(3) {}
};

TEST_F(RankChain, CollectiveNamesTheRankThatPutTheErrorIn) {
  Origin(1, kFirstOp, Role::kCulprit);
  Takes(1, kReduce, kFirstOp);
  Origin(0, kReduce, Role::kCollective);
  const auto ranks = Chain();
  EXPECT_EQ(ranks[0][0].role, Role::kCollective);
  EXPECT_EQ(ranks[0][0].from_rank, 1U);
  EXPECT_EQ(ranks[0][0].culprit, "node 1");
  EXPECT_THAT(ranks[0][0].reason, HasSubstr("rank 7 puts in what differs"));
  EXPECT_EQ(ranks[1][0].from_rank, kNoRank);
  EXPECT_EQ(ranks[1][0].role, Role::kCulprit);
}

TEST_F(RankChain, CollectiveIsTheCulpritIfAllPutInWhatAgrees) {
  Origin(0, kReduce, Role::kCollective);
  Origin(1, kReduce, Role::kCollective);
  for (const auto& rank : Chain()) {
    EXPECT_EQ(rank[0].role, Role::kCulprit);
    EXPECT_EQ(rank[0].clock, 0U);
  }
}

TEST_F(RankChain, NobodyIsBlamedWhereARankIsMissing) {
  Origin(0, kReduce, Role::kCollective);
  calls_[0].all_dumped = false;
  EXPECT_EQ(Chain()[0][0].role, Role::kCollective);
  EXPECT_THAT(Chain()[0][0].reason, HasSubstr("if others took part"));
}

TEST_F(RankChain, NobodyIsBlamedForWhatWasNotCompared) {
  Origin(0, kReduce, Role::kCollective);
  traces_[1].communications[0].compared = false;
  EXPECT_EQ(Chain()[0][0].role, Role::kCollective);
}

TEST_F(RankChain, RoundingInWhatGoesInMayExplainWhatComesOut) {
  Origin(0, kReduce, Role::kCollective);
  traces_[1].communications[0].error_in = 0.5;
  EXPECT_EQ(Chain()[0][0].role, Role::kCollective);
}

TEST_F(RankChain, ClockCountsTheCommunicationsBefore) {
  Origin(0, kSecondOp, Role::kCulprit);
  Origin(1, kFirstOp, Role::kCulprit);
  const auto ranks = Chain();
  EXPECT_EQ(ranks[0][0].clock, 1U);
  EXPECT_EQ(ranks[1][0].clock, 0U);
}

TEST_F(RankChain, LateArrivalsCameWithTheCallBefore) {
  Origin(1, kFirstOp, Role::kCulprit);
  Takes(1, kReduce, kFirstOp);
  Origin(0, kSecondOp, Role::kUndecidable, 1);
  const auto ranks = Chain();
  EXPECT_EQ(ranks[0][0].role, Role::kVictim);
  EXPECT_EQ(ranks[0][0].culprit, "node 1");
}

TEST_F(RankChain, LateArrivalsCameFromTheOtherWhereBothPutSomethingIn) {
  for (const size_t rank : {0, 1}) {
    Origin(rank, kFirstOp, Role::kCulprit);
    Takes(rank, kReduce, kFirstOp);
    Origin(rank, kSecondOp, Role::kUndecidable, 1);
  }
  const auto ranks = Chain();
  for (const size_t rank : {0, 1}) {
    EXPECT_EQ(ranks[rank][1].role, Role::kVictim);
    EXPECT_EQ(ranks[rank][1].from_rank, 1 - rank);
  }
}

TEST_F(ThreeRanks, ErrorsAreFollowedOverRanksThatHandThemOn) {
  // 2 → 1 by a send, 1 → 0 by the second all-reduce.
  calls_[0] = {.name = "recv",
               .pattern = CollectivePattern::kPointToPoint,
               .members = {{2, kReduce}, {1, kReduce}},
               .not_dumped = {},
               .all_dumped = true};
  calls_[1].members = {{0, kSecondReduce}, {1, kSecondReduce}};
  Origin(2, kFirstOp, Role::kCulprit);
  Takes(2, kReduce, kFirstOp);
  Origin(1, kReduce, Role::kCollective);
  Takes(1, kSecondReduce, kReduce);
  Origin(0, kSecondReduce, Role::kCollective);
  const auto ranks = Chain();
  EXPECT_THAT(ranks[0][0].reason, HasSubstr("rank 7"));  // who handed it on
  EXPECT_EQ(ranks[0][0].from_rank, 2U);                  // where it began
  EXPECT_EQ(ranks[0][0].culprit, "node 1");
}

TEST_F(ThreeRanks, OnlyTheRootOfABroadcastSends) {
  calls_[0].pattern = CollectivePattern::kOneToAll;
  calls_[0].root = 1;
  Origin(2, kFirstOp, Role::kCulprit);
  Takes(2, kReduce, kFirstOp);
  Origin(0, kReduce, Role::kCollective);
  EXPECT_EQ(Chain()[0][0].from_rank, kNoRank);
  Takes(1, kReduce, graph::kNoNode);
  EXPECT_EQ(Chain()[0][0].from_rank, 1U);
  EXPECT_EQ(Chain()[0][0].culprit, "");
}

TEST_F(RankChain, RanksThatContradictThemselvesEnd) {
  Origin(0, kReduce, Role::kCollective);
  Origin(1, kReduce, Role::kCollective);
  Takes(0, kReduce, kReduce);
  Takes(1, kReduce, kReduce);
  EXPECT_NE(Chain()[0][0].from_rank, kNoRank);
}

}  // namespace
}  // namespace msprobe::compare
