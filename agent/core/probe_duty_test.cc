#include "agent/core/probe_duty.h"

#include <gmock/gmock.h>

#include "agent/sources/probe/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kNow = absl::Seconds(100);

wire::ProbeRequest RequestOf(int64_t collection) {
  return {.collection = collection,
          .deadline = absl::Seconds(1),
          .targets = {{.peer = {1, 2}, .nic = "eth1", .address = FromV4({10, 1, 1, 2})}}};
}

ProbeReading Reached() {
  Probe probe;
  probe.peer = {1, 2};
  probe.ok = true;
  return {{probe}, ""};
}

template <typename T>
std::vector<T> Of(const Effects& effects) {
  std::vector<T> found;
  for (const Effect& effect : effects) {
    if (const T* one = std::get_if<T>(&effect)) found.push_back(*one);
  }
  return found;
}

// The replies among the messages.
std::vector<wire::ProbeReply> Replies(const Effects& effects) {
  std::vector<wire::ProbeReply> replies;
  for (const Send& send : Of<Send>(effects)) {
    replies.push_back(std::get<wire::ProbeReply>(send.message));
  }
  return replies;
}

TEST(ProbeDutyTest, MakesWhatItIsAskedAndReports) {
  ProbeDuty duty(/*allowed=*/true);
  Effects effects;
  duty.Request(RequestOf(7), kNow, effects);
  ASSERT_THAT(Of<MakeProbes>(effects), SizeIs(1));
  const MakeProbes make = Of<MakeProbes>(effects)[0];
  EXPECT_EQ(make.targets, RequestOf(7).targets);
  EXPECT_THAT(Replies(effects), IsEmpty());

  effects.clear();
  duty.Made({make.request, Reached()}, effects);
  ASSERT_THAT(Replies(effects), SizeIs(1));
  EXPECT_EQ(Replies(effects)[0].collection, 7);
  EXPECT_THAT(Replies(effects)[0].probes, SizeIs(1));
  EXPECT_EQ(Replies(effects)[0].error, "");
}

TEST(ProbeDutyTest, MakesNoneThatAnOperatorHasSwitchedOff) {
  ProbeDuty duty(/*allowed=*/false);
  Effects effects;
  duty.Request(RequestOf(7), kNow, effects);
  EXPECT_THAT(Of<MakeProbes>(effects), IsEmpty());
  ASSERT_THAT(Replies(effects), SizeIs(1));
  EXPECT_THAT(Replies(effects)[0].error, HasSubstr("--disable=probe"));
}

TEST(ProbeDutyTest, ACoordinatorThatAsksWithoutEndGetsOneASecond) {
  ProbeDuty duty(/*allowed=*/true);
  int made = 0;
  for (absl::Duration now = kNow; now < kNow + absl::Seconds(10); now += absl::Milliseconds(10)) {
    Effects effects;
    duty.Request(RequestOf(7), now, effects);
    for (const MakeProbes& make : Of<MakeProbes>(effects)) {
      ++made;
      duty.Made({make.request, Reached()}, effects);
    }
    EXPECT_THAT(Replies(effects), SizeIs(1));
  }
  EXPECT_EQ(made, 10);
}

TEST(ProbeDutyTest, OneAtATimeUnlessItsMakerIsLost) {
  ProbeDuty duty(/*allowed=*/true);
  Effects effects;
  duty.Request(RequestOf(7), kNow, effects);
  effects.clear();
  duty.Request(RequestOf(8), kNow + kProbeRequestSpacing, effects);
  EXPECT_THAT(Of<MakeProbes>(effects), IsEmpty());
  effects.clear();
  duty.Request(RequestOf(9), kNow + kProbeTime + kLostProbeGrace, effects);
  ASSERT_THAT(Of<MakeProbes>(effects), SizeIs(1));
  // The result of the lost probes comes after all, and bears the wrong request.
  const int64_t last = Of<MakeProbes>(effects)[0].request;
  effects.clear();
  duty.Made({last - 1, Reached()}, effects);
  EXPECT_THAT(effects, IsEmpty());
  duty.Made({last, Reached()}, effects);
  ASSERT_THAT(Replies(effects), SizeIs(1));
  EXPECT_EQ(Replies(effects)[0].collection, 9);
}

TEST(ProbeDutyTest, NobodyIsToldWhatNobodyWantsAnyMore) {
  ProbeDuty duty(/*allowed=*/true);
  Effects effects;
  duty.Request(RequestOf(7), kNow, effects);
  duty.Cancel({6});  // another collection
  duty.Cancel({7});
  effects.clear();
  duty.Made({1, Reached()}, effects);
  EXPECT_THAT(effects, IsEmpty());

  duty.Request(RequestOf(8), kNow + kProbeRequestSpacing, effects);
  duty.Clear();
  effects.clear();
  duty.Made({2, Reached()}, effects);
  EXPECT_THAT(effects, IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
