#include "coordinator/removal/remover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "coordinator/fleet/limits.h"
#include "tests/fleet/remover_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RemoverTest : public RemoverFixture {};

INSTANTIATE_TEST_SUITE_P(Each, RemoverTest, BothDatabases());

TEST_P(RemoverTest, WatchesThreeTimesAndRemovesTheFourth) {
  Remover remover = Make(*database_, Settings());
  for (int i = 0; i < 3; ++i) {
    Fail("a", 1);
    const auto report = remover.Turn();
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_THAT(report->decisions, SizeIs(1));
    EXPECT_EQ(report->decisions[0].decision.action, Action::kWatch);
  }
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  Fail("a", 1);
  const auto report = remover.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_THAT(report->ended, SizeIs(1));
  EXPECT_EQ(report->ended[0].state, "done");
  const std::vector<HookCall> calls = hooks_.calls();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].hook, "/hooks/drain");
  EXPECT_EQ(calls[0].finding.incident, "i4");
  EXPECT_EQ(calls[0].finding.host, "host-of-a");
  EXPECT_EQ(calls[0].digest, "{}");
  EXPECT_EQ(calls[0].attempt, 1);
  EXPECT_THAT(calls[0].reason, HasSubstr("4 hang events"));
}

TEST_P(RemoverTest, DoesNothingTwice) {
  Remover remover = Make(*database_, Settings());
  Fail("a", 4);
  ASSERT_TRUE(remover.Turn().ok());
  const auto again = remover.Turn();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->decisions, IsEmpty());
  Fail("a", 1);
  EXPECT_EQ(remover.Turn()->decisions.at(0).decision.rule, "removed");
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
}

// The history of a fleet, which goes away while a hook runs.
class VanishingDatabase final : public Database {
 public:
  VanishingDatabase(std::unique_ptr<Database> real, const bool& away)
      : real_(std::move(real)), away_(away) {}
  using Database::Run;
  absl::StatusOr<std::vector<Row>> Run(const std::string& statement,
                                       const std::vector<Value>& values) override {
    return away_ ? absl::UnavailableError("away") : real_->Run(statement, values);
  }
  absl::Status Begin() override { return away_ ? absl::UnavailableError("away") : real_->Begin(); }
  absl::StatusOr<absl::Time> WallClock() override { return real_->WallClock(); }
  std::string Name() const override { return "vanishing"; }

 private:
  const std::unique_ptr<Database> real_;
  const bool& away_;
};

class Cutting final : public HookRunner {
 public:
  Cutting(RecordingHooks& hooks, bool& away) : hooks_(hooks), away_(away) {}
  HookResult Run(const HookCall& call) override {
    away_ = true;
    return hooks_.Run(call);
  }

 private:
  RecordingHooks& hooks_;
  bool& away_;
};

TEST_P(RemoverTest, AHookThatEndsWhileTheHistoryIsAwayIsNotRunAgain) {
  bool away = false;
  VanishingDatabase database(made_.Connect(), away);
  Cutting runner(hooks_, away);
  Remover remover = Remover::Make(database, runner, Settings()).value();
  Fail("a", 4);
  EXPECT_EQ(remover.Turn().status().code(), absl::StatusCode::kUnavailable);
  ASSERT_THAT(hooks_.calls(), SizeIs(1));
  EXPECT_FALSE(remover.Turn().ok());
  away = false;
  now_ += absl::Minutes(10);  // its lease has ended
  const auto report = remover.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->decisions, SizeIs(4));  // of the turn that failed
  ASSERT_THAT(report->ended, SizeIs(1));
  EXPECT_EQ(report->ended[0].state, "done");
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
}

// An operator can read the decision in the log while the hook still runs.
TEST_P(RemoverTest, TellsOfDecisionsBeforeItActs) {
  Remover::Settings settings = Settings();
  std::vector<std::string> told;
  settings.decided = [&](const Remover::Decided& decided) {
    EXPECT_THAT(hooks_.calls(), IsEmpty());
    told.push_back(decided.finding.incident);
  };
  Remover remover = Make(*database_, settings);
  Fail("a", 4);
  ASSERT_TRUE(remover.Turn().ok());
  EXPECT_THAT(told, ::testing::ElementsAre("i1", "i2", "i3", "i4"));
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
}

