#include "tests/testbed/launcher/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/testbed/model/control.h"

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const JobShape kShape = {2, 4, 4, {"v6e", 1, 2}};

Finding Right() {
  Finding finding;
  finding.cause = "BAD_TPU_CHIP";
  finding.detail = "TENSOR_CORE";
  finding.culprits = {{{0, 1}, "tpu-host-0-1", 2}};
  return finding;
}

const Truth kExact = {"BAD_TPU_CHIP", "TENSOR_CORE", {{{0, 1}, "tpu-host-0-1", 2}}, false};

TEST(Differences, NoneWhenRight) { EXPECT_THAT(Differences(kExact, Right()), IsEmpty()); }

TEST(Differences, SiblingCoresOfOneChipCountOnce) {
  Finding finding = Right();
  finding.culprits.push_back(finding.culprits[0]);
  EXPECT_THAT(Differences(kExact, finding), IsEmpty());
}

TEST(Differences, CauseAndDetailMustBeRight) {
  Finding finding = Right();
  finding.cause = "UNKNOWN";
  finding.detail = "";
  EXPECT_THAT(Differences(kExact, finding),
              ElementsAre(HasSubstr("cause is UNKNOWN"), HasSubstr("detail is not given")));
}

TEST(Differences, ADetailThatTheCauseDoesNotHaveIsWrong) {
  Truth truth = kExact;
  truth.detail = "";
  EXPECT_THAT(Differences(truth, Right()), SizeIs(1));
}

TEST(Differences, TheChipMustBeRight) {
  Finding finding = Right();
  finding.culprits[0].chip = 3;
  EXPECT_THAT(Differences(kExact, finding),
              ElementsAre(HasSubstr("innocent is named: tpu-host-0-1 chip 3"),
                          HasSubstr("missed: tpu-host-0-1 chip 2")));
}

TEST(Differences, WhetherItMayBeRemovedMustBeRight) {
  Finding finding = Right();
  finding.removable = true;
  EXPECT_THAT(Differences(kExact, finding), ElementsAre(HasSubstr("removal is eligible")));
  Truth truth = kExact;
  truth.removable = true;
  EXPECT_THAT(Differences(truth, finding), IsEmpty());
  EXPECT_THAT(Differences(truth, Right()), ElementsAre(HasSubstr("should be eligible")));
}

TEST(Differences, NobodyNamedIsWrong) {
  Finding finding = Right();
  finding.culprits.clear();
  EXPECT_THAT(Differences(kExact, finding), SizeIs(2));
}

TEST(Differences, AnyOfTheTrueOnesWillDoAndNoOther) {
  const Truth truth = {
      "FINGERPRINT_MISMATCH", "", {{{0, 0}, "a", std::nullopt}, {{0, 1}, "b", std::nullopt}}, true};
  Finding finding;
  finding.cause = "FINGERPRINT_MISMATCH";
  finding.culprits = {{{0, 1}, "b", 3}};
  EXPECT_THAT(Differences(truth, finding), IsEmpty());
  finding.culprits.push_back({{0, 2}, "c", std::nullopt});
  EXPECT_THAT(Differences(truth, finding), ElementsAre(HasSubstr("innocent is named: c")));
}

TEST(Scenarios, AreFoundByName) {
  EXPECT_EQ(FindScenario("bad-chip")->name, "bad-chip");
  EXPECT_EQ(FindScenario("none")->plan, nullptr);
  EXPECT_THAT(FindScenario("odd").status().ToString(), HasSubstr("none|bad-chip|"));
}

TEST(Scenarios, PlanTheSameForOneSeedAndOtherVictimsForOthers) {
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.plan == nullptr) continue;
    std::set<WorkerId> victims;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const JobPlan plan = {.shape = kShape, .programs = 2, .seed = seed, .step = 7};
      const Injection injection = scenario.plan(plan);
      const Injection again = scenario.plan(plan);
      std::set<WorkerId> told;
      ASSERT_EQ(injection.orders.size(), again.orders.size());
      for (size_t i = 0; i < injection.orders.size(); ++i) {
        const Order& order = injection.orders[i];
        EXPECT_EQ(order.worker, again.orders[i].worker);
        EXPECT_EQ(order.fault, again.orders[i].fault);
        EXPECT_TRUE(ParseControlLine("fault " + order.fault).ok()) << order.fault;
        EXPECT_TRUE(told.insert(order.worker).second) << scenario.name;
      }
      EXPECT_FALSE(told.empty());
      for (const Named& named : injection.truth.culprits) {
        EXPECT_TRUE(told.contains(named.worker)) << scenario.name;
      }
      victims.insert(told.begin(), told.end());
    }
    EXPECT_GT(victims.size(), 4u) << scenario.name;
  }
}

TEST(Scenarios, BreakTheSameMachineWhereverItStands) {
  const Scenario scenario = *FindScenario("bad-chip");
  JobPlan plan = {.shape = kShape, .programs = 1, .seed = 3};
  const Injection at_home = scenario.plan(plan);
  plan.shape.moves = 1;
  const Injection moved = scenario.plan(plan);
  const Named& culprit = moved.truth.culprits.at(0);
  EXPECT_EQ(culprit.host, at_home.truth.culprits.at(0).host);
  EXPECT_EQ(culprit.chip, at_home.truth.culprits.at(0).chip);
  EXPECT_NE(culprit.worker, at_home.truth.culprits.at(0).worker);
  EXPECT_EQ(moved.orders.at(0).worker, culprit.worker);
  EXPECT_EQ(moved.orders.at(0).fault, at_home.orders.at(0).fault);
}

TEST(ParseDigest, ReadsWhatTheContractNames) {
  const absl::StatusOr<Finding> finding = ParseDigest(R"({
    "cause": "BAD_TPU_CHIP", "detail": "TENSOR_CORE", "confidence": 0.9,
    "detectedAt": "2026-01-02T03:04:05.678Z",
    "culprits": [{"slice": 0, "task": 1, "host": "h", "chip": 2, "why": "x"}],
    "removal": {"eligible": true, "targets": [], "reason": "r"},
    "workers": {"expected": 2, "reported": 1, "missing": [{"slice": 1, "task": 0, "host": "m"}]},
    "timings": {"detectToCollectMs": 1, "collectMs": 2, "classifyMs": 3, "renderMs": 4}})");
  ASSERT_TRUE(finding.ok()) << finding.status();
  EXPECT_THAT(finding->culprits, ElementsAre(Named{{0, 1}, "h", 2}));
  EXPECT_THAT(finding->missing, ElementsAre(Named{{1, 0}, "m", std::nullopt}));
  EXPECT_EQ(finding->detected_at, absl::FromUnixMillis(1767323045678));
  EXPECT_EQ(finding->collect, absl::Milliseconds(2));
  EXPECT_TRUE(finding->removable);
}

TEST(ParseDigest, NamesWhatIsMissing) {
  EXPECT_THAT(ParseDigest(R"({"cause": "UNKNOWN"})").status().ToString(), HasSubstr("culprits"));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseDigest("{").status()));
}

}  // namespace
}  // namespace rapideye::testbed
