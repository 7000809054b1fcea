// Tests of the facts that the history gives policy for decisions, and of those it keeps of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/fleet/limits.h"
#include "tests/fleet/history_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DecisionsTest : public HistoryFixture {
 protected:
  Finding FindingOf(const std::string& id, const std::string& hardware) {
    EXPECT_TRUE(history_.Record(Incident(id, kThen, {BadChip(hardware, 3)}), kThen).ok());
    return history_.NewestFinding(MachineKey(hardware, "")).value();
  }
  bool Remove(const Finding& finding, RemovalMode mode) {
    const Decision decision{Action::kRemove, "repetition", "it repeats", kThen + kDay, false};
    return history_.AddDecision(finding, mode, decision, kThen).value();
  }
  std::vector<PastRemoval> Removals(RemovalMode mode) {
    return history_.FactsAbout("hardware:a", mode, kThen - kDay).value().removals;
  }
  void AddTask(const Finding& finding, const std::string& name, const std::string& state,
               int64_t attempts) {
    ASSERT_TRUE(database_
                    ->Run("INSERT INTO fleet_tasks (task, incident, subject, hook, state, holder, "
                          "lease_ms, attempts, not_before_ms, created_ms, expires_ms, finished_ms, "
                          "outcome, output) "
                          "VALUES ($1, $2, $3, '', $4, '', 0, $5, 0, 0, 0, 0, '', '')",
                          {name, finding.incident, finding.machine, state, attempts})
                    .ok());
  }
};

INSTANTIATE_TEST_SUITE_P(Each, DecisionsTest, BothDatabases());

TEST_P(DecisionsTest, AFindingIsDecidedOncePerMode) {
  const Finding finding = FindingOf("i1", "a");
  EXPECT_TRUE(Remove(finding, RemovalMode::kDryRun));
  EXPECT_FALSE(Remove(finding, RemovalMode::kDryRun));
  EXPECT_THAT(*history_.Undecided(RemovalMode::kDryRun, kThen, 10), IsEmpty());
  EXPECT_THAT(*history_.Undecided(RemovalMode::kEnforce, kThen, 10), SizeIs(1));
  EXPECT_TRUE(Remove(finding, RemovalMode::kEnforce));
}

TEST_P(DecisionsTest, WhatIsTooOldIsNotDecidedAbout) {
  FindingOf("i1", "a");
  EXPECT_THAT(*history_.Undecided(RemovalMode::kDryRun, kThen + absl::Seconds(1), 10), IsEmpty());
  EXPECT_THAT(*history_.Undecided(RemovalMode::kDryRun, kThen, 10), SizeIs(1));
}

// A coordinator whose clock was years ahead recorded incidents: for years they would repeat,
// exonerate and take names.
TEST_P(DecisionsTest, WhatATimeToComeStatesIsNoFactYet) {
  const absl::Time wrong = kThen + 4000 * kDay;
  FindingOf("i1", "a");
  CulpritRecord named = BadChip("b", 3);
  named.host = "host-of-a";
  ASSERT_TRUE(history_.Record(Incident("i2", wrong, {BadChip("a", 4)}), wrong).ok());
  ASSERT_TRUE(history_.Record(Incident("i3", wrong, {named}), wrong).ok());
  const auto facts = [&](absl::Time now) {
    return history_.FactsAbout("hardware:a", RemovalMode::kEnforce, kThen - kDay, "", now).value();
  };
  EXPECT_THAT(facts(kThen).events, SizeIs(1));
  EXPECT_EQ(facts(kThen).name_taken_by, std::nullopt);
  EXPECT_THAT(facts(wrong).events, SizeIs(3));
  EXPECT_EQ(facts(wrong).name_taken_by, "hardware:b");
}

TEST_P(DecisionsTest, ATurnTakesTheOldestAndLeavesTheRest) {
  FindingOf("i1", "a");
  FindingOf("i2", "a");
  const auto first = history_.Undecided(RemovalMode::kDryRun, kThen, 1).value();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].incident, "i1");
}

TEST_P(DecisionsTest, ADryRunHoldsNobodyBackWhoEnforces) {
  Remove(FindingOf("i1", "a"), RemovalMode::kDryRun);
  EXPECT_THAT(Removals(RemovalMode::kDryRun), SizeIs(1));
  EXPECT_THAT(Removals(RemovalMode::kEnforce), IsEmpty());
  Remove(FindingOf("i2", "b"), RemovalMode::kEnforce);
  EXPECT_THAT(Removals(RemovalMode::kDryRun), SizeIs(2));
  ASSERT_THAT(Removals(RemovalMode::kEnforce), SizeIs(1));
  const PastRemoval removal = Removals(RemovalMode::kEnforce)[0];
  EXPECT_EQ(removal.machine, "hardware:b");
  EXPECT_EQ(removal.job, "llama");
  EXPECT_THAT(removal.slices, ElementsAre(0));
  EXPECT_EQ(removal.decided, kThen);
}

