#include "report/rank_origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace msprobe::report {
namespace {

using compare::RankOrigin;
using compare::Role;
using testing::HasSubstr;

constexpr graph::NodeId kReduce = 5, kAdd = 6, kOther = 7;
constexpr int64_t kNumbers[] = {3, 8};

DivergedNode Diverged(graph::NodeId id, Role role, graph::NodeId culprit = graph::kNoNode) {
  DivergedNode node;
  node.name = "node " + std::to_string(id);
  node.id = id;
  node.rank = 3;
  node.role = role;
  node.culprit_id = culprit;
  if (culprit != graph::kNoNode) node.culprit = "node " + std::to_string(culprit);
  return node;
}

ListedNode Listed(graph::NodeId id, Role role) {
  ListedNode node;
  node.name = "node " + std::to_string(id);
  node.id = id;
  node.role = role;
  return node;
}

/// A rank with a collective, what follows it, and a culprit after both.
class RankOrigins : public testing::Test {
 protected:
  RankOrigins() {
    details_.victims = {Diverged(kReduce, Role::kCollective),
                        Diverged(kAdd, Role::kVictim, kReduce)};
    details_.culprits = {Diverged(kOther, Role::kCulprit)};
    summary_.collectives = {Listed(kReduce, Role::kCollective)};
    summary_.culprits = {Listed(kOther, Role::kCulprit)};
    summary_.culprit_count = 1;
    origins_.resize(2);
    origins_[0].node = kReduce;
    origins_[0].role = Role::kCollective;
    origins_[0].clock = 1;
    origins_[1].node = kOther;
    origins_[1].role = Role::kCulprit;
    origins_[1].clock = 2;
  }
  void Tell() { TellOrigins(origins_, kNumbers, &summary_, &details_); }

  std::vector<RankOrigin> origins_;
  UnitSummary summary_;
  UnitDetails details_;
};

TEST_F(RankOrigins, VictimsOfACollectiveAreThoseOfTheOtherRanksCulprit) {
  origins_[0].from_rank = 1;
  origins_[0].culprit = "there";
  origins_[0].reason = "rank 8 puts in what differs";
  Tell();
  ASSERT_EQ(details_.victims.size(), 2U);
  for (const DivergedNode& node : details_.victims) {
    EXPECT_EQ(node.culprit, "there");
    EXPECT_EQ(node.culprit_rank, 8);
  }
  EXPECT_EQ(details_.victims[0].reason, "rank 8 puts in what differs");
  EXPECT_EQ(details_.culprits[0].clock, 2U);
  EXPECT_EQ(summary_.culprits[0].clock, 2U);
  EXPECT_EQ(summary_.culprit_count, 1U);
}

TEST_F(RankOrigins, ACollectiveThatNothingExplainsIsACulpritAtItsPlace) {
  origins_[0].role = Role::kCulprit;
  origins_[0].reason = "what all its ranks put in agrees";
  Tell();
  ASSERT_EQ(details_.culprits.size(), 2U);
  EXPECT_EQ(details_.culprits[0].id, kReduce);
  EXPECT_EQ(details_.culprits[0].clock, 1U);
  ASSERT_EQ(details_.victims.size(), 1U);
  EXPECT_EQ(details_.victims[0].culprit, "node 5");
  EXPECT_EQ(summary_.culprit_count, 2U);
  ASSERT_EQ(summary_.culprits.size(), 2U);
  EXPECT_EQ(summary_.culprits[0].id, kReduce);
  EXPECT_TRUE(summary_.collectives.empty());
}

TEST_F(RankOrigins, TheFirstDifferenceSaysWhereItCameFrom) {
  summary_.culprits.clear();
  summary_.first_difference = Listed(kReduce, Role::kCollective);
  origins_[0].from_rank = 1;
  origins_[0].culprit = "there";
  origins_[0].reason = "rank 8 puts in what differs";
  Tell();
  ASSERT_TRUE(summary_.first_difference.has_value());
  EXPECT_THAT(summary_.first_difference->reason, HasSubstr("rank 8"));
  EXPECT_THAT(summary_.first_difference->reason, HasSubstr("from there"));
}

}  // namespace
}  // namespace msprobe::report
