#include "coordinator/removal/policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'000);
constexpr absl::Duration kDay = absl::Hours(24);

class PolicyTest : public ::testing::Test {
 protected:
  PolicyTest() {
    policy_.mode = RemovalMode::kEnforce;
    finding_.incident = "i4";
    finding_.job = "llama";
    finding_.cause = "BAD_TPU_CHIP";
    finding_.detail = "TENSOR_CORE";
    finding_.at = kNow;
    finding_.job_hosts = 1000;
    finding_.machine = "hardware:m";
    finding_.host = "host-m";
    finding_.node = "node-m";
    finding_.grounds = Grounds::kRepetition;
    finding_.slices = {0};
    facts_.largest_job_hosts = 1000;
    for (int64_t i = 1; i <= 4; ++i) AddEvent(absl::StrCat("i", i), i);
  }
  void AddEvent(const std::string& incident, int64_t task) {
    HangEvent event;
    event.incident = incident;
    event.machine = finding_.machine;
    event.grounds = Grounds::kRepetition;
    event.cause = finding_.cause;
    event.detail = finding_.detail;
    event.job = finding_.job;
    event.task = task;
    event.at = kNow;
    facts_.events.push_back(event);
  }
  void AddRemoval(const std::string& machine, absl::Duration ago, int64_t slice = 0) {
    facts_.removals.push_back(
        {absl::StrCat("of-", machine), machine, finding_.job, {slice}, kNow - ago, true});
  }
  Decision Run(absl::Time now = kNow) { return Decide(finding_, facts_, policy_, now); }
  void ExpectRemoved(absl::Time now = kNow) {
    const Decision decision = Run(now);
    EXPECT_EQ(decision.action, Action::kRemove) << decision.rule << ": " << decision.reason;
    EXPECT_FALSE(decision.budget_hit);
  }
  void Expect(Action action, const std::string& rule, absl::Time now = kNow) {
    const Decision decision = Run(now);
    EXPECT_EQ(ActionName(decision.action), ActionName(action)) << decision.reason;
    EXPECT_EQ(decision.rule, rule) << decision.reason;
    EXPECT_FALSE(decision.reason.empty());
  }
  void ExpectBudgetHit(const std::string& rule) {
    Expect(Action::kRefuse, rule);
    EXPECT_TRUE(Run().budget_hit);
  }

  Finding finding_;
  Facts facts_;
  Policy policy_;
};

TEST_F(PolicyTest, TheDefaultIsADryRun) { EXPECT_EQ(Policy().mode, RemovalMode::kDryRun); }

TEST_F(PolicyTest, MoreThanThreeIndependentEventsRemove) {
  ExpectRemoved();
  EXPECT_THAT(Run().reason, HasSubstr("4 hang events on this machine in 30 days"));
  facts_.events.pop_back();
  Expect(Action::kWatch, "repetition");
  EXPECT_THAT(Run().reason, HasSubstr("3 hang events on this machine in 30 days, more than 3"));
}

TEST_F(PolicyTest, ATenantAccusesTheMachinesOfItsLinesOnlyAndByRepetition) {
  finding_.recorded_by = "tenant_a";
  finding_.names = {"host-m", "m", "node-m"};
  Expect(Action::kWatch, "tenant");
  policy_.tenant_machines = {{"tenant_b", {"*"}}, {"tenant_a", {"host-m", "node-m"}}};
  Expect(Action::kWatch, "tenant");  // no line says whose hardware it is
  policy_.tenant_machines.push_back({"tenant_a", {"HOST-?", "m", "node-*"}});
  ExpectRemoved();
  finding_.key_fits = false;
  Expect(Action::kWatch, "tenant");
  finding_.key_fits = true;
  finding_.grounds = Grounds::kDirect;
  facts_.events.clear();
  Expect(Action::kWatch, "repetition");
}

TEST_F(PolicyTest, BudgetsOfTenantsAreTheirOwn) {
  for (const char* machine : {"hardware:a", "hardware:b"}) {
    AddRemoval(machine, absl::Minutes(1));
    facts_.removals.back().recorded_by = "tenant_a";
  }
  ExpectRemoved();
  finding_.recorded_by = "tenant_a";
  finding_.names = {"host-m"};
  for (int i = 0; i < 100; ++i) policy_.tenant_machines.push_back({"tenant_a", {"host-m"}});
  ExpectBudgetHit("hosts-an-hour");
  policy_.max_hosts_an_hour = 100;
  ExpectRemoved();
  // The size of a tenant's job is the platform's figure, not the tenant's.
  policy_.tenant_machines.resize(20);
  ExpectBudgetHit("share-of-job");
  // A machine that is out is out of the fleet, whichever role recorded it.
  finding_.recorded_by.clear();
  policy_.fleet_hosts = 100;
  Expect(Action::kRefuse, "share-of-fleet");
  EXPECT_FALSE(Run().budget_hit);
  for (PastRemoval& removal : facts_.removals) removal.recorded_by.clear();
  ExpectBudgetHit("share-of-fleet");
}

