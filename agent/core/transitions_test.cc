#include "agent/core/transitions.h"

#include <gtest/gtest.h>

#include "agent/core/limits.h"

namespace rapideye::agent {
namespace {

RuntimeSample At(int32_t core, int64_t pc) {
  RuntimeSample sample;
  sample.cores.emplace_back().id = core;
  sample.cores.back().sequencers.emplace_back().pc = pc;
  return sample;
}

TEST(Transitions, TellsWhenACoreCameToWhereItStands) {
  Transitions transitions;
  transitions.Observe(At(3, 10), absl::Seconds(1));
  transitions.Observe(At(3, 20), absl::Seconds(6));
  transitions.Observe(At(3, 20), absl::Seconds(11));
  const Transitions::Ring* ring = transitions.Of(3);
  ASSERT_NE(ring, nullptr);
  ASSERT_EQ(ring->size(), 2U);
  EXPECT_EQ(ring->front().before, std::nullopt);  // nobody saw what was there before
  EXPECT_EQ(ring->back().seen, absl::Seconds(6));
  EXPECT_EQ(ring->back().before, absl::Seconds(1));
  EXPECT_EQ(ring->back().pc, 20);
}

TEST(Transitions, AnotherLaunchAtTheSamePlaceIsAChange) {
  Transitions transitions;
  RuntimeSample sample = At(3, 10);
  transitions.Observe(sample, absl::Seconds(1));
  sample.cores[0].launch_id = 8;
  transitions.Observe(sample, absl::Seconds(2));
  EXPECT_EQ(transitions.Of(3)->size(), 2U);
}

TEST(Transitions, TheOldestMakeRoom) {
  Transitions transitions;
  for (size_t i = 0; i < kMaxTransitionsPerCore + 3; ++i) {
    transitions.Observe(At(3, static_cast<int64_t>(i)), absl::Seconds(i));
  }
  EXPECT_EQ(transitions.Of(3)->size(), kMaxTransitionsPerCore);
  EXPECT_EQ(transitions.Of(3)->front().pc, 3);
}

TEST(Transitions, CoresThatAreGoneAreForgotten) {
  Transitions transitions;
  transitions.Observe(At(3, 10), absl::Seconds(1));
  transitions.Observe(At(4, 10), absl::Seconds(2));
  EXPECT_EQ(transitions.Of(3), nullptr);
  EXPECT_NE(transitions.Of(4), nullptr);
  transitions.Clear();
  EXPECT_EQ(transitions.Of(4), nullptr);
}

}  // namespace
}  // namespace rapideye::agent