TEST_P(DecisionsTest, OnlyRemovalsAreRemovals) {
  const Finding finding = FindingOf("i1", "a");
  Decision watch;
  watch.rule = "repetition";
  ASSERT_TRUE(*history_.AddDecision(finding, RemovalMode::kEnforce, watch, kThen));
  EXPECT_THAT(Removals(RemovalMode::kEnforce), IsEmpty());
}

TEST_P(DecisionsTest, ARemovalStandsUntilTheMachineIsForgotten) {
  Remove(FindingOf("i1", "a"), RemovalMode::kEnforce);
  ASSERT_TRUE(history_.Forget("hardware:a", "", kThen - absl::Seconds(1)).ok());
  EXPECT_TRUE(Removals(RemovalMode::kEnforce)[0].standing);
  ASSERT_TRUE(history_.Forget("hardware:a", "", kThen + absl::Seconds(1)).ok());
  EXPECT_FALSE(Removals(RemovalMode::kEnforce)[0].standing);
}

TEST_P(DecisionsTest, ARemovalThatWasNeverBegunDoesNotStand) {
  const Finding finding = FindingOf("i1", "a");
  Remove(finding, RemovalMode::kEnforce);
  EXPECT_FALSE(Removals(RemovalMode::kEnforce)[0].given_up);
  AddTask(finding, "first", "expired", 0);
  EXPECT_FALSE(Removals(RemovalMode::kEnforce)[0].standing);
  EXPECT_TRUE(Removals(RemovalMode::kEnforce)[0].given_up);
  AddTask(finding, "second", "done", 1);
  EXPECT_TRUE(Removals(RemovalMode::kEnforce)[0].standing);
  EXPECT_FALSE(Removals(RemovalMode::kEnforce)[0].given_up);
}

// The hook may have drained the machine before it failed.
TEST_P(DecisionsTest, ARemovalWhoseHooksFailedMayStand) {
  const Finding finding = FindingOf("i1", "a");
  Remove(finding, RemovalMode::kEnforce);
  AddTask(finding, "first", "failed", 8);
  EXPECT_TRUE(Removals(RemovalMode::kEnforce)[0].standing);
  EXPECT_TRUE(Removals(RemovalMode::kEnforce)[0].given_up);
}

TEST_P(DecisionsTest, KnowsWhenARemovalBegan) {
  const Finding finding = FindingOf("i1", "a");
  Remove(finding, RemovalMode::kEnforce);
  EXPECT_EQ(Removals(RemovalMode::kEnforce)[0].begun, std::nullopt);
  AddTask(finding, "first", "due", 0);
  EXPECT_EQ(Removals(RemovalMode::kEnforce)[0].begun, absl::InfiniteFuture());
  ASSERT_TRUE(database_
                  ->Run("UPDATE fleet_tasks SET state = 'acting', attempts = 1, begun_ms = $1",
                        {ToValue(kThen + absl::Hours(5))})
                  .ok());
  EXPECT_EQ(Removals(RemovalMode::kEnforce)[0].begun, kThen + absl::Hours(5));
}

TEST_P(DecisionsTest, KnowsWhetherARemovalIsStillWanted) {
  const Finding finding = FindingOf("i1", "a");
  EXPECT_FALSE(*history_.RemovalStands(finding, RemovalMode::kEnforce));
  Remove(finding, RemovalMode::kDryRun);
  EXPECT_FALSE(*history_.RemovalStands(finding, RemovalMode::kEnforce));
  Remove(finding, RemovalMode::kEnforce);
  EXPECT_TRUE(*history_.RemovalStands(finding, RemovalMode::kEnforce));
  ASSERT_TRUE(history_.Forget("hardware:a", "", kThen + absl::Seconds(1)).ok());
  EXPECT_FALSE(*history_.RemovalStands(finding, RemovalMode::kEnforce));
  const auto facts = history_.FactsAbout("hardware:a", RemovalMode::kEnforce, kThen);
  EXPECT_EQ(facts->forgotten, kThen + absl::Seconds(1));
}

TEST_P(DecisionsTest, AReasonThatIsTooLongIsCutBetweenCharacters) {
  Decision decision;
  for (int i = 0; i < 3000; ++i) decision.reason += "\xc3\xb6";
  decision.reason = "x" + decision.reason;
  const Finding finding = FindingOf("i1", "a");
  const auto added = history_.AddDecision(finding, RemovalMode::kEnforce, decision, kThen);
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_LE(history_.ReasonOf("i1", "hardware:a", RemovalMode::kEnforce)->size(),
            kMaxHistorySentence);
}

TEST_P(DecisionsTest, TheLargestJobTellsHowLargeTheFleetIsAtLeast) {
  FindingOf("i1", "a");
  EXPECT_EQ(history_.FactsAbout("hardware:a", RemovalMode::kDryRun, kThen)->largest_job_hosts, 64);
  EXPECT_EQ(
      history_.FactsAbout("hardware:a", RemovalMode::kDryRun, kThen + kDay)->largest_job_hosts, 0);
}

TEST_P(DecisionsTest, AMachineNobodyKnowsIsNotFound) {
  EXPECT_EQ(history_.NewestFinding("hardware:x").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace rapideye::coordinator
