#include "coordinator/fleet/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "tests/fleet/history_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HistoryTest : public HistoryFixture {
 protected:
  std::vector<Finding> Undecided() {
    return history_.Undecided(RemovalMode::kDryRun, kThen - 30 * kDay, 100).value();
  }
  std::vector<HangEvent> EventsAbout(const std::string& hardware) {
    return history_.FactsAbout(MachineKey(hardware, ""), RemovalMode::kDryRun, kThen - 30 * kDay)
        .value()
        .events;
  }
};

INSTANTIATE_TEST_SUITE_P(Each, HistoryTest, BothDatabases());

TEST_P(HistoryTest, AnIncidentDeliveredTwiceCountsOnce) {
  const IncidentRecord incident = Incident("i1", kThen, {BadChip("a", 3)});
  ASSERT_TRUE(history_.Record(incident, kThen).ok());
  ASSERT_TRUE(history_.Record(incident, kThen + kDay).ok());
  EXPECT_THAT(Undecided(), SizeIs(1));
  EXPECT_THAT(EventsAbout("a"), SizeIs(1));
  ASSERT_TRUE(history_.Record(Incident("i2", kThen, {BadChip("a", 3)}), kThen).ok());
  EXPECT_THAT(EventsAbout("a"), SizeIs(2));
}

TEST_P(HistoryTest, CulpritsOnOneMachineAreOneFinding) {
  CulpritRecord first = BadChip("a", 3);
  first.chip = 1;
  first.nic = "eth1";
  CulpritRecord second = BadChip("a", 3);
  second.grounds = Grounds::kDirect;
  ASSERT_TRUE(history_.Record(Incident("i1", kThen, {second, first, BadChip("b", 4)}), kThen).ok());
  const std::vector<Finding> findings = Undecided();
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].machine, "hardware:a");
  EXPECT_EQ(findings[0].host, "host-of-a");
  EXPECT_THAT(findings[0].chips, ElementsAre(1, 2));
  EXPECT_THAT(findings[0].nics, ElementsAre("eth1"));
  EXPECT_EQ(findings[0].grounds, Grounds::kDirect);
  EXPECT_EQ(findings[0].job_hosts, 64);
  EXPECT_EQ(findings[0].at, kThen);
  EXPECT_EQ(findings[1].machine, "hardware:b");
}

TEST_P(HistoryTest, TheOrderOfDeliveryDoesNotShow) {
  const std::vector<IncidentRecord> incidents = {
      Incident("i2", kThen + kDay, {BadChip("a", 1)}), Incident("i1", kThen, {BadChip("a", 2)}),
      Incident("i3", kThen + kDay, {BadChip("a", 3), BadChip("b", 1)})};
  for (const IncidentRecord& incident : incidents) {
    ASSERT_TRUE(history_.Record(incident, kThen + 2 * kDay).ok());
  }
  std::vector<std::string> order;
  for (const Finding& finding : Undecided()) order.push_back(finding.incident + finding.machine);
  EXPECT_THAT(order, ElementsAre("i1hardware:a", "i2hardware:a", "i3hardware:a", "i3hardware:b"));
}

TEST_P(HistoryTest, WhatIsUndecidedCanBeAskedForOneJobAlone) {
  IncidentRecord other_job = Incident("i2", kThen, {BadChip("b", 1)});
  other_job.job = "gemma";
  for (const IncidentRecord& incident : {Incident("i1", kThen, {BadChip("a", 1)}), other_job}) {
    ASSERT_TRUE(history_.Record(incident, kThen).ok());
  }
  const auto findings = history_.Undecided(RemovalMode::kDryRun, kThen, 10, "gemma").value();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].incident, "i2");
}

TEST_P(HistoryTest, WhatIsOlderThanTheRetentionIsDeletedWithItsDecisions) {
  for (int day = 0; day < 3; ++day) {
    IncidentRecord incident =
        Incident(absl::StrCat("i", day), kThen + day * kDay, {BadChip("a", day)});
    incident.digest = "{}";
    ASSERT_TRUE(history_.Record(incident, kThen + day * kDay).ok());
    const Finding finding = history_.FindingOf(incident.id, "hardware:a").value();
    ASSERT_TRUE(*history_.AddDecision(finding, RemovalMode::kDryRun, Decision(), kThen));
    ASSERT_TRUE(history_.ConfirmRepair(incident.id, "hardware:a", "none", "ada", kThen).ok());
  }
  EXPECT_FALSE(*history_.DropBefore(kThen + kDay, kThen + 2 * kDay));
  EXPECT_FALSE(history_.FindingOf("i0", "hardware:a").ok());
  EXPECT_EQ(*history_.DigestOf("i1"), "");
  EXPECT_EQ(*history_.DigestOf("i2"), "{}");
  for (const char* table :
       {"fleet_incidents", "fleet_culprits", "fleet_decisions", "fleet_repairs"}) {
    const auto rows = database_->Run(absl::StrCat("SELECT COUNT(*) FROM ", table));
    EXPECT_EQ(rows->front().Int(0), 2) << table;
  }
}

