#include "coordinator/core/host_votes.h"

#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

constexpr WorkerId At(int task) { return {.slice = 0, .task = task}; }

TEST(HostVotesTest, EachHostHasOneVote) {
  HostVotes votes;
  votes.Join(At(0), "10.0.0.1");
  for (int task = 1; task < 5; ++task) votes.Join(At(task), "10.0.0.2");
  EXPECT_DOUBLE_EQ(votes.All(), 2);
  EXPECT_DOUBLE_EQ(votes.PartOf(At(0)), 1);
  EXPECT_DOUBLE_EQ(votes.PartOf(At(3)), 0.25);
  // The worker's agent comes back, from another host.
  votes.Join(At(3), "10.0.0.1");
  EXPECT_DOUBLE_EQ(votes.PartOf(At(3)), 0.5);
  votes.Leave(At(3));
  votes.Leave(At(3));
  EXPECT_DOUBLE_EQ(votes.PartOf(At(0)), 1);
  EXPECT_DOUBLE_EQ(votes.All(), 2);
}

TEST(HostVotesTest, OneAddressTellsNoTwoWorkersApart) {
  HostVotes votes;
  for (int task = 0; task < 4; ++task) votes.Join(At(task), "192.0.2.1");
  EXPECT_DOUBLE_EQ(votes.All(), 4);
  EXPECT_DOUBLE_EQ(votes.PartOf(At(2)), 1);
  EXPECT_DOUBLE_EQ(votes.PartOf(At(9)), 1);
}

TEST(HostVotesTest, SumsOfPartsAreNotExact) {
  double third = 0;
  for (int i = 0; i < 3; ++i) third += 1.0 / 3;
  EXPECT_TRUE(AtLeast(third, 1));
  EXPECT_FALSE(IsMost(third, 2));
  EXPECT_TRUE(IsMost(third, 1.9));
}

}  // namespace
}  // namespace rapideye::coordinator