TEST_P(RemoverTest, ADryRunDecidesAndActsOnNothing) {
  Remover::Settings settings = Settings();
  settings.policy.mode = RemovalMode::kDryRun;
  settings.hooks.clear();
  Remover remover = Make(*database_, settings);
  Fail("a", 1, Grounds::kDirect);
  const auto report = remover.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->decisions.at(0).decision.action, Action::kRemove);
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  // A remover that enforces decides for itself, whatever the dry run has decided.
  ASSERT_TRUE(Make(*database_, Settings()).Turn().ok());
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
}

TEST_P(RemoverTest, EnforcingWithoutAHookIsRefused) {
  Remover::Settings settings = Settings();
  settings.hooks.clear();
  EXPECT_EQ(Remover::Make(*database_, hooks_, settings).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(RemoverTest, EveryHookRunsInItsOrder) {
  Remover::Settings settings = Settings();
  settings.hooks = {"/hooks/b", "/hooks/a"};
  Fail("a", 1, Grounds::kDirect);
  ASSERT_TRUE(Make(*database_, settings).Turn().ok());
  ASSERT_THAT(hooks_.calls(), SizeIs(2));
  EXPECT_EQ(hooks_.calls()[0].hook, "/hooks/b");
}

TEST_P(RemoverTest, AWaveOpensTheBreakerBeforeTheFirstMachineGoes) {
  Remover remover = Make(*database_, Settings());
  for (const char* machine : {"a", "b", "c"}) Fail(machine, 1, Grounds::kDirect);
  const auto report = remover.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->stopped_by_breaker);
  EXPECT_EQ(report->next, absl::InfiniteFuture());  // a turn before that would find nothing
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  EXPECT_TRUE(history_.BreakerOf(RemovalMode::kEnforce)->open);

  now_ += absl::Hours(2);
  Fail("d", 1, Grounds::kDirect);
  EXPECT_EQ(remover.Turn()->decisions.at(0).decision.rule, "breaker");
  EXPECT_THAT(hooks_.calls(), IsEmpty());

  // An operator allows removals again: those decided within the budget are done.
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, false, "", "ada", now_).ok());
  ASSERT_TRUE(remover.Turn().ok());
  EXPECT_THAT(hooks_.calls(), SizeIs(2));
}

TEST_P(RemoverTest, WhatTheBreakerHeldTooLongExpires) {
  Remover remover = Make(*database_, Settings());
  for (const char* machine : {"a", "b", "c"}) Fail(machine, 1, Grounds::kDirect);
  ASSERT_TRUE(remover.Turn().ok());
  now_ += absl::Hours(24);
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, false, "", "ada", now_).ok());
  const auto report = remover.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->ended, SizeIs(2));
  EXPECT_EQ(report->ended.at(0).state, "expired");
  EXPECT_THAT(hooks_.calls(), IsEmpty());
}

// Removals are decided, and held up by the breaker; meanwhile people look after the machines.
TEST_P(RemoverTest, WhatWasRepairedOrDeniedSinceIsNotRemovedAnyMore) {
  Remover remover = Make(*database_, Settings());
  for (const char* machine : {"a", "b", "c"}) Fail(machine, 1, Grounds::kDirect);
  ASSERT_TRUE(remover.Turn().ok());
  now_ += absl::Hours(2);
  ASSERT_TRUE(history_.Forget("hardware:a", "ada", now_).ok());
  ASSERT_TRUE(history_.SetBreaker(RemovalMode::kEnforce, false, "", "ada", now_).ok());
  Remover::Settings settings = Settings();
  settings.policy.deny = {"host-of-b"};
  const auto report = Make(*database_, settings).Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(hooks_.calls(), IsEmpty());
  ASSERT_THAT(report->ended, SizeIs(2));
  for (const Task& task : report->ended) EXPECT_EQ(task.state, "expired");
  EXPECT_THAT(report->ended[0].outcome, HasSubstr("repaired"));
  EXPECT_THAT(report->ended[1].outcome, HasSubstr("may not be removed"));
}

// A writer of tasks cannot have one run for a machine that no remover decided to remove.
TEST_P(RemoverTest, ATaskWithoutADecisionIsNotRun) {
  Fail("a", 1);
  Remover remover = Make(*database_, Settings());
  ASSERT_TRUE(remover.Turn().ok());
  Task task;
  task.incident = "i1";
  task.subject = "hardware:a";
  task.hook = "/hooks/drain";
  task.not_before = now_;
  task.expires = now_ + absl::Hours(1);
  ASSERT_TRUE(Journal(*database_, "somebody", {}).Add(task, now_).ok());
  ASSERT_TRUE(remover.Turn().ok());
  EXPECT_THAT(hooks_.calls(), IsEmpty());
}

