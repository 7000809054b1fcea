#include "agent/sources/pcie/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> Fatal(const PcieMemory& memory) {
  Snapshot snapshot;
  memory.Describe(snapshot);
  std::vector<int64_t> fatal;
  for (const PcieCounters& chip : snapshot.pcie) fatal.push_back(chip.fatal);
  return fatal;
}

PcieReading Chips(int64_t fatal_of_first, int64_t fatal_of_second) {
  return {{{0, fatal_of_first, 0, 900}, {1, fatal_of_second, 0, 0}}, ""};
}

TEST(PcieMemoryTest, CountsSinceTheProcessBegan) {
  PcieMemory memory;
  memory.Watching("4211@100");
  memory.Observe(Chips(3, 0));
  EXPECT_THAT(Fatal(memory), ElementsAre(0, 0));
  memory.Watching("4211@100");
  memory.Observe(Chips(3, 2));
  EXPECT_THAT(Fatal(memory), ElementsAre(0, 2));
}

TEST(PcieMemoryTest, AnotherProcessBeginsAnew) {
  PcieMemory memory;
  memory.Watching("4211@100");
  memory.Observe(Chips(0, 0));
  memory.Observe(Chips(0, 2));
  memory.Watching(std::nullopt);  // it has ended: what it met with still stands
  EXPECT_THAT(Fatal(memory), ElementsAre(0, 2));
  memory.Watching("4300@900");
  EXPECT_THAT(Fatal(memory), IsEmpty());
  memory.Observe(Chips(0, 2));
  EXPECT_THAT(Fatal(memory), ElementsAre(0, 0));
}

TEST(PcieMemoryTest, AnAgentThatIsReplacedGoesOnCounting) {
  PcieMemory first;
  first.Watching("4211@100");
  first.Observe(Chips(3, 0));
  PcieMemory next;
  next.Restore(first.baseline());
  next.Watching("4211@100");
  next.Observe(Chips(4, 0));
  EXPECT_THAT(Fatal(next), ElementsAre(1, 0));
  EXPECT_EQ(next.baseline(), first.baseline());
  // But not for another process.
  PcieMemory other;
  other.Restore(first.baseline());
  other.Watching("4300@900");
  other.Observe(Chips(4, 0));
  EXPECT_THAT(Fatal(other), ElementsAre(0, 0));
}

TEST(PcieMemoryTest, AChipThatAppearsLaterOrWasResetCountsFromThere) {
  PcieMemory memory;
  memory.Observe({{{1, 5, 0, 0}}, "nothing tells which chip is behind 0000:06:00.0"});
  memory.Observe(Chips(7, 1));
  EXPECT_THAT(Fatal(memory), ElementsAre(0, 1));
}

TEST(PcieMemoryTest, WithoutChipsThereIsNothingToKeep) {
  PcieMemory memory;
  memory.Observe({{}, "there is no TPU"});
  EXPECT_EQ(memory.baseline(), std::nullopt);
  EXPECT_THAT(Fatal(memory), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
