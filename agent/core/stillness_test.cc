#include "agent/core/stillness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_builder.h"

namespace rapideye::agent {
namespace {

constexpr absl::Duration At(int seconds) { return absl::Seconds(seconds); }
constexpr SequencerKey kFirst{0, SequencerType::kTensorCoreSequencer, 0};

TEST(StillnessTest, StandsStillSinceTheLastChangeOfAnyPart) {
  using Change = void (*)(CoreSample&);
  const Change changes[] = {
      [](CoreSample& core) { core.sequencers[0].pc = 6; },
      [](CoreSample& core) { core.sequencers[0].tag = 2; },
      [](CoreSample& core) { core.sequencers[0].tracemark = 2; },
      [](CoreSample& core) { core.sequencers[0].run_id = 2; },
      [](CoreSample& core) { core.launch_id = 11; },
      [](CoreSample& core) { core.fingerprint = "bb"; },
      [](CoreSample& core) { core.sequencers[0].pc.reset(); },
  };
  for (const Change change : changes) {
    CoreSample core = Running(0, "aa", 10, 5);
    Stillness stillness;
    stillness.Observe({{}, {core}}, At(0));
    stillness.Observe({{}, {core}}, At(5));
    EXPECT_EQ(stillness.StillSince(kFirst), At(0));
    change(core);
    stillness.Observe({{}, {core}}, At(10));
    EXPECT_EQ(stillness.StillSince(kFirst), At(10));
  }
}

TEST(StillnessTest, WhatIsNoLongerReportedIsForgotten) {
  Stillness stillness;
  stillness.Observe({{}, {Running(0, "aa", 10, 5)}}, At(0));
  stillness.Observe({{}, {Running(1, "aa", 10, 5)}}, At(5));
  EXPECT_EQ(stillness.StillSince(kFirst), std::nullopt);
  stillness.Observe({{}, {Running(0, "aa", 10, 5)}}, At(10));
  EXPECT_EQ(stillness.StillSince(kFirst), At(10));
}

TEST(StillnessTest, RemembersHloWhileTheInstructionIsTheSame) {
  Stillness stillness;
  CoreSample core = Running(0, "aa", 10, 5);
  stillness.Observe({{}, {WithHlo(core, "all-reduce.3", "jit_step")}}, At(0));
  core.sequencers[0].tracemark = 77;
  stillness.Observe({{}, {core}}, At(5));
  ASSERT_NE(stillness.HloOf(kFirst), nullptr);
  EXPECT_EQ(stillness.HloOf(kFirst)->instruction, "all-reduce.3");
  core.sequencers[0].pc = 6;
  stillness.Observe({{}, {core}}, At(10));
  EXPECT_EQ(stillness.HloOf(kFirst), nullptr);
}

}  // namespace
}  // namespace rapideye::agent