TEST_F(PolicyTest, EventsBeforeTheWindowDoNotCount) {
  facts_.events[0].at = kNow - 30 * kDay - absl::Seconds(1);
  Expect(Action::kWatch, "repetition");
  facts_.events[0].at = kNow - 30 * kDay;
  ExpectRemoved();
}

TEST_F(PolicyTest, TheSameCoordinateEveryTimeIsWatched) {
  for (HangEvent& event : facts_.events) event.task = 7;
  Expect(Action::kWatch, "independence");
  facts_.events[2].task = 8;
  ExpectRemoved();
}

TEST_F(PolicyTest, ACoordinateThatFailsElsewhereIsLeftOutAndSaidSo) {
  HangEvent elsewhere = facts_.events[0];
  elsewhere.machine = "hardware:other";
  elsewhere.incident = "i9";
  facts_.events.push_back(elsewhere);
  Expect(Action::kWatch, "repetition");
  EXPECT_THAT(Run().reason, HasSubstr("other hardware failed at the same coordinate"));
}

TEST_F(PolicyTest, DirectEvidenceNeedsNoRepetition) {
  facts_.events.clear();
  Expect(Action::kWatch, "repetition");
  finding_.grounds = Grounds::kDirect;
  ExpectRemoved();
}

TEST_F(PolicyTest, SoftwareIsNeverAReasonHoweverOftenItHappens) {
  finding_.grounds = Grounds::kNever;
  finding_.cause = "DATA_INPUT_STALL";
  Expect(Action::kWatch, "cause");
}

// A role that writes to a shared history may call any grounds direct.
TEST_F(PolicyTest, NoGroundsGoBeyondTheirCause) {
  finding_.grounds = Grounds::kDirect;
  for (const char* cause : {"DIFFERENT_MODULE", "FINGERPRINT_MISMATCH", "DATA_INPUT_STALL",
                            "UNKNOWN", "NO_HANG", "SOMETHING_NEW"}) {
    finding_.cause = cause;
    Expect(Action::kWatch, "cause");
  }
  finding_.cause = "UNRECOVERABLE_ERROR";
  finding_.detail = "PREEMPTED";
  Expect(Action::kWatch, "cause");
  finding_.detail = "POWER";  // by repetition, and there are events enough
  ExpectRemoved();
  facts_.events.clear();
  Expect(Action::kWatch, "repetition");
  finding_.cause = "NETWORKING_ISSUE";
  finding_.detail = "DCN_LINK";
  Expect(Action::kWatch, "cause");
  finding_.detail = "DCN_HOST";
  ExpectRemoved();
}

// Four removals may have been refused for good reasons; then an event comes that says nothing of
// the machine.
TEST_F(PolicyTest, WhatDoesNotCountItselfRemovesNothing) {
  AddEvent("i5", 5);
  HangEvent elsewhere = facts_.events.back();
  elsewhere.machine = "hardware:other";
  elsewhere.incident = "i6";
  facts_.events.push_back(elsewhere);
  ExpectRemoved();
  finding_.incident = "i5";
  Expect(Action::kWatch, "repetition");
  EXPECT_THAT(Run().reason, HasSubstr("this one does not count"));
}

TEST_F(PolicyTest, WhatWasFoundBeforeARepairIsNoNewsOfTheMachine) {
  finding_.grounds = Grounds::kDirect;
  facts_.forgotten = finding_.at;
  Expect(Action::kWatch, "forgotten");
  finding_.grounds = Grounds::kRepetition;
  Expect(Action::kWatch, "forgotten");
  facts_.forgotten = finding_.at - absl::Seconds(1);
  ExpectRemoved();
}

TEST_F(PolicyTest, WhatHasYetToHappenRemovesNothing) {
  finding_.at = kNow + kDay;
  facts_.events[3].at = finding_.at;
  ExpectRemoved();
  EXPECT_EQ(Run().expires, kNow + policy_.decision_lifetime);
  finding_.at += absl::Seconds(1);
  Expect(Action::kWatch, "future");
  finding_.grounds = Grounds::kDirect;
  Expect(Action::kWatch, "future");
  finding_.at = kNow;
  finding_.grounds = Grounds::kRepetition;
  facts_.events[2].at = kNow + kDay + absl::Seconds(1);
  Expect(Action::kWatch, "repetition");
}

