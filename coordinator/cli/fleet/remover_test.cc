// Tests run `rapideye remover` as processes: over real databases, with real hooks.
#include "coordinator/cli/fleet/remover.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "coordinator/fleet/history.h"
#include "tests/fleet/incidents.h"
#include "tests/fleet/test_database.h"
#include "tests/support/run_program.h"
#include "tests/testbed/launcher/child_process.h"

namespace rapideye::cli {
namespace {

namespace fs = std::filesystem;
using ::rapideye::testing::BadChip;
using ::rapideye::testing::Incident;
using ::rapideye::testing::kPostgresql;
using ::rapideye::testing::kSqlite;
using ::rapideye::testing::TestDatabase;
using testbed::ChildProcess;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using ::testing::Values;

// Patience with work that takes milliseconds on a machine that is not busy.
constexpr absl::Duration kPatience = absl::Minutes(1);
// SIGTERM ends every program within this time.
constexpr absl::Duration kEnd = absl::Seconds(5);

class RemoverTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "rapideye-remover-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    ASSERT_EQ(mkfifo(InDirectory("begun").c_str(), 0600), 0);
    begun_ = open(InDirectory("begun").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    ASSERT_GE(begun_, 0);
  }
  void TearDown() override {
    close(begun_);
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  std::string InDirectory(const std::string& name) const { return directory_ / name; }

  // A hook that notes the machine it is to remove, and then runs `then`.
  std::string Hook(const std::string& then) const {
    std::string path = InDirectory("hook");
    std::ofstream(path) << "#!/bin/sh\ncd " << directory_.string()
                        << "\necho \"$RAPIDEYE_INCIDENT $RAPIDEYE_REMOVE_HOSTS\" >> runs\n"
                        << then << "\n";
    chmod(path.c_str(), 0700);
    return path;
  }
  // A hook that at its first run writes its process id and never ends.
  std::string HookThatHangsOnce(const std::string& before) const {
    return Hook(absl::StrCat("[ -e hung ] && exit 0\ntouch hung\n", before,
                             "\necho $$ > begun\nwhile :; do sleep 1000; done"));
  }
  // Runs of the hooks so far: "INCIDENT HOST", in their order.
  std::vector<std::string> Runs() const {
    return absl::StrSplit(Slurp(InDirectory("runs")), '\n', absl::SkipEmpty());
  }
  // The hosts in the runs so far.
  std::vector<std::string> Removed() const {
    std::vector<std::string> hosts;
    for (const std::string& run : Runs()) hosts.push_back(run.substr(run.find(' ') + 1));
    return hosts;
  }
  // Waits until a hook hangs, and returns its process id.
  pid_t AwaitHook() const {
    pollfd end = {begun_, POLLIN, 0};
    if (poll(&end, 1, static_cast<int>(absl::ToInt64Milliseconds(kPatience))) != 1) return -1;
    char text[32] = "";
    int pid = -1;
    return read(begun_, text, sizeof(text) - 1) > 0 && absl::SimpleAtoi(text, &pid) ? pid : -1;
  }

  std::vector<std::string> Arguments(std::vector<std::string> more) const {
    more.insert(more.begin(), {"remover", "--fleet-db=" + made_.url()});
    return more;
  }
  std::vector<std::string> Enforcing(const std::string& hook) const {
    return Arguments({"--removal=enforce", "--fleet-hosts=4096", "--hook=" + hook});
  }
  // Runs the remover for the tasks that are due.
  Result Once(std::vector<std::string> arguments) const {
    arguments.emplace_back("--once");
    Result result = Rapideye(std::move(arguments));
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return result;
  }
  static std::unique_ptr<ChildProcess> Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), RapideyePath());
    return ChildProcess::Spawn({.command = std::move(arguments),
                                .environment = {},
                                .log_path = "",
                                .on_line = [](absl::string_view) {}})
        .value();
  }

  // The same bad chip fails in four restarts, each at another place: a removal is due.
  void Fail(const std::string& hardware) {
    for (int i = 0; i < 4; ++i) {
      ++incidents_;
      auto incident =
          Incident(absl::StrFormat("i%02d", incidents_), now_, {BadChip(hardware, incidents_)});
      incident.hosts = 1000;
      incident.digest = "{}";
      ASSERT_TRUE(history_.Record(incident, now_).ok());
    }
  }
  std::string StateOfTasks() {
    const auto rows = database_->Run("SELECT state, attempts FROM fleet_tasks ORDER BY task");
    std::string text;
    for (const auto& row : rows.value()) {
      absl::StrAppend(&text, row.Text(0), " ", row.Int(1), ";");
    }
    return text;
  }
  // Ends leases and pauses, as if so much time had passed.
  void LetTimePass() {
    ASSERT_TRUE(database_->Run("UPDATE fleet_tasks SET lease_ms = 0, not_before_ms = 0").ok());
  }

  TestDatabase made_{GetParam()};
  std::unique_ptr<coordinator::Database> database_ = made_.ConnectMigrated();
  coordinator::History history_{*database_};
  const absl::Time now_ = database_->WallClock().value();
  fs::path directory_;
  int begun_ = -1;
  int incidents_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Each, RemoverTest, Values(kSqlite, kPostgresql));

