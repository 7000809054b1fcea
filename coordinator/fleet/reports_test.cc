#include "coordinator/fleet/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fleet/history_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class ReportsTest : public HistoryFixture {
 protected:
  void Record(const std::string& id, absl::Time at, const std::string& hardware,
              const std::string& host = "h") {
    CulpritRecord culprit = BadChip(hardware, 3);
    culprit.host = host;
    IncidentRecord incident = Incident(id, at, {culprit});
    if (id.starts_with("lost")) {
      incident.cause = "UNRECOVERABLE_ERROR";
      incident.detail = "WORKER_LOST";
    }
    ASSERT_TRUE(history_.Record(incident, kThen + 10 * kDay).ok());
  }
  void Decide(const std::string& incident, const std::string& machine, Action action) {
    const Finding finding = history_.FindingOf(incident, machine).value();
    ASSERT_TRUE(*history_.AddDecision(finding, RemovalMode::kEnforce,
                                      {action, "repetition", "the reason", kThen, false},
                                      kThen + kDay));
  }
};

INSTANTIATE_TEST_SUITE_P(Each, ReportsTest, BothDatabases());

TEST_P(ReportsTest, OffendersByIncidentsWithTheirCausesAndLatestName) {
  Record("i1", kThen, "a", "old-name");
  Record("i2", kThen + kDay, "a", "new-name");
  Record("lost-1", kThen, "a", "old-name");
  Record("i3", kThen, "b");
  const auto offenders = Offenders(*database_, kThen, kThen + 9 * kDay, 10);
  ASSERT_TRUE(offenders.ok()) << offenders.status();
  ASSERT_THAT(*offenders, SizeIs(2));
  const Offender& first = offenders->at(0);
  EXPECT_EQ(first.machine, "hardware:a");
  EXPECT_EQ(first.host, "new-name");
  EXPECT_EQ(first.incidents, 3);
  EXPECT_THAT(first.causes,
              ElementsAre("BAD_TPU_CHIP TENSOR_CORE (2)", "UNRECOVERABLE_ERROR WORKER_LOST (1)"));
  EXPECT_EQ(first.last_seen, kThen + kDay);
  EXPECT_THAT(*Offenders(*database_, kThen, kThen + 9 * kDay, 1), SizeIs(1));
  EXPECT_THAT(*Offenders(*database_, kThen + 2 * kDay, kThen + 9 * kDay, 10), IsEmpty());
}

TEST_P(ReportsTest, WhoWasForgottenIsNoOffenderUntilItFailsAgain) {
  Record("i1", kThen, "a");
  ASSERT_TRUE(history_.Forget("hardware:a", "", kThen + kDay).ok());
  EXPECT_THAT(*Offenders(*database_, kThen, kThen + 9 * kDay, 10), IsEmpty());
  Record("i2", kThen + 2 * kDay, "a");
  EXPECT_THAT(*Offenders(*database_, kThen, kThen + 9 * kDay, 10), SizeIs(1));
}

// An operator recorded a repair on a host whose clock was years ahead.
TEST_P(ReportsTest, ARepairOfAYearToComeHidesNobody) {
  Record("i1", kThen, "a");
  ASSERT_TRUE(history_.Forget("hardware:a", "", kThen + 4000 * kDay).ok());
  EXPECT_THAT(*Offenders(*database_, kThen, kThen + kDay, 10), SizeIs(1));
  EXPECT_THAT(*Offenders(*database_, kThen, kThen + 4000 * kDay, 10), IsEmpty());
}

TEST_P(ReportsTest, ANameMayBeOfSeveralMachines) {
  Record("i1", kThen, "a", "host-1");
  Record("i2", kThen, "b", "host-1");
  EXPECT_THAT(*MachinesNamed(*database_, "host-1"), ElementsAre("hardware:a", "hardware:b"));
  EXPECT_THAT(*MachinesNamed(*database_, "b"), ElementsAre("hardware:b"));
  EXPECT_THAT(*MachinesNamed(*database_, "hardware:b"), ElementsAre("hardware:b"));
  EXPECT_THAT(*MachinesNamed(*database_, "c"), IsEmpty());
}