// A comma in a name would make a hook remove two machines, the second of the tenant's choice.
TEST_F(PolicyTest, ANameThatIsNotOneMachinesIsNeverRemovedBy) {
  finding_.grounds = Grounds::kDirect;
  for (const char* name : {"", "a,b", "host-[0-99]", "-x", "a b", "a\nb", "a;b", "h\xc3\xb6st"}) {
    finding_.host = name;
    Expect(Action::kRefuse, "bad-name");
    finding_.host = "host-m";
    finding_.node = name;
    Expect(Action::kRefuse, "bad-name");
    finding_.node = "node-m.zone_1";
    ExpectRemoved();
  }
  finding_.node.reset();
  ExpectRemoved();
}

TEST_F(PolicyTest, ANameThatAnotherMachineBearsByNowIsNotRemovedBy) {
  facts_.name_taken_by = "hardware:other";
  Expect(Action::kRefuse, "name-taken");
  EXPECT_THAT(Run().reason, HasSubstr("hardware:other"));
  policy_.stable_names = true;
  ExpectRemoved();
}

// An event that was left out could be the one that exonerates the machine.
TEST_F(PolicyTest, NothingIsRemovedByRepetitionOfWhichOnlyAPartIsKnown) {
  facts_.all_events = false;
  Expect(Action::kWatch, "too-many-events");
  finding_.grounds = Grounds::kDirect;
  ExpectRemoved();
}

TEST_F(PolicyTest, AMachineKnownByNameOnlyStaysUnlessNamesAreStable) {
  finding_.machine = "host:host-m";
  for (HangEvent& event : facts_.events) event.machine = finding_.machine;
  Expect(Action::kRefuse, "name-only");
  finding_.grounds = Grounds::kDirect;
  Expect(Action::kRefuse, "name-only");
  policy_.stable_names = true;
  ExpectRemoved();
}

TEST_F(PolicyTest, OffRefusesAndTheReasonSaysWhatItWouldHaveDone) {
  policy_.mode = RemovalMode::kOff;
  Expect(Action::kRefuse, "off");
  EXPECT_THAT(Run().reason, HasSubstr("due (4 hang events"));
}

TEST_F(PolicyTest, ADryRunDecidesAsIfItEnforced) {
  policy_.mode = RemovalMode::kDryRun;
  ExpectRemoved();
}

TEST_F(PolicyTest, WhatIsDeniedIsNeverRemoved) {
  for (const char* pattern : {"host-m", "HOST-M", "node-?", "m", "hardware:m", "h*t*m", "*"}) {
    policy_.deny = {"other", pattern};
    Expect(Action::kRefuse, "deny");
  }
  finding_.host = "Host-M.example.com";
  for (const char* pattern : {"host-m", "host-m.example.com", "*.example.com"}) {
    policy_.deny = {pattern};
    Expect(Action::kRefuse, "deny");
  }
  finding_.host = "host-m";
  for (const char* pattern : {"host-", "ost-m", "node-??", "host-m.example.com", ""}) {
    policy_.deny = {pattern};
    ExpectRemoved();
  }
}

TEST_F(PolicyTest, OnlyWhatIsAllowedIsRemovedAndDenialWins) {
  policy_.allow = {"host-a*"};
  Expect(Action::kRefuse, "allow");
  policy_.allow = {"host-a*", "host-m*"};
  ExpectRemoved();
  policy_.deny = {"node-m"};
  Expect(Action::kRefuse, "deny");
}

TEST_F(PolicyTest, ADecisionExpires) {
  ExpectRemoved(kNow + policy_.decision_lifetime - absl::Seconds(1));
  Expect(Action::kRefuse, "expired", kNow + policy_.decision_lifetime);
  EXPECT_EQ(Run().expires, kNow + policy_.decision_lifetime);
}

TEST_F(PolicyTest, AMachineIsRemovedOnceInAWindow) {
  AddRemoval(finding_.machine, 29 * kDay);
  Expect(Action::kRefuse, "removed");
  EXPECT_FALSE(Run().budget_hit);
  facts_.removals[0].standing = false;  // the machine was repaired, and failed again
  ExpectRemoved();
}

// The hooks failed every time: the removal may be tried again, and their effects may stand.
TEST_F(PolicyTest, ARemovalThatWasGivenUpMayBeDecidedAnewAndCostsItsBudget) {
  AddRemoval(finding_.machine, 2 * kDay);
  facts_.removals[0].given_up = true;
  finding_.job_hosts = 2;
  facts_.largest_job_hosts = 2;
  ExpectRemoved();
  facts_.removals[0].machine = "hardware:other";
  ExpectBudgetHit("share-of-job");
}

TEST_F(PolicyTest, NumbersOfAPeerStayNumbers) {
  finding_.job_hosts = std::numeric_limits<int64_t>::max();
  facts_.largest_job_hosts = std::numeric_limits<int64_t>::max();
  ExpectRemoved();
  finding_.job_hosts = -5;
  facts_.largest_job_hosts = 0;  // not known: then one
  ExpectRemoved();
  AddRemoval("hardware:a", 2 * kDay);
  ExpectBudgetHit("share-of-job");
}

