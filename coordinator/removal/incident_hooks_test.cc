#include "coordinator/removal/incident_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "tests/fleet/dying_database.h"
#include "tests/fleet/remover_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::rapideye::testing::DyingDatabase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kPatience = absl::Seconds(30);

// The journal lies in a file of the coordinator's own.
class IncidentHooksTest : public ::testing::Test {
 protected:
  IncidentHooks Make(Database& database) {
    return IncidentHooks(database, runner_,
                         {.hooks = {"/hooks/upload", "/hooks/restart"},
                          .lease = absl::Minutes(2),
                          .lifetime = absl::Hours(6),
                          .now = [this] { return now_; },
                          .call = [](const Task& task) -> absl::StatusOr<HookCall> {
                            HookCall call;
                            call.hook = task.hook;
                            call.finding.incident = task.incident;
                            call.attempt = task.attempts;
                            return call;
                          },
                          .settled = [this](const Task& task) -> std::optional<std::string> {
                            if (task.hook != settled_) return std::nullopt;
                            return "run for the removal";
                          }});
  }
  absl::StatusOr<std::vector<Task>> RunDue(IncidentHooks& hooks) {
    return hooks.RunDue([] { return true; });
  }
  // "hook incident", in the order in which they ran.
  std::vector<std::string> Ran() {
    std::vector<std::string> ran;
    for (const HookCall& call : runner_.calls()) {
      EXPECT_EQ(call.finding.host, "");
      ran.push_back(absl::StrCat(call.hook, " ", call.finding.incident));
    }
    return ran;
  }

  testing::TestDatabase made_{testing::kSqlite};
  std::unique_ptr<Database> database_ = made_.ConnectMigrated();
  RecordingHooks runner_;
  IncidentHooks hooks_ = Make(*database_);
  std::string settled_;
  absl::Time now_ = kThen;
};

TEST_F(IncidentHooksTest, RunOnceInTheirOrderOnceTheIncidentIsReleased) {
  ASSERT_TRUE(hooks_.Add("i1", kPatience).ok());
  ASSERT_TRUE(hooks_.Add("i1", kPatience).ok());
  EXPECT_THAT(*RunDue(hooks_), IsEmpty());
  EXPECT_EQ(*hooks_.UntilNext(), kPatience);
  EXPECT_THAT(*hooks_.Waiting(), ElementsAre("i1"));
  ASSERT_TRUE(hooks_.Release("i1").ok());
  EXPECT_THAT(*RunDue(hooks_), SizeIs(2));
  EXPECT_THAT(*RunDue(hooks_), IsEmpty());
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/restart i1"));
  EXPECT_THAT(*hooks_.Waiting(), IsEmpty());
  EXPECT_EQ(*hooks_.UntilNext(), absl::InfiniteDuration());
}

TEST_F(IncidentHooksTest, AnEndFollowsWhatEachHookWasRunFor) {
  const std::string end = EndKey("i1-r2");
  ASSERT_TRUE(hooks_.Add("i1", absl::ZeroDuration()).ok());
  runner_.Succeed(false);
  EXPECT_THAT(*RunDue(hooks_), SizeIs(1));  // the second waits for the first
  EXPECT_FALSE(*hooks_.AddEnd({"i1", "i1-r2"}, {}));
  EXPECT_THAT(*hooks_.TasksOf(end), IsEmpty());
  runner_.Succeed(true);
  now_ += absl::Minutes(1);
  EXPECT_THAT(*RunDue(hooks_), SizeIs(2));
  Task removal;
  removal.hook = "/hooks/restart";
  removal.state = "due";
  EXPECT_FALSE(*hooks_.AddEnd({"i1", "i1-r2"}, {removal}));
  EXPECT_THAT(*hooks_.TasksOf(end), SizeIs(1));
  removal.state = "failed";
  EXPECT_TRUE(*hooks_.AddEnd({"i1", "i1-r2"}, {removal}));
  EXPECT_TRUE(*hooks_.AddEnd({"i1", "i1-r2"}, {removal}));
  EXPECT_THAT(*RunDue(hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/upload i1", "/hooks/restart i1",
                                 "/hooks/upload i1-r2-end", "/hooks/restart i1-r2-end"));
}

