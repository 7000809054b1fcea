// Properties of the policy over random histories. A failing seed is in the trace and replays
// exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/removal/policy/policy.h"

namespace rapideye::coordinator {
namespace {

constexpr int kSeeds = 300;
constexpr absl::Duration kDay = absl::Hours(24);

// A small fleet that fails at random, with decisions as a remover makes them.
class Fleet {
 public:
  explicit Fleet(unsigned seed) : random_(seed) { policy_.mode = RemovalMode::kEnforce; }

  int64_t Pick(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
  }

  // An incident that names one machine.
  Finding Fail() {
    const int64_t machine = Pick(20);
    HangEvent event;
    event.incident = absl::StrCat("i", next_++);
    event.machine = absl::StrCat(Pick(10) == 0 ? "host:h" : "hardware:h", machine);
    event.grounds = static_cast<Grounds>(Pick(3));
    const bool ici = Pick(5) == 0;
    event.cause = ici ? "NETWORKING_ISSUE" : "BAD_TPU_CHIP";
    event.detail = ici ? "ICI_LINK" : "TENSOR_CORE";
    event.job = absl::StrCat("job", Pick(3));
    event.slice = Pick(4);
    event.task = Pick(8);
    event.fingerprint = absl::StrCat("f", Pick(3));
    event.at = now_;
    facts_.events.push_back(event);

    Finding finding;
    finding.incident = event.incident;
    finding.job = event.job;
    finding.cause = event.cause;
    finding.detail = event.detail;
    finding.at = now_;
    finding.job_hosts = 32;
    finding.machine = event.machine;
    finding.host = absl::StrCat("h", machine);
    finding.grounds = event.grounds;
    finding.slices = {event.slice};
    facts_.largest_job_hosts = 32;
    return finding;
  }

  Decision DecideAbout(const Finding& finding) {
    const Decision decision = Decide(finding, facts_, policy_, now_);
    if (decision.budget_hit) facts_.breaker = {true, decision.reason, now_, ""};
    if (decision.action == Action::kRemove) {
      facts_.removals.push_back(
          {finding.incident, finding.machine, finding.job, finding.slices, now_, true});
    }
    return decision;
  }

  void Wait() { now_ += absl::Minutes(Pick(12) == 0 ? Pick(20'000) : Pick(90)); }
  // The operator closes the breaker now and then.
  void CloseBreaker() { facts_.breaker.open = false; }
  void Shuffle() {
    std::shuffle(facts_.events.begin(), facts_.events.end(), random_);
    std::shuffle(facts_.removals.begin(), facts_.removals.end(), random_);
  }
  const Facts& facts() const { return facts_; }
  const Policy& policy() const { return policy_; }
  absl::Time now() const { return now_; }

 private:
  std::mt19937 random_;
  Policy policy_;
  Facts facts_;
  absl::Time now_ = absl::FromUnixSeconds(1'790'000'000);
  int next_ = 0;
};

size_t RemovedIn(const Fleet& fleet, absl::Duration window) {
  const auto& removals = fleet.facts().removals;
  return static_cast<size_t>(std::count_if(
      removals.begin(), removals.end(),
      [&](const PastRemoval& removal) { return fleet.now() - removal.decided < window; }));
}

TEST(PolicyPropertiesTest, NoSequenceOfVerdictsRemovesMoreThanTheBudget) {
  size_t removed = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Fleet fleet(seed);
    for (int i = 0; i < 150; ++i) {
      fleet.DecideAbout(fleet.Fail());
      EXPECT_LE(RemovedIn(fleet, absl::Hours(1)), 2u);
      EXPECT_LE(RemovedIn(fleet, 30 * kDay), 1u);  // 2 % of 32, but at least one
      fleet.Wait();
      if (fleet.Pick(10) == 0) fleet.CloseBreaker();
    }
    removed += fleet.facts().removals.size();
  }
  EXPECT_GT(removed, 0u);  // else the test would prove nothing
}

TEST(PolicyPropertiesTest, SoftwareNeverRemovesAndAMachineIsRemovedOnceInAWindow) {
  size_t removed = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Fleet fleet(seed);
    for (int i = 0; i < 150; ++i) {
      const Finding finding = fleet.Fail();
      const bool out = std::any_of(fleet.facts().removals.begin(), fleet.facts().removals.end(),
                                   [&](const PastRemoval& removal) {
                                     return removal.machine == finding.machine &&
                                            fleet.now() - removal.decided < 30 * kDay;
                                   });
      const Decision decision = fleet.DecideAbout(finding);
      if (decision.action == Action::kRemove) {
        ++removed;
        EXPECT_NE(finding.grounds, Grounds::kNever);
        EXPECT_FALSE(KnownByNameOnly(finding.machine));
        EXPECT_FALSE(out);
      }
      EXPECT_FALSE(decision.rule.empty());
      EXPECT_FALSE(decision.reason.empty());
      fleet.Wait();
      fleet.CloseBreaker();
    }
  }
  EXPECT_GT(removed, 0u);
}

TEST(PolicyPropertiesTest, TheOrderAndTheNumberOfDeliveriesDoNotMatter) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Fleet fleet(seed);
    Finding last;
    for (int i = 0; i < 40; ++i) last = fleet.Fail();
    const Decision before = Decide(last, fleet.facts(), fleet.policy(), fleet.now());
    fleet.Shuffle();
    Facts twice = fleet.facts();
    twice.events.insert(twice.events.end(), fleet.facts().events.begin(),
                        fleet.facts().events.end());
    for (const Facts& facts : {fleet.facts(), twice}) {
      const Decision after = Decide(last, facts, fleet.policy(), fleet.now());
      EXPECT_EQ(after.action, before.action);
      EXPECT_EQ(after.reason, before.reason);
    }
  }
}

// Neither more events that exonerate a machine nor a stricter policy ever remove it.
TEST(PolicyPropertiesTest, WhatSpeaksForAMachineNeverRemovesIt) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Fleet fleet(seed);
    Finding last;
    for (int i = 0; i < 60; ++i) last = fleet.Fail();
    if (Decide(last, fleet.facts(), fleet.policy(), fleet.now()).action == Action::kRemove)
      continue;
    Facts kinder = fleet.facts();
    for (const HangEvent& event : fleet.facts().events) {
      HangEvent elsewhere = event;
      elsewhere.machine = "hardware:elsewhere";
      elsewhere.incident = absl::StrCat("e", event.incident);
      kinder.events.push_back(elsewhere);
    }
    EXPECT_NE(Decide(last, kinder, fleet.policy(), fleet.now()).action, Action::kRemove);
    Policy stricter = fleet.policy();
    stricter.repetitions += fleet.Pick(5);
    stricter.window = stricter.window / (1 + fleet.Pick(3));
    stricter.deny = {"h1*"};
    EXPECT_NE(Decide(last, fleet.facts(), stricter, fleet.now()).action, Action::kRemove);
  }
}

}  // namespace
}  // namespace rapideye::coordinator
