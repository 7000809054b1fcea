#include "agent/sources/pcie/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ProcessId kProcess = {4211, 100};
constexpr ProcessId kOther = {4300, 900};

std::vector<int64_t> Fatal(const PcieState& state) {
  Snapshot snapshot;
  state.AddTo(snapshot, {});
  std::vector<int64_t> fatal;
  for (const PcieCounters& chip : snapshot.pcie) fatal.push_back(chip.fatal);
  return fatal;
}

void Observe(const PcieReading& reading, PcieState& state) {
  Notices notices;
  state.Observe(reading, {}, absl::ZeroDuration(), notices);
}

PcieReading Chips(int64_t fatal_of_first, int64_t fatal_of_second) {
  return {{{0, fatal_of_first, 0, 900}, {1, fatal_of_second, 0, 0}}, ""};
}

TEST(PcieStateTest, CountsSinceTheProcessBegan) {
  PcieState state;
  state.Watching(kProcess);
  Observe(Chips(3, 0), state);
  EXPECT_THAT(Fatal(state), ElementsAre(0, 0));
  state.Watching(kProcess);
  Observe(Chips(3, 2), state);
  EXPECT_THAT(Fatal(state), ElementsAre(0, 2));
}

TEST(PcieStateTest, AnotherProcessBeginsAnew) {
  PcieState state;
  state.Watching(kProcess);
  Observe(Chips(0, 0), state);
  Observe(Chips(0, 2), state);
  state.Watching(std::nullopt);  // it has ended: what it met with still stands
  EXPECT_THAT(Fatal(state), ElementsAre(0, 2));
  state.Watching(kOther);
  EXPECT_THAT(Fatal(state), IsEmpty());
  Observe(Chips(0, 2), state);
  EXPECT_THAT(Fatal(state), ElementsAre(0, 0));
}

TEST(PcieStateTest, AChipThatAppearsLaterOrWasResetCountsFromThere) {
  PcieState state;
  Observe({{{1, 5, 0, 0}}, "nothing tells which chip is behind 0000:06:00.0"}, state);
  Observe(Chips(7, 1), state);
  EXPECT_THAT(Fatal(state), ElementsAre(0, 1));
}

TEST(PcieStateTest, WithoutChipsThereIsNothingToTell) {
  PcieState state;
  Observe({{}, "there is no TPU"}, state);
  EXPECT_THAT(Fatal(state), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
