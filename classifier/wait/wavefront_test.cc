#include "classifier/wait/wavefront.h"

#include <gtest/gtest.h>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

constexpr int64_t kPoll = 250;

void Stop(Core& core, int64_t age_ms, std::optional<int64_t> within_ms = kPoll) {
  Transition& last = core.transitions.emplace_back();
  last.age_ms = age_ms;
  last.within_ms = within_ms;
}

void StopAll(Scenario& s, int64_t age_ms) {
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Core& core : snapshot.cores) Stop(core, age_ms);
  }
}

// The same seat of two slices stands apart from the rest of either slice.
Scenario TwoPeers() {
  Scenario s;
  s.PutSlice(1, 0, kStep, kCollective);
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  s.Put(s.Tensor(1, 1, 2), 0, kStep, kSomewhere);
  StopAll(s, 60'000);
  return s;
}

TEST(Wavefront, OnlyWhatTheErrorsLeaveNoDoubtOfIsEarlier) {
  Core a;
  Core b;
  Stop(a, 65'000);
  EXPECT_FALSE(StoppedBefore(a, b));  // nothing is known of b
  Stop(b, 60'000);
  EXPECT_TRUE(StoppedBefore(a, b));
  EXPECT_FALSE(StoppedBefore(b, a));
  b.transitions.back().within_ms = 5'000;  // polls too far apart
  EXPECT_FALSE(StoppedBefore(a, b));
  b.transitions.back().within_ms.reset();  // no poll saw it come there
  EXPECT_FALSE(StoppedBefore(a, b));
}

TEST(Wavefront, OfTwoThatWaitForEachOtherTheFirstToStopLeads) {
  Scenario s = TwoPeers();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2 1.1.2");  // either
  s.Tensor(1, 1, 2).transitions.back().age_ms = 66'000;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 1.1.2");
}

TEST(Wavefront, SpeaksForAHeadAndAccusesNobodyAlone) {
  Scenario s;
  StopAll(s, 60'000);
  s.Tensor(0, 1, 2).transitions.back().age_ms = 66'000;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  EXPECT_EQ(verdict.evidence.back().strength, Strength::kWeak);
  EXPECT_NE(verdict.evidence.back().statement.find("stopped first"), std::string::npos);
  EXPECT_FALSE(verdict.removal.eligible);
}

}  // namespace
}  // namespace rapideye::classifier::testing
