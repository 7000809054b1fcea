#include "agent/sources/probe/judge.h"

#include <gmock/gmock.h>

#include <cerrno>

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

const wire::ProbeTarget kTarget{.peer = {1, 2}, .nic = "eth1", .address = FromV4({10, 1, 1, 2})};
const ProbeEchoes kAll{.answer = absl::Microseconds(250),
                       .error = 0,
                       .small_answered = true,
                       .full_answered = true,
                       .full_bytes = 1500};

TEST(JudgeProbeTest, WhoAnswersIsReached) {
  const Probe probe = JudgeProbe(kTarget, kAll);
  EXPECT_EQ(probe.peer, (WorkerId{1, 2}));
  EXPECT_EQ(probe.nic, "eth1");
  EXPECT_TRUE(probe.ok);
  EXPECT_EQ(probe.rtt_us, 250);
  EXPECT_EQ(probe.error, std::nullopt);
}

TEST(JudgeProbeTest, SilenceIsAFailureWithoutATime) {
  const Probe probe = JudgeProbe(kTarget, {});
  EXPECT_FALSE(probe.ok);
  EXPECT_EQ(probe.rtt_us, std::nullopt);
  EXPECT_EQ(probe.error, "no answer");
}

TEST(JudgeProbeTest, TheKernelsReasonIsPassedOn) {
  ProbeEchoes echoes;
  echoes.error = ENETUNREACH;
  EXPECT_THAT(JudgeProbe(kTarget, echoes).error, Optional(HasSubstr("Network")));
}

TEST(JudgeProbeTest, AnAnswerCountsWhateverFailedBefore) {
  ProbeEchoes echoes = kAll;
  echoes.error = EHOSTUNREACH;
  EXPECT_TRUE(JudgeProbe(kTarget, echoes).ok);
}

TEST(JudgeProbeTest, LargePacketsThatVanishAreAFailure) {
  ProbeEchoes echoes = kAll;
  echoes.full_answered = false;
  const Probe probe = JudgeProbe(kTarget, echoes);
  EXPECT_FALSE(probe.ok);
  EXPECT_THAT(probe.error, Optional(HasSubstr("1500 bytes")));
}

TEST(JudgeProbeTest, WhereNoDatagramIsAnsweredTheirSizeSaysNothing) {
  ProbeEchoes echoes = kAll;
  echoes.small_answered = echoes.full_answered = false;
  EXPECT_TRUE(JudgeProbe(kTarget, echoes).ok);
  echoes.small_answered = true;
  echoes.full_bytes = 0;
  EXPECT_TRUE(JudgeProbe(kTarget, echoes).ok);
}

}  // namespace
}  // namespace rapideye::agent
