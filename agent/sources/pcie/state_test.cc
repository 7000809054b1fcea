#include "agent/sources/pcie/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> Fatal(const PcieState& state) {
  Snapshot snapshot;
  state.Describe(snapshot);
  std::vector<int64_t> fatal;
  for (const PcieCounters& chip : snapshot.pcie) fatal.push_back(chip.fatal);
  return fatal;
}

PcieReading Chips(int64_t fatal_of_first, int64_t fatal_of_second) {
  return {{{0, fatal_of_first, 0, 900}, {1, fatal_of_second, 0, 0}}, ""};
}

TEST(PcieStateTest, CountsSinceTheProcessBegan) {
  PcieState state;
  state.Watching("4211@100");
  state.Observe(Chips(3, 0));
  EXPECT_THAT(Fatal(state), ElementsAre(0, 0));
  state.Watching("4211@100");
  state.Observe(Chips(3, 2));
  EXPECT_THAT(Fatal(state), ElementsAre(0, 2));
}

TEST(PcieStateTest, AnotherProcessBeginsAnew) {
  PcieState state;
  state.Watching("4211@100");
  state.Observe(Chips(0, 0));
  state.Observe(Chips(0, 2));
  state.Watching(std::nullopt);  // it has ended: what it met with still stands
  EXPECT_THAT(Fatal(state), ElementsAre(0, 2));
  state.Watching("4300@900");
  EXPECT_THAT(Fatal(state), IsEmpty());
  state.Observe(Chips(0, 2));
  EXPECT_THAT(Fatal(state), ElementsAre(0, 0));
}

TEST(PcieStateTest, AnAgentThatIsReplacedGoesOnCounting) {
  PcieState first;
  first.Watching("4211@100");
  first.Observe(Chips(3, 0));
  PcieState next;
  next.Restore(first.baseline());
  next.Watching("4211@100");
  next.Observe(Chips(4, 0));
  EXPECT_THAT(Fatal(next), ElementsAre(1, 0));
  EXPECT_EQ(next.baseline(), first.baseline());
  // But not for another process.
  PcieState other;
  other.Restore(first.baseline());
  other.Watching("4300@900");
  other.Observe(Chips(4, 0));
  EXPECT_THAT(Fatal(other), ElementsAre(0, 0));
}

TEST(PcieStateTest, AChipThatAppearsLaterOrWasResetCountsFromThere) {
  PcieState state;
  state.Observe({{{1, 5, 0, 0}}, "nothing tells which chip is behind 0000:06:00.0"});
  state.Observe(Chips(7, 1));
  EXPECT_THAT(Fatal(state), ElementsAre(0, 1));
}

TEST(PcieStateTest, WithoutChipsThereIsNothingToKeep) {
  PcieState state;
  state.Observe({{}, "there is no TPU"});
  EXPECT_EQ(state.baseline(), std::nullopt);
  EXPECT_THAT(Fatal(state), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
