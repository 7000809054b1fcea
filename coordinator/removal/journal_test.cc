#include "coordinator/removal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/schema.h"
#include "tests/fleet/history_fixture.h"

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'000);
constexpr absl::Duration kLease = absl::Minutes(2);

const std::vector<std::string> kHooks = {"/hooks/drain", "/hooks/z-upload", "/hooks/a-restart",
                                         "/hooks/webhook", "/hooks/restart"};

class JournalTest : public HistoryFixture {
 protected:
  void Add(const std::string& incident, const std::string& subject,
           absl::Time expires = kNow + absl::Hours(6)) {
    AddHook(incident, subject, "/hooks/drain", 0, expires);
  }
  void AddHook(const std::string& incident, const std::string& subject, const std::string& hook,
               int64_t ordinal, absl::Time expires = kNow + absl::Hours(6)) {
    Task task;
    task.incident = incident;
    task.subject = subject;
    task.hook = hook;
    task.ordinal = ordinal;
    task.not_before = kNow;
    task.expires = expires;
    ASSERT_TRUE(journal_.Add(task, kNow).ok());
  }
  // Runs the next task that `journal` gets, and returns its hook; empty: no task.
  std::string RunNext(Journal& journal) {
    const std::optional<Task> task = Claim(journal);
    if (!task.has_value()) return "";
    EXPECT_TRUE(journal.Finish(*task, {true, "", ""}, kNow).ok());
    return absl::StrCat(task->hook, " ", task->subject);
  }
  std::optional<Task> Claim(Journal& journal, absl::Time now = kNow) {
    return WithLock(*database_, [&] { return journal.Claim(now, kLease); }).value();
  }
  std::string StateOf(const std::string& incident) {
    return journal_.TasksOf(incident).value().at(0).state;
  }

  Journal journal_{*database_, "first", kHooks};
  Journal other_{*database_, "second", kHooks};
};

INSTANTIATE_TEST_SUITE_P(Each, JournalTest, BothDatabases());

// A writer to the history must not have a remover run programs of his choice.
TEST_P(JournalTest, OnlyHooksOfItsOwnAreClaimed) {
  Add("i1", "m");
  Journal without(*database_, "third", {});
  Journal foreign(*database_, "fourth", {"/hooks/cordon"});
  EXPECT_FALSE(Claim(without).has_value());
  EXPECT_FALSE(Claim(foreign).has_value());
  EXPECT_EQ(*without.NextDue(kNow), absl::InfiniteFuture());
  EXPECT_EQ(*foreign.NextDue(kNow), absl::InfiniteFuture());
  EXPECT_EQ(*other_.NextDue(kNow), kNow);
  EXPECT_TRUE(Claim(other_).has_value());
}

TEST_P(JournalTest, ATaskIsClaimedOnceAndDoneOnce) {
  Add("i1", "m");
  Add("i1", "m");  // delivered again
  const std::optional<Task> task = Claim(journal_);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->incident, "i1");
  EXPECT_EQ(task->attempts, 1);
  EXPECT_FALSE(Claim(other_).has_value());
  ASSERT_TRUE(journal_.Finish(*task, {true, "exit status 0", "drained\n"}, kNow).ok());
  EXPECT_FALSE(Claim(other_, kNow + absl::Hours(1)).has_value());
  const Task done = journal_.TasksOf("i1").value().at(0);
  EXPECT_EQ(done.state, "done");
  EXPECT_EQ(done.outcome, "exit status 0");
  EXPECT_EQ(done.output, "drained\n");
}

TEST_P(JournalTest, OneSubjectIsWorkedOnByOneAtATime) {
  Add("i1", "m");
  Add("i2", "m");
  Add("i3", "n");
  const std::optional<Task> first = Claim(journal_);
  const std::optional<Task> second = Claim(other_);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->incident, "i1");
  EXPECT_EQ(second->incident, "i3");
  EXPECT_FALSE(Claim(other_).has_value());
  ASSERT_TRUE(journal_.Finish(*first, {true, "", ""}, kNow).ok());
  EXPECT_EQ(Claim(other_)->incident, "i2");
}