TEST_P(HistoryTest, AClockThatRunsAheadKeepsNoEventForLonger) {
  ASSERT_TRUE(history_.Record(Incident("i1", kThen + 300 * kDay, {BadChip("a", 1)}), kThen).ok());
  ASSERT_TRUE(history_.Record(Incident("i2", absl::InfinitePast(), {BadChip("b", 1)}), kThen).ok());
  ASSERT_THAT(EventsAbout("a"), SizeIs(1));
  EXPECT_EQ(EventsAbout("a")[0].at, kThen);
  EXPECT_THAT(EventsAbout("b"), IsEmpty());
}

TEST_P(HistoryTest, EventsAtTheSameCoordinateAndInTheSameIncidentBearOnAMachine) {
  IncidentRecord same_program = Incident("i4", kThen, {BadChip("d", 3)});
  same_program.job = "llama-2";
  IncidentRecord other_program = Incident("i5", kThen, {BadChip("e", 3)});
  other_program.job = "gemma";
  other_program.culprits[0].fingerprint = "ef";
  IncidentRecord unknown = other_program;
  unknown.id = "i6";
  unknown.culprits[0].fingerprint.reset();
  for (const IncidentRecord& incident :
       {Incident("i1", kThen, {BadChip("a", 3), BadChip("b", 9)}),
        Incident("i2", kThen, {BadChip("c", 3)}), Incident("i3", kThen, {BadChip("c", 4)}),
        same_program, other_program, unknown}) {
    ASSERT_TRUE(history_.Record(incident, kThen).ok());
  }
  std::vector<std::string> about;
  for (const HangEvent& event : EventsAbout("a")) about.push_back(event.incident + event.machine);
  EXPECT_THAT(about, ::testing::UnorderedElementsAre("i1hardware:a", "i1hardware:b", "i2hardware:c",
                                                     "i4hardware:d"));
}

TEST_P(HistoryTest, WhatIsForgottenNoLongerCountsButStillExonerates) {
  ASSERT_TRUE(history_.Record(Incident("i1", kThen, {BadChip("a", 3)}), kThen).ok());
  ASSERT_TRUE(history_.Record(Incident("i2", kThen, {BadChip("b", 3)}), kThen).ok());
  ASSERT_TRUE(history_.Forget("hardware:a", "operator", kThen + kDay).ok());
  // This incident is delivered later, but happened before.
  ASSERT_TRUE(history_.Record(Incident("i3", kThen, {BadChip("a", 3)}), kThen + 2 * kDay).ok());
  EXPECT_THAT(EventsAbout("a"), ElementsAre(::testing::Field(&HangEvent::incident, "i2")));
  EXPECT_THAT(EventsAbout("b"), SizeIs(3));
  ASSERT_TRUE(
      history_.Record(Incident("i4", kThen + 2 * kDay, {BadChip("a", 5)}), kThen + 2 * kDay).ok());
  EXPECT_THAT(EventsAbout("a"), SizeIs(2));
}

TEST_P(HistoryTest, SaysWhenThereAreMoreEventsThanAreWeighed) {
  const auto facts = [this] {
    return history_.FactsAbout("hardware:a", RemovalMode::kDryRun, kThen).value();
  };
  // Many culprits in few incidents: the number of rows is what counts against the limit.
  const int64_t incidents = kMaxEventsPerDecision / static_cast<int64_t>(kMaxRememberedCulprits);
  for (int64_t i = 0; i < incidents; ++i) {
    std::vector<CulpritRecord> culprits;
    for (size_t c = 0; c < kMaxRememberedCulprits; ++c) {
      culprits.push_back(BadChip("a", static_cast<int64_t>(c)));
    }
    const std::string id = absl::StrCat("i", i);
    ASSERT_TRUE(history_.Record(Incident(id, kThen, std::move(culprits)), kThen).ok());
  }
  EXPECT_THAT(facts().events, SizeIs(kMaxEventsPerDecision));
  EXPECT_TRUE(facts().all_events);
  ASSERT_TRUE(history_.Record(Incident("more", kThen, {BadChip("a", 1)}), kThen).ok());
  EXPECT_FALSE(facts().all_events);
}