TEST_P(ReportsTest, WhatIsKnownIsListedTheNewestFirst) {
  Record("i1", kThen, "a", "old-name");
  Record("i2", kThen + kDay, "a", "new-name");
  EXPECT_THAT(*KnownIncidents(*database_, 10), ElementsAre("i2", "i1"));
  EXPECT_THAT(*KnownIncidents(*database_, 1), ElementsAre("i2"));
  EXPECT_THAT(*KnownNames(*database_, 10), ElementsAre("a", "new-name", "old-name"));
  EXPECT_THAT(*KnownNames(*database_, 2), SizeIs(2));
  EXPECT_EQ(*HostOf(*database_, "hardware:a"), "new-name");
  EXPECT_EQ(*HostOf(*database_, "hardware:b"), "");
}

TEST_P(ReportsTest, AnIncidentNamesItsMachinesOnce) {
  CulpritRecord other_chip = BadChip("a", 3);
  other_chip.chip = 3;
  CulpritRecord by_name = BadChip("b", 4);
  by_name.hardware.reset();
  by_name.machine = MachineKey(std::nullopt, by_name.host);
  by_name.node = "node-b";
  const IncidentRecord incident = Incident("i1", kThen, {BadChip("a", 3), other_chip, by_name});
  ASSERT_TRUE(history_.Record(incident, kThen).ok());
  ASSERT_TRUE(history_.Record(Incident("i2", kThen, {}), kThen).ok());
  const auto machines = MachinesOf(*database_, "i1");
  ASSERT_TRUE(machines.ok()) << machines.status();
  ASSERT_THAT(*machines, SizeIs(2));
  EXPECT_EQ(machines->at(0).machine, "hardware:a");
  EXPECT_EQ(machines->at(0).hardware, "a");
  EXPECT_EQ(machines->at(0).node, std::nullopt);
  EXPECT_EQ(machines->at(1).machine, by_name.machine);
  EXPECT_EQ(machines->at(1).host, by_name.host);
  EXPECT_EQ(machines->at(1).node, "node-b");
  EXPECT_THAT(*MachinesOf(*database_, "i2"), IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(MachinesOf(*database_, "i3").status()));
}

TEST_P(ReportsTest, TheLatestDecisionIsOfOneMode) {
  Record("i1", kThen, "a");
  EXPECT_EQ(*LatestDecisionAbout(*database_, "hardware:a", RemovalMode::kEnforce), std::nullopt);
  Decide("i1", "hardware:a", Action::kWatch);
  const auto latest = LatestDecisionAbout(*database_, "hardware:a", RemovalMode::kEnforce);
  ASSERT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  EXPECT_EQ((*latest)->incident, "i1");
  EXPECT_EQ((*latest)->action, "watch");
  EXPECT_EQ((*latest)->rule, "repetition");
  EXPECT_EQ((*latest)->reason, "the reason");
  EXPECT_EQ((*latest)->at, kThen + kDay);
  EXPECT_EQ(*LatestDecisionAbout(*database_, "hardware:a", RemovalMode::kDryRun), std::nullopt);
  EXPECT_EQ(*LatestDecisionAbout(*database_, "hardware:b", RemovalMode::kEnforce), std::nullopt);
}

TEST_P(ReportsTest, RemovalsAreThoseThatWereDecidedOn) {
  for (const char* incident : {"i1", "i2", "i3"}) Record(incident, kThen, "a");
  Decide("i1", "hardware:a", Action::kWatch);
  Decide("i2", "hardware:a", Action::kRemove);
  EXPECT_THAT(*RemovalsOf(*database_, "hardware:a"), ElementsAre("i2"));
  EXPECT_THAT(*RemovalsOf(*database_, "hardware:b"), IsEmpty());
}