TEST_P(JournalTest, HooksOfAnIncidentRunInTheOrderInWhichTheyWereGiven) {
  AddHook("i1", "m", "/hooks/z-upload", 0);
  AddHook("i1", "m", "/hooks/a-restart", 1);
  AddHook("i1", "n", "/hooks/z-upload", 0);
  AddHook("i1", "n", "/hooks/a-restart", 1);
  std::vector<std::string> order;
  for (std::string next = RunNext(journal_); !next.empty(); next = RunNext(journal_)) {
    order.push_back(next);
  }
  EXPECT_THAT(order, ElementsAre("/hooks/z-upload m", "/hooks/z-upload n", "/hooks/a-restart m",
                                 "/hooks/a-restart n"));
}

TEST_P(JournalTest, TwoHooksOfOneIncidentNeverRunAtOnce) {
  AddHook("i1", "m", "/hooks/drain", 0);
  AddHook("i1", "n", "/hooks/drain", 0);
  const std::optional<Task> first = Claim(journal_);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(Claim(other_).has_value());
  ASSERT_TRUE(journal_.Finish(*first, {true, "", ""}, kNow).ok());
  EXPECT_EQ(Claim(other_)->subject, "n");
}

TEST_P(JournalTest, AHookThatFailsHoldsUpThoseAfterItAndNoOtherIncident) {
  AddHook("i1", "m", "/hooks/drain", 0);
  AddHook("i1", "m", "/hooks/restart", 1);
  AddHook("i2", "n", "/hooks/drain", 0);
  ASSERT_TRUE(journal_.Finish(*Claim(journal_), {false, "exit status 1", ""}, kNow).ok());
  EXPECT_EQ(RunNext(other_), "/hooks/drain n");
  EXPECT_EQ(RunNext(other_), "");
  // The second hook has been due since then, but waits for the first.
  EXPECT_EQ(*journal_.NextDue(kNow), kNow + kFirstHookRetry);
  absl::Time now = kNow;
  for (int64_t attempt = 2; attempt <= kMaxHookAttempts; ++attempt) {
    now += kLongestHookRetry;
    const std::optional<Task> task = Claim(journal_, now);
    ASSERT_TRUE(task.has_value());
    ASSERT_EQ(task->hook, "/hooks/drain");
    ASSERT_TRUE(journal_.Finish(*task, {false, "exit status 1", ""}, now).ok());
  }
  EXPECT_EQ(Claim(journal_, now)->hook, "/hooks/restart");
}

TEST_P(JournalTest, AHookThatWasNeverBegunInTimeHoldsUpNothing) {
  AddHook("i1", "m", "/hooks/drain", 0, kNow);
  AddHook("i1", "m", "/hooks/webhook", 1);
  EXPECT_EQ(*journal_.NextDue(kNow), kNow);
  EXPECT_EQ(RunNext(journal_), "/hooks/webhook m");
}

TEST_P(JournalTest, WhoDiedIsReplacedWhenItsLeaseIsOver) {
  Add("i1", "m");
  const std::optional<Task> begun = Claim(journal_);
  EXPECT_FALSE(Claim(other_, kNow + kLease - absl::Seconds(1)).has_value());
  const std::optional<Task> again = Claim(other_, kNow + kLease);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->incident, "i1");
  EXPECT_EQ(again->attempts, 2);
  // The first holder was only slow. Its result no longer counts.
  EXPECT_EQ(journal_.Finish(*begun, {true, "", ""}, kNow).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(StateOf("i1"), "acting");
  EXPECT_TRUE(other_.Finish(*again, {true, "", ""}, kNow).ok());
  EXPECT_EQ(StateOf("i1"), "done");
}

TEST_P(JournalTest, AfterARestartItsOwnTasksAreDueAtOnce) {
  Add("i1", "m");
  Claim(journal_);
  ASSERT_TRUE(other_.Resume().ok());
  EXPECT_FALSE(Claim(journal_).has_value());
  ASSERT_TRUE(journal_.Resume().ok());
  EXPECT_TRUE(Claim(journal_).has_value());
}

TEST_P(JournalTest, AHookThatFailsIsTriedAgainLaterAndLaterAndThenFailed) {
  Add("i1", "m");
  absl::Time now = kNow;
  absl::Duration before;
  for (int64_t attempt = 1; attempt <= kMaxHookAttempts; ++attempt) {
    const std::optional<Task> task = Claim(journal_, now);
    ASSERT_TRUE(task.has_value()) << attempt;
    EXPECT_EQ(task->attempts, attempt);
    ASSERT_TRUE(journal_.Finish(*task, {false, "exit status 1", ""}, now).ok());
    if (attempt == kMaxHookAttempts) break;
    const absl::Time due = journal_.NextDue(now).value();
    EXPECT_GE(due - now, before);
    EXPECT_LE(due - now, kLongestHookRetry);
    EXPECT_FALSE(Claim(journal_, due - absl::Seconds(1)).has_value());
    before = due - now;
    now = due;
  }
  EXPECT_EQ(StateOf("i1"), "failed");
  EXPECT_EQ(*journal_.NextDue(now), absl::InfiniteFuture());
  EXPECT_FALSE(Claim(journal_, now + absl::Hours(24)).has_value());
}

