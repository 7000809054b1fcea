// Tests of a remover that dies after any of its steps, and of the remover that takes its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fleet/dying_database.h"
#include "tests/fleet/remover_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::DyingDatabase;
using ::testing::SizeIs;

class RemoverCrashTest : public RemoverFixture {
 protected:
  // True if the remover finished its turn.
  bool RunFor(int statements) {
    int left = statements;
    DyingDatabase mortal(made_.Connect(), left);
    Remover remover = Make(mortal, Settings("first"));
    const bool finished = remover.Turn().ok();
    EXPECT_EQ(finished, left >= 0);
    return finished;
  }
  std::vector<Task> AllTasks() {
    Journal journal(*database_, "reader", {});
    std::vector<Task> all;
    for (int i = 1; i < next_; ++i) {
      const std::vector<Task> tasks = journal.TasksOf(absl::StrCat("i", i)).value();
      all.insert(all.end(), tasks.begin(), tasks.end());
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Each, RemoverCrashTest, BothDatabases());

TEST_P(RemoverCrashTest, WhatWasDecidedIsDoneWhereverTheFirstOneDied) {
  bool finished = false;
  int steps = 0;
  int ran_twice = 0;
  for (; !finished; ++steps) {
    SCOPED_TRACE(absl::StrCat("died after ", steps, " statements"));
    const std::string machine = absl::StrCat("m", steps);
    const size_t tasks_before = AllTasks().size();
    const size_t calls_before = hooks_.calls().size();
    Fail(machine, 1, Grounds::kDirect);
    finished = RunFor(steps);

    now_ += absl::Minutes(2);  // the lease of the dead remover
    const std::unique_ptr<Database> fresh = made_.Connect();
    Remover second = Make(*fresh, Settings("second"));
    const auto report = second.Turn();
    ASSERT_TRUE(report.ok()) << report.status();

    ASSERT_THAT(AllTasks(), SizeIs(tasks_before + 1));
    EXPECT_EQ(AllTasks().back().state, "done");
    const std::vector<HookCall> calls = hooks_.calls();
    const size_t ran = calls.size() - calls_before;
    EXPECT_GE(ran, 1u);
    EXPECT_LE(ran, 2u);
    for (size_t i = calls_before; i < calls.size(); ++i) {
      EXPECT_EQ(calls[i].finding.machine, MachineKey(machine, ""));
      EXPECT_EQ(calls[i].finding.incident, absl::StrCat("i", next_ - 1));
    }
    if (ran == 2) ++ran_twice;
    // The next removal must find the budgets unspent by this one.
    ASSERT_TRUE(history_.Forget(MachineKey(machine, ""), "", now_).ok());
    now_ += absl::Hours(25);
  }
  EXPECT_GT(steps, 15);
  // A hook runs twice only after a death between its end and its record: a single step.
  EXPECT_EQ(ran_twice, 1);
}

// The lease keeps other removers away; a restarted remover of the same name goes on at once.
TEST_P(RemoverCrashTest, ARestartedOneGoesOnAtOnceAndOthersWait) {
  Fail("a", 1, Grounds::kDirect);
  int steps = 0;
  for (; hooks_.calls().empty(); ++steps) {
    ASSERT_LT(steps, 100);
    now_ += absl::Minutes(2);  // the lease of the earlier remover
    RunFor(steps);
  }
  const std::unique_ptr<Database> fresh = made_.Connect();
  Remover other = Make(*fresh, Settings("second"));
  ASSERT_TRUE(other.Resume().ok());
  ASSERT_TRUE(other.Turn().ok());
  Remover same = Make(*fresh, Settings("first"));
  ASSERT_THAT(hooks_.calls(), SizeIs(1));
  ASSERT_TRUE(same.Resume().ok());
  ASSERT_TRUE(same.Turn().ok());
  ASSERT_THAT(hooks_.calls(), SizeIs(2));
  EXPECT_EQ(hooks_.calls()[1].attempt, hooks_.calls()[0].attempt + 1);
  EXPECT_EQ(AllTasks().at(0).state, "done");
}

}  // namespace
}  // namespace rapideye::coordinator