TEST_P(RemoverTest, ADryRunIsTheDefaultAndRunsNothing) {
  Fail("a");
  const Result result = Once(Arguments({"--hook=" + Hook("exit 0")}));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("removal (dry-run): remove host-of-a (hardware:a) for incident i"),
                    HasSubstr(": 4 hang events on this machine")));
  EXPECT_THAT(Runs(), IsEmpty());
  EXPECT_THAT(Once(Arguments({})).err, Not(HasSubstr("host-of-a")));
}

TEST_P(RemoverTest, EnforcesOnceAndNotAgain) {
  Fail("a");
  const std::string hook = Hook("cat > input; echo drained");
  EXPECT_THAT(Once(Enforcing(hook)).err, HasSubstr("removal (enforce): remove host-of-a"));
  EXPECT_THAT(Removed(), ElementsAre("host-of-a"));
  EXPECT_EQ(Slurp(InDirectory("input")), "{}");
  Once(Enforcing(hook));
  EXPECT_THAT(Runs(), SizeIs(1));
  EXPECT_THAT(Rapideye({"fleet", "history", "host-of-a", "--fleet-db=" + made_.url()}).out,
              AllOf(HasSubstr(absl::StrCat(
                        "  ", hook, ": done, attempts: 1; exited with status 0\n    | drained")),
                    HasSubstr("remove (enforce): 4 hang events")));
}

TEST_P(RemoverTest, SeveralOnOneHistoryActOnce) {
  Fail("a");
  Fail("b");
  // The hook takes long enough for the other removers to find the same task.
  const std::string hook = Hook("sleep 0.3");
  std::vector<std::unique_ptr<ChildProcess>> removers;
  for (int i = 0; i < 3; ++i) {
    auto arguments = Enforcing(hook);
    arguments.emplace_back("--once");
    removers.push_back(Start(std::move(arguments)));
  }
  for (auto& remover : removers) EXPECT_EQ(remover->Wait(kPatience), 0);
  EXPECT_THAT(Removed(), UnorderedElementsAre("host-of-a", "host-of-b"));
  EXPECT_EQ(StateOfTasks(), "done 1;done 1;");
}

TEST_P(RemoverTest, WhatOneWasKilledAtTheNextFinishes) {
  Fail("a");
  const std::string hook = HookThatHangsOnce("");
  const auto first = Start(Enforcing(hook));
  const pid_t running = AwaitHook();
  ASSERT_GT(running, 0);
  first->Signal(SIGKILL);
  ASSERT_TRUE(first->Wait(kPatience).has_value());
  // If the whole machine had died, its hook would be gone, too.
  kill(-running, SIGKILL);
  // The remover cannot know yet whether the hook still runs.
  Once(Enforcing(hook));
  EXPECT_THAT(Runs(), SizeIs(1));
  EXPECT_EQ(StateOfTasks(), "acting 1;");
  LetTimePass();
  Once(Enforcing(hook));
  ASSERT_THAT(Runs(), SizeIs(2));
  EXPECT_EQ(Runs()[0], Runs()[1]);
  EXPECT_EQ(StateOfTasks(), "done 2;");
}

TEST_P(RemoverTest, ASignalEndsItInTheMiddleOfAHookWhichIsRunAgain) {
  Fail("a");
  Fail("b");
  const std::string hook = HookThatHangsOnce("trap '' TERM");
  const auto remover = Start(Enforcing(hook));
  const pid_t running = AwaitHook();
  ASSERT_GT(running, 0);
  remover->Signal(SIGTERM);
  EXPECT_EQ(remover->Wait(kEnd), 0);
  EXPECT_EQ(kill(running, 0), -1) << "the hook outlived it";
  LetTimePass();
  Once(Enforcing(hook));
  EXPECT_THAT(Removed(), Contains("host-of-a").Times(2));
}