TEST_F(PolicyTest, AJobOfOneHostMayLoseItOnce) {
  finding_.job_hosts = 1;
  facts_.largest_job_hosts = 1;
  ExpectRemoved();
  AddRemoval("hardware:a", 2 * kDay);
  ExpectBudgetHit("share-of-job");
}

TEST_F(PolicyTest, TheBreakerStopsAllRemovals) {
  facts_.breaker = {true, "2 hosts an hour", kNow, ""};
  Expect(Action::kRefuse, "breaker");
  EXPECT_THAT(Run().reason, HasSubstr("2 hosts an hour"));
  finding_.grounds = Grounds::kDirect;
  Expect(Action::kRefuse, "breaker");
  finding_.grounds = Grounds::kNever;
  Expect(Action::kWatch, "cause");
}

TEST_F(PolicyTest, HostsAnHour) {
  AddRemoval("hardware:a", absl::Minutes(59));
  ExpectRemoved();
  AddRemoval("hardware:b", absl::Minutes(10));
  ExpectBudgetHit("hosts-an-hour");
  facts_.removals[0].decided = kNow - absl::Hours(1);
  ExpectRemoved();
}

TEST_F(PolicyTest, ARepairGivesNoHostsAnHourBack) {
  AddRemoval("hardware:a", absl::Minutes(59));
  AddRemoval("hardware:b", absl::Minutes(10));
  for (PastRemoval& removal : facts_.removals) removal.standing = false;
  ExpectBudgetHit("hosts-an-hour");
}

TEST_F(PolicyTest, WhatTheBreakerHeldUpCountsWhenItBegins) {
  AddRemoval("hardware:a", absl::Hours(3));
  AddRemoval("hardware:b", absl::Hours(3));
  ExpectRemoved();
  for (PastRemoval& removal : facts_.removals) removal.begun = absl::InfiniteFuture();
  ExpectBudgetHit("hosts-an-hour");
  for (PastRemoval& removal : facts_.removals) removal.begun = kNow - absl::Minutes(59);
  ExpectBudgetHit("hosts-an-hour");
  facts_.removals[0].begun = kNow - absl::Hours(1);
  ExpectRemoved();
}

// Otherwise a clock that was ahead at the decision would set the budget free.
TEST_F(PolicyTest, ARemovalFromTheFutureCounts) {
  AddRemoval("hardware:a", -absl::Hours(5));
  AddRemoval("hardware:b", -absl::Hours(5));
  ExpectBudgetHit("hosts-an-hour");
}

TEST_F(PolicyTest, SlicesADay) {
  policy_.max_hosts_an_hour = 10;
  AddRemoval("hardware:a", absl::Hours(23), 1);
  AddRemoval("hardware:b", absl::Hours(23), 1);
  ExpectRemoved();  // slices 0 and 1
  AddRemoval("hardware:c", absl::Hours(23), 2);
  ExpectBudgetHit("slices-a-day");
  facts_.removals.back().decided = kNow - kDay;
  ExpectRemoved();
}

TEST_F(PolicyTest, ShareOfTheJob) {
  finding_.job_hosts = 40;  // of which 5 % are 2
  AddRemoval("hardware:a", 2 * kDay);
  ExpectRemoved();
  AddRemoval("hardware:b", 2 * kDay);
  ExpectBudgetHit("share-of-job");
  facts_.removals.back().job = "gemma";
  ExpectRemoved();
}

TEST_F(PolicyTest, AShareAllowsOneAtLeast) {
  finding_.job_hosts = 2;
  facts_.largest_job_hosts = 2;
  ExpectRemoved();
  AddRemoval("hardware:a", 2 * kDay);
  ExpectBudgetHit("share-of-job");
}

TEST_F(PolicyTest, ShareOfTheFleet) {
  facts_.largest_job_hosts = 100;  // of which 2 % are 2
  AddRemoval("hardware:a", 2 * kDay);
  facts_.removals.back().job = "gemma";
  ExpectRemoved();
  AddRemoval("hardware:b", 2 * kDay);
  ExpectBudgetHit("share-of-fleet");
  policy_.fleet_hosts = 150;
  ExpectRemoved();
  policy_.fleet_hosts.reset();
  facts_.removals.back().standing = false;
  ExpectRemoved();
}

TEST_F(PolicyTest, FactsReachBackForWindowAndBudgets) {
  EXPECT_EQ(FactsSince(policy_, kNow), kNow - 30 * kDay);
  policy_.window = absl::Hours(1);
  EXPECT_EQ(FactsSince(policy_, kNow), kNow - kDay);
}

}  // namespace
}  // namespace rapideye::coordinator