TEST_P(ReportsTest, AHistoryShowsWhatAHookPrinted) {
  Record("i1", kThen, "a");
  EXPECT_EQ(*HooksWaiting(*database_), 0);
  ASSERT_TRUE(database_
                  ->Run("INSERT INTO fleet_tasks (task, incident, subject, hook, state, holder, "
                        "lease_ms, attempts, not_before_ms, created_ms, expires_ms, finished_ms, "
                        "outcome, output) VALUES ('t', 'i1', 'hardware:a', '/hooks/drain', 'due', "
                        "'', 0, 1, 0, 5, 0, 0, 'exited with status 1', 'no such node')")
                  .ok());
  EXPECT_EQ(*HooksWaiting(*database_), 1);
  const auto happenings = HistoryOf(*database_, "hardware:a");
  ASSERT_TRUE(happenings.ok()) << happenings.status();
  const Happening& hook = happenings->front();
  EXPECT_EQ(hook.kind, "hook");
  EXPECT_EQ(hook.text, "/hooks/drain: due, attempts: 1; exited with status 1");
  EXPECT_THAT(hook.details, Contains(Pair("output", "no such node")));
}

TEST_P(ReportsTest, AHistoryTellsWhyAMachineWasRemovedOrNot) {
  Record("i1", kThen, "a");
  Record("i2", kThen, "b");
  Decide("i1", "hardware:a", Action::kWatch);
  ASSERT_TRUE(history_.ConfirmRepair("i1", "hardware:a", "chip", "ada", kThen + 2 * kDay).ok());
  ASSERT_TRUE(history_.Forget("hardware:a", "ada", kThen + 3 * kDay).ok());
  const auto happenings = HistoryOf(*database_, "hardware:a");
  ASSERT_TRUE(happenings.ok()) << happenings.status();
  std::vector<std::string> kinds;
  for (const Happening& happening : *happenings) kinds.push_back(happening.kind);
  EXPECT_THAT(kinds, ElementsAre("incident", "decision", "repair", "forgotten"));
  EXPECT_THAT(happenings->at(0).text, HasSubstr("slice 0 task 3 of job llama"));
  EXPECT_THAT(happenings->at(1).text, HasSubstr("watch (enforce): the reason"));
  EXPECT_THAT(happenings->at(2).text, HasSubstr("chip (ada)"));
}

TEST_P(ReportsTest, PrecisionIsOfRemovalsWhoseOutcomeIsKnown) {
  for (const char* machine : {"a", "b", "c", "d"}) {
    Record(std::string("i-") + machine, kThen, machine);
    Decide(std::string("i-") + machine, std::string("hardware:") + machine,
           machine[0] == 'd' ? Action::kRefuse : Action::kRemove);
  }
  ASSERT_TRUE(history_.ConfirmRepair("i-a", "hardware:a", "chip", "", kThen).ok());
  ASSERT_TRUE(history_.ConfirmRepair("i-b", "hardware:b", "none", "", kThen).ok());
  ASSERT_TRUE(history_.ConfirmRepair("i-d", "hardware:d", "chip", "", kThen).ok());
  const auto precision = PrecisionOf(*database_, RemovalMode::kEnforce);
  ASSERT_TRUE(precision.ok()) << precision.status();
  ASSERT_THAT(*precision, SizeIs(1));
  EXPECT_EQ(precision->at(0).cause, "BAD_TPU_CHIP");
  EXPECT_EQ(precision->at(0).right, 1);
  EXPECT_EQ(precision->at(0).wrong, 1);
  EXPECT_EQ(precision->at(0).unknown, 1);
  EXPECT_THAT(*PrecisionOf(*database_, RemovalMode::kDryRun), IsEmpty());
}

}  // namespace
}  // namespace rapideye::coordinator