TEST_P(HistoryTest, ANameThatAnotherMachineBearsByNowIsTaken) {
  const auto taken = [this](const std::string& machine) {
    return history_.FactsAbout(machine, RemovalMode::kDryRun, kThen).value().name_taken_by;
  };
  CulpritRecord by_name = BadChip("a", 3);
  by_name.hardware.reset();
  by_name.machine = MachineKey(by_name.hardware, by_name.host);
  ASSERT_TRUE(history_.Record(Incident("i1", kThen, {BadChip("a", 3)}), kThen).ok());
  ASSERT_TRUE(history_.Record(Incident("i2", kThen + kDay, {by_name}), kThen + kDay).ok());
  EXPECT_EQ(taken("hardware:a"), std::nullopt);
  CulpritRecord replacement = BadChip("b", 3);
  replacement.host = by_name.host;
  ASSERT_TRUE(history_.Record(Incident("i3", kThen + kDay, {replacement}), kThen + kDay).ok());
  EXPECT_EQ(taken("hardware:a"), "hardware:b");
  EXPECT_EQ(taken("hardware:b"), std::nullopt);  // its finding came last
  EXPECT_EQ(taken(by_name.machine), "hardware:b");

  // The pod at this place was on one node, and then on another.
  CulpritRecord pod = BadChip("c", 3);
  pod.host = "pod-3";
  pod.node = "node-c";
  CulpritRecord next_pod = pod;
  next_pod.machine = "hardware:d";
  next_pod.node = "node-d";
  ASSERT_TRUE(history_.Record(Incident("i4", kThen, {pod}), kThen).ok());
  ASSERT_TRUE(history_.Record(Incident("i5", kThen, {next_pod}), kThen).ok());
  EXPECT_EQ(taken("hardware:c"), std::nullopt);
  next_pod.node = "node-c";
  ASSERT_TRUE(history_.Record(Incident("i6", kThen, {next_pod}), kThen).ok());
  EXPECT_EQ(taken("hardware:c"), "hardware:d");
}

// A name that a peer made up must not keep the rest of the history from its database.
TEST_P(HistoryTest, TakesWhateverBytesAPeerSent) {
  CulpritRecord culprit = BadChip(std::string("h\0\xff", 3), 1);
  culprit.node = std::string(100'000, 'n');
  IncidentRecord incident = Incident("i1", kThen, {culprit});
  incident.job = "'; DROP TABLE fleet_incidents; --";
  incident.digest = "\xc3{";
  ASSERT_TRUE(history_.Record(incident, kThen).ok());
  const std::vector<Finding> findings = Undecided();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].job, incident.job);
  EXPECT_LE(findings[0].node->size(), kMaxHistoryText);
}

TEST_P(HistoryTest, ABreakerStaysOpenUntilSomebodyClosesIt) {
  EXPECT_FALSE(history_.BreakerOf(RemovalMode::kEnforce)->open);
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, true, "2 hosts an hour", "", kThen).ok());
  const Breaker breaker = History(*made_.Connect()).BreakerOf(RemovalMode::kEnforce).value();
  EXPECT_TRUE(breaker.open);
  EXPECT_EQ(breaker.reason, "2 hosts an hour");
  EXPECT_EQ(breaker.since, kThen);
  EXPECT_FALSE(history_.BreakerOf(RemovalMode::kDryRun)->open);
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, false, "", "ada", kThen + kDay).ok());
  EXPECT_FALSE(history_.BreakerOf(RemovalMode::kEnforce)->open);
  EXPECT_EQ(history_.BreakerOf(RemovalMode::kEnforce)->who, "ada");
}

TEST_P(HistoryTest, ARepairIsOfAMachineThatTheIncidentNames) {
  ASSERT_TRUE(history_.Record(Incident("i1", kThen, {BadChip("a", 3)}), kThen).ok());
  EXPECT_TRUE(history_.ConfirmRepair("i1", "hardware:a", "chip", "ada", kThen).ok());
  EXPECT_TRUE(history_.ConfirmRepair("i1", "hardware:a", "none", "ada", kThen).ok());
  EXPECT_EQ(history_.ConfirmRepair("i1", "hardware:b", "chip", "ada", kThen).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(history_.ConfirmRepair("i1", "hardware:a", "prayer", "ada", kThen).code(),
            absl::StatusCode::kInvalidArgument);
  const auto rows = database_->Run("SELECT repair FROM fleet_repairs");
  ASSERT_THAT(*rows, SizeIs(1));
  EXPECT_EQ(rows->front().Text(0), "none");
}

TEST_P(HistoryTest, KnowsTheNewestOfTheTimesThatNoTenantSets) {
  EXPECT_EQ(*history_.Newest(), absl::InfinitePast());
  const absl::Time year_9000 = absl::FromCivil(absl::CivilYear(9000), absl::UTCTimeZone());
  ASSERT_TRUE(history_.Record(Incident("i1", year_9000, {BadChip("a", 3)}), year_9000).ok());
  EXPECT_EQ(*history_.Newest(), absl::InfinitePast());
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, true, "budget", "", kThen).ok());
  EXPECT_EQ(*history_.Newest(), kThen);
  ASSERT_TRUE(history_.Forget("hardware:a", "", kThen + kDay).ok());
  EXPECT_EQ(*history_.Newest(), kThen + kDay);
}

TEST(FleetClockTest, GoesOnFromTheDatabaseOrWhatWasRememberedLast) {
  const FleetClock fresh(kThen, absl::InfinitePast(), absl::Seconds(100));
  EXPECT_EQ(fresh.At(absl::Seconds(160)), kThen + absl::Minutes(1));
  const FleetClock stepped_back(kThen - kDay, kThen, absl::Seconds(100));
  EXPECT_EQ(stepped_back.At(absl::Seconds(160)), kThen + absl::Minutes(1));
}

}  // namespace
}  // namespace rapideye::coordinator