TEST_P(RemoverTest, WhatWaitsBehindTheHookThatASignalEndsIsNotBegun) {
  for (const char* hardware : {"a", "b", "c", "d", "e", "f"}) Fail(hardware);
  auto arguments = Enforcing(Hook("trap '' TERM\necho $$ > begun\nwhile :; do sleep 1000; done"));
  arguments.emplace_back("--removal-hosts-per-hour=10");
  const auto remover = Start(std::move(arguments));
  ASSERT_GT(AwaitHook(), 0);
  remover->Signal(SIGTERM);
  EXPECT_EQ(remover->Wait(kEnd), 0);
  EXPECT_THAT(Runs(), SizeIs(1));
  EXPECT_EQ(StateOfTasks(), "due 1;due 0;due 0;due 0;due 0;due 0;");
}

TEST_P(RemoverTest, OnceFailsIfAHookDoes) {
  Fail("a");
  auto arguments = Enforcing(Hook("echo no such node; exit 3"));
  arguments.emplace_back("--once");
  const Result result = Rapideye(arguments);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, HasSubstr("exited with status 3, attempt 1 of 8"));
  // It is not yet time for the next attempt.
  EXPECT_EQ(Rapideye(arguments).exit_status, 0);
  EXPECT_THAT(Runs(), SizeIs(1));
}

TEST_P(RemoverTest, TheBreakerStopsItUntilAnOperatorClosesIt) {
  for (const char* hardware : {"a", "b", "c"}) Fail(hardware);
  const std::string hook = Hook("exit 0");
  EXPECT_THAT(Once(Enforcing(hook)).err, HasSubstr("NO REMOVALS"));
  EXPECT_THAT(Runs(), IsEmpty());
  const Result closed =
      Rapideye({"fleet", "breaker", "close", "--removal=enforce", "--fleet-db=" + made_.url()});
  EXPECT_EQ(closed.exit_status, 0) << closed.err;
  Once(Enforcing(hook));
  EXPECT_THAT(Removed(), UnorderedElementsAre("host-of-a", "host-of-b"));
}

TEST(RemoverCommandTest, WrongFlagsExitWith2) {
  const std::string url = "--fleet-db=sqlite:" + TempPath("never-made.db");
  const std::string hook = "--hook=/bin/true";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"remover"},
        {"remover", "--fleet-db=mysql://fleet"},
        {"remover", "--fleet-db=sqlite:"},
        {"remover", url, "--removal=always"},
        {"remover", url, "--removal=enforce"},
        {"remover", url, "--removal-share-of-fleet=2", hook},
        {"remover", url, "--hook=/nowhere/at/all"}}) {
    EXPECT_EQ(Rapideye(arguments).exit_status, 2) << arguments.back();
  }
  EXPECT_FALSE(fs::exists(TempPath("never-made.db")));
}

TEST(RemoverCommandTest, AHistoryThatIsDownIsAFailureOfOnceAndWaitedForOtherwise) {
  const std::string url = "--fleet-db=postgresql://a:geheim@127.0.0.1:1/fleet";
  const Result once = Rapideye({"remover", url, "--once"});
  EXPECT_EQ(once.exit_status, 1);
  EXPECT_THAT(once.err,
              AllOf(HasSubstr("postgresql://127.0.0.1:1/fleet"), Not(HasSubstr("geheim"))));

  std::promise<void> complained;
  const auto remover = ChildProcess::Spawn({.command = {RapideyePath(), "remover", url},
                                            .environment = {},
                                            .log_path = "",
                                            .on_line =
                                                [&](absl::string_view line) {
                                                  if (absl::StrContains(line, "no decision")) {
                                                    complained.set_value();
                                                  }
                                                }})
                           .value();
  ASSERT_EQ(complained.get_future().wait_for(absl::ToChronoSeconds(kPatience)),
            std::future_status::ready);
  remover->Signal(SIGTERM);
  EXPECT_EQ(remover->Wait(kEnd), 0);
}

}  // namespace
}  // namespace rapideye::cli