TEST_F(IncidentHooksTest, OfWhatNoHookWasRunForNobodyHearsTheEnd) {
  EXPECT_TRUE(*hooks_.AddEnd({"i1"}, {}));
  EXPECT_THAT(*hooks_.TasksOf(EndKey("i1")), IsEmpty());
}

TEST_F(IncidentHooksTest, PatienceEndsByItself) {
  ASSERT_TRUE(hooks_.Add("i1", kPatience).ok());
  now_ += kPatience;
  EXPECT_THAT(*RunDue(hooks_), SizeIs(2));
}

TEST_F(IncidentHooksTest, WhatTheRemovalRanIsNotRunAgain) {
  settled_ = "/hooks/upload";
  ASSERT_TRUE(hooks_.Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(hooks_).ok());
  EXPECT_THAT(Ran(), ElementsAre("/hooks/restart i1"));
  EXPECT_EQ(hooks_.TasksOf("i1")->at(0).outcome, "run for the removal");
}

TEST_F(IncidentHooksTest, OneThatFailsHoldsUpTheRestartAndNoOtherIncident) {
  runner_.Succeed(false);
  ASSERT_TRUE(hooks_.Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(hooks_).ok());
  runner_.Succeed(true);
  ASSERT_TRUE(hooks_.Add("i2", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(hooks_).ok());
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/upload i2", "/hooks/restart i2"));
  EXPECT_EQ(*hooks_.UntilNext(), kFirstHookRetry);
  now_ += kFirstHookRetry;
  ASSERT_TRUE(RunDue(hooks_).ok());
  EXPECT_THAT(Ran(), SizeIs(5));
  EXPECT_EQ(Ran().back(), "/hooks/restart i1");
}

// The coordinator dies after any of its steps, and the next one goes on: each hook runs,
// in order, and at most one of them twice.
TEST_F(IncidentHooksTest, WhereverItDiesEveryHookRuns) {
  bool finished = false;
  int steps = 0;
  int ran_again = 0;
  for (; !finished; ++steps) {
    SCOPED_TRACE(absl::StrCat("died after ", steps, " statements"));
    ASSERT_LT(steps, 200);
    const std::string incident = absl::StrCat("i", steps);
    const size_t before = runner_.calls().size();
    int left = steps;
    {
      DyingDatabase mortal(made_.Connect(), left);
      IncidentHooks first = Make(mortal);
      finished =
          first.Add(incident, kPatience).ok() && first.Release(incident).ok() && RunDue(first).ok();
    }
    // The next process finds the incident on disk, and has the same holder name.
    const std::unique_ptr<Database> fresh = made_.Connect();
    IncidentHooks next = Make(*fresh);
    ASSERT_TRUE(next.Resume().ok());
    ASSERT_TRUE(next.Add(incident, kPatience).ok());
    ASSERT_TRUE(next.Release(incident).ok());
    ASSERT_TRUE(RunDue(next).ok());

    std::vector<std::string> ran = Ran();
    ran.erase(ran.begin(), ran.begin() + static_cast<std::ptrdiff_t>(before));
    if (ran.size() == 3) ++ran_again;
    ran.erase(std::unique(ran.begin(), ran.end()), ran.end());
    EXPECT_THAT(ran, ElementsAre(absl::StrCat("/hooks/upload ", incident),
                                 absl::StrCat("/hooks/restart ", incident)));
    const std::vector<Task> tasks = next.TasksOf(incident).value();
    for (const Task& task : tasks) EXPECT_EQ(task.state, "done");
  }
  EXPECT_GT(steps, 25);
  // Hooks run again only after a death between the end of a hook and its record: two cases.
  EXPECT_EQ(ran_again, 2);
}

}  // namespace
}  // namespace rapideye::coordinator