// Direct evidence from before the repair is delivered after the repair.
TEST_P(RemoverTest, AFindingOfBeforeTheRepairIsWatched) {
  Fail("a", 1, Grounds::kDirect);
  now_ += absl::Minutes(1);
  ASSERT_TRUE(history_.Forget("hardware:a", "ada", now_).ok());
  Remover remover = Make(*database_, Settings());
  EXPECT_EQ(remover.Turn()->decisions.at(0).decision.rule, "forgotten");
  now_ += absl::Minutes(1);
  Fail("a", 1, Grounds::kDirect);
  ASSERT_TRUE(remover.Turn().ok());
  EXPECT_THAT(hooks_.calls(), SizeIs(1));
}

TEST_P(RemoverTest, ABreakerOfTheDryRunStopsNobodyWhoEnforces) {
  Remover::Settings settings = Settings();
  settings.policy.mode = RemovalMode::kDryRun;
  for (const char* machine : {"a", "b", "c"}) Fail(machine, 1, Grounds::kDirect);
  ASSERT_TRUE(Make(*database_, settings).Turn().ok());
  EXPECT_TRUE(history_.BreakerOf(RemovalMode::kDryRun)->open);
  now_ += absl::Minutes(1);
  ASSERT_TRUE(history_.Forget("hardware:a", "ada", now_).ok());
  ASSERT_TRUE(history_.Forget("hardware:b", "ada", now_).ok());
  ASSERT_TRUE(Make(*database_, Settings()).Turn().ok());
  ASSERT_THAT(hooks_.calls(), SizeIs(1));
  EXPECT_EQ(hooks_.calls()[0].finding.machine, "hardware:c");
}

TEST_P(RemoverTest, AHookThatFailsIsTriedAgainAndReportedInTheEnd) {
  Remover remover = Make(*database_, Settings());
  hooks_.Succeed(false);
  Fail("a", 1, Grounds::kDirect);
  auto report = remover.Turn();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->retried, SizeIs(1));
  EXPECT_EQ(report->retried.at(0).outcome, "exit status 1");
  while (report->next != absl::InfiniteFuture()) {
    ASSERT_LE(hooks_.calls().size(), static_cast<size_t>(kMaxHookAttempts));
    EXPECT_GT(report->next, now_);
    now_ = report->next;
    report = remover.Turn();
    ASSERT_TRUE(report.ok()) << report.status();
  }
  ASSERT_THAT(report->ended, SizeIs(1));
  EXPECT_EQ(report->ended[0].state, "failed");
  EXPECT_THAT(hooks_.calls(), SizeIs(kMaxHookAttempts));
  for (const HookCall& call : hooks_.calls()) EXPECT_EQ(call.finding.incident, "i1");
}

// Each remover has a connection of its own, as each of several processes would.
TEST_P(RemoverTest, SeveralOnOneHistoryNeverActTwiceAndKeepTheBudget) {
  for (const char* machine : {"a", "b"}) Fail(machine, 4);
  Fail("c", 20);
  constexpr int kRemovers = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kRemovers; ++i) {
    threads.emplace_back([this, i] {
      const std::unique_ptr<Database> mine = made_.Connect();
      Remover remover = Make(*mine, Settings(absl::StrCat("remover-", i)));
      auto report = remover.Turn();
      // On a slow machine other removers may have held the lock for too long.
      while (absl::IsAborted(report.status())) report = remover.Turn();
      EXPECT_TRUE(report.ok()) << report.status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database_->Run("SELECT incident FROM fleet_decisions").value().size(), 28u);
  // Two removals an hour; the third opens the breaker, and then no remover acts any more.
  EXPECT_TRUE(history_.BreakerOf(RemovalMode::kEnforce)->open);
  std::set<std::string> machines;
  for (const HookCall& call : hooks_.calls()) {
    EXPECT_TRUE(machines.insert(call.finding.machine).second) << call.finding.machine;
  }
  EXPECT_LE(machines.size(), 2u);
}

}  // namespace
}  // namespace rapideye::coordinator