TEST_P(JournalTest, AHookThatEndsItsRunnerEveryTimeFailsInTheEnd) {
  Add("i1", "m");
  absl::Time now = kNow;
  for (int64_t attempt = 1; attempt <= kMaxHookAttempts; ++attempt) {
    EXPECT_THAT(*journal_.Expire(now), IsEmpty());
    ASSERT_TRUE(Claim(journal_, now).has_value()) << attempt;
    now += kLease;
  }
  EXPECT_FALSE(Claim(journal_, now).has_value());
  const auto failed = journal_.Expire(now);
  ASSERT_THAT(*failed, SizeIs(1));  // so that the failure is logged
  EXPECT_EQ(failed->at(0).state, "failed");
  EXPECT_EQ(StateOf("i1"), "failed");
}

// After days another machine may stand there, and people have looked after this one.
TEST_P(JournalTest, WhatWasBegunIsNotFinishedDaysLater) {
  Add("i1", "m", kNow + absl::Minutes(1));
  ASSERT_TRUE(journal_.Finish(*Claim(journal_), {false, "exit status 1", ""}, kNow).ok());
  Add("i2", "n", kNow + absl::Minutes(1));
  ASSERT_EQ(Claim(journal_)->incident, "i2");  // and its holder dies
  const absl::Time late = kNow + absl::Minutes(1) + kLongestHookDelay;
  EXPECT_THAT(*journal_.Expire(late - absl::Milliseconds(1)), IsEmpty());
  EXPECT_THAT(*journal_.Expire(late), SizeIs(2));
  EXPECT_EQ(StateOf("i1"), "failed");
  EXPECT_EQ(StateOf("i2"), "failed");
  EXPECT_FALSE(Claim(journal_, late).has_value());
}

TEST_P(JournalTest, WhatIsAbandonedWasNotBegun) {
  Add("i1", "m");
  ASSERT_TRUE(journal_.Abandon(*Claim(journal_), "it was repaired", kNow).ok());
  const Task task = journal_.TasksOf("i1").value().at(0);
  EXPECT_EQ(task.state, "expired");
  EXPECT_EQ(task.outcome, "it was repaired");
  EXPECT_EQ(task.attempts, 0);
  EXPECT_FALSE(Claim(journal_, kNow + absl::Hours(1)).has_value());
}

TEST_P(JournalTest, WhatWasNeverBegunExpiresAndWhatWasIsFinished) {
  Add("i1", "m", kNow + absl::Minutes(1));
  Add("i2", "n", kNow + absl::Minutes(1));
  ASSERT_EQ(Claim(journal_)->incident, "i1");
  const absl::Time late = kNow + absl::Hours(1);
  const auto expired = journal_.Expire(late);
  ASSERT_THAT(*expired, SizeIs(1));
  EXPECT_EQ(expired->at(0).incident, "i2");
  EXPECT_EQ(StateOf("i2"), "expired");
  EXPECT_EQ(Claim(other_, late)->incident, "i1");
}

TEST_P(JournalTest, ATaskDoesNotBeginBeforeItsTimeOrAfterIt) {
  Add("i1", "m", kNow + absl::Minutes(1));
  EXPECT_FALSE(Claim(journal_, kNow - absl::Seconds(1)).has_value());
  EXPECT_FALSE(Claim(journal_, kNow + absl::Minutes(1)).has_value());
  EXPECT_TRUE(Claim(journal_).has_value());
}

TEST_P(JournalTest, TakesWhateverAHookPrints) {
  Add("i1", "m");
  const std::string noise = std::string("\0\xff", 2) + std::string(100'000, 'x');
  ASSERT_TRUE(journal_.Finish(*Claim(journal_), {true, "", noise}, kNow).ok());
  EXPECT_LE(journal_.TasksOf("i1")->at(0).output.size(), kMaxHistorySentence);
}

}  // namespace
}  // namespace rapideye::coordinator
