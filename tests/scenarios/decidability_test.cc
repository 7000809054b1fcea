#include "tests/scenarios/decidability.h"

#include <gtest/gtest.h>

#include <utility>

namespace rapideye::scenarios {
namespace {

constexpr WorkerId kCulprit{0, 1};
constexpr WorkerId kPeer{1, 1};

Plan Needing(std::vector<Need> needs, std::vector<Need> for_detail = {}) {
  Plan plan;
  plan.truth.accepted = {{.cause = Cause::kNetworkingIssue, .culprits = {{.worker = kCulprit}}}};
  plan.truth.needs = std::move(needs);
  plan.truth.needs_for_detail = std::move(for_detail);
  plan.truth.otherwise = {{.cause = Cause::kUnrecoverableError}};
  return plan;
}

Capture TwoWorkers() {
  Capture capture;
  capture.header.expected_workers = {{.id = kCulprit}, {.id = kPeer}, {.id = {2, 1}}};
  capture.snapshots = {{.worker = kCulprit}, {.worker = kPeer}};
  return capture;
}

Truth Decided(const Plan& plan, const Capture& capture) {
  Truth truth = plan.truth;
  Decide(plan, capture, truth);
  return truth;
}

TEST(Decidability, WithoutNeedsTheTruthFollows) {
  const Truth truth = Decided(Needing({}), TwoWorkers());
  EXPECT_TRUE(truth.decidable);
  EXPECT_EQ(truth.accepted.size(), 1U);
}

TEST(Decidability, ABrokenPairIsSeenByAProbeOfEitherSide) {
  const Plan plan = Needing({Need::kBrokenPair});
  Capture capture = TwoWorkers();
  EXPECT_FALSE(Decided(plan, capture).decidable);
  capture.snapshots[1].probes = {{.peer = kCulprit, .ok = true}};
  EXPECT_FALSE(Decided(plan, capture).decidable);
  capture.snapshots[1].probes[0].ok = false;
  EXPECT_TRUE(Decided(plan, capture).decidable);
}

TEST(Decidability, LessDetailIsAcceptedButIsNoExcuseForUnknown) {
  const Truth truth = Decided(Needing({}, {Need::kTwoBrokenPairs}), TwoWorkers());
  EXPECT_TRUE(truth.decidable);
  EXPECT_EQ(truth.accepted.size(), 2U);
}

TEST(Decidability, ANameAtTheCulpritAndNotAtAnother) {
  const Plan plan = Needing({Need::kHlo});
  Capture capture = TwoWorkers();
  Core named{.type = CoreType::kTensorCore};
  named.sequencers.push_back({.hlo = "fusion.1"});
  capture.snapshots[1].cores = {named};
  EXPECT_FALSE(Decided(plan, capture).decidable);
  capture.snapshots[0].cores = {named};
  EXPECT_TRUE(Decided(plan, capture).decidable);
}

TEST(Decidability, AStepIsKnownByItsSequenceOrByAQueueThatComesRound) {
  const Plan plan = Needing({Need::kStepKnown});
  Capture learnt = TwoWorkers();
  learnt.header.cohorts = {{.name = "all", .sequence = {{.fingerprint = "ab", .launch_id = 1}}}};
  EXPECT_TRUE(Decided(plan, learnt).decidable);

  Capture queued = TwoWorkers();
  queued.snapshots[1].programs = {{.fingerprint = "ab"}, {.fingerprint = "cd"}};
  queued.snapshots[1].cores = {{.program = 0, .launch_id = 7}};
  queued.snapshots[1].cores[0].queued = {{.program = 1, .launch_id = 3}};
  EXPECT_FALSE(Decided(plan, queued).decidable);
  queued.snapshots[1].cores[0].queued.push_back({.program = 0, .launch_id = 8});
  EXPECT_TRUE(Decided(plan, queued).decidable);
}

TEST(Decidability, ALostWorkerStandsOutIfItIsTheOnlyOneOrProbed) {
  Plan plan = Needing({Need::kLostStandsOut});
  plan.truth.accepted[0].culprits[0].worker = {2, 1};
  Capture capture = TwoWorkers();
  EXPECT_TRUE(Decided(plan, capture).decidable);
  capture.snapshots.pop_back();
  EXPECT_FALSE(Decided(plan, capture).decidable);
  capture.snapshots[0].probes = {{.peer = {2, 1}, .ok = false}};
  EXPECT_TRUE(Decided(plan, capture).decidable);
}

}  // namespace
}  // namespace rapideye::scenarios
