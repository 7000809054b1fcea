// Tests the steps behind a digest: the fleet remembers the machine, policy decides, hooks run.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/e2e/fixture.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/launcher/processes.h"
#include "tests/testbed/launcher/removals.h"
#include "tests/testbed/launcher/repeats.h"

namespace rapideye::testbed {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string ReadAll(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

// A hook that writes down what it is given when an incident opens or changes.
class RecordingHook {
 public:
  struct Run {
    std::map<std::string, std::string> environment;
    std::string input;
  };

  explicit RecordingHook(const std::string& directory) : directory_(directory + "/runs") {
    fs::create_directories(directory_);
    std::ofstream(path()) << "#!/bin/sh\n"
                          << "[ \"$RAPIDEYE_EVENT\" != recovered ] || exit 0\n"
                          << "run=$(mktemp -d " << directory_ << "/XXXXXX)\n"
                          << "env > $run/environment\n"
                          << "cat > $run/input\n"
                          << "echo \"removed: '$RAPIDEYE_REMOVE_HOSTS'\"\n";
    fs::permissions(path(), fs::perms::owner_all);
  }

  std::string path() const { return directory_ + ".sh"; }

  // The runs of the hook, by incident.
  std::multimap<std::string, Run> Runs() const {
    std::multimap<std::string, Run> runs;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      Run run;
      const std::string environment = ReadAll(entry.path() / "environment");
      for (const absl::string_view line : absl::StrSplit(environment, '\n', absl::SkipEmpty())) {
        const std::pair<std::string, std::string> variable =
            absl::StrSplit(line, absl::MaxSplits('=', 1));
        run.environment.insert(variable);
      }
      run.input = ReadAll(entry.path() / "input");
      runs.emplace(run.environment["RAPIDEYE_INCIDENT"], std::move(run));
    }
    return runs;
  }

 private:
  std::string directory_;
};

class RemovalTest : public EndToEndTest {
 protected:
  // Options of a job with a state directory of its own.
  ExperimentOptions OptionsIn(const std::string& name) const {
    ExperimentOptions options = Options(/*programs=*/1, /*seed=*/2);
    options.job.shape = {2, 2, 2, *FindGeneration("v6e")};
    options.job.state_dir = absl::StrCat(state_dir_, "/", name);
    options.healthy = absl::Seconds(1);
    options.narration = nullptr;
    fs::create_directories(options.job.state_dir);
    return options;
  }

  static std::vector<std::string> Enforce(const std::string& history, const RecordingHook& hook) {
    return {"--removal=enforce", "--fleet-hosts=4", absl::StrCat("--fleet-db=", history),
            absl::StrCat("--hook=", hook.path())};
  }

  static std::string LocalHistory(const JobOptions& job) {
    return absl::StrCat("sqlite:", job.state_dir, "/fleet.db");
  }

  // Expects one run of the hook for the incident; empty `hosts`: no machine's removal.
  static void ExpectOneRun(const RecordingHook& hook, const Incident& incident,
                           const std::string& hosts) {
    const std::string id = fs::path(incident.directory).filename();
    const auto runs = hook.Runs();
    ASSERT_EQ(runs.count(id), 1u) << id;
    const RecordingHook::Run& run = runs.find(id)->second;
    EXPECT_EQ(run.environment.at("RAPIDEYE_REMOVE_HOSTS"), hosts);
    EXPECT_EQ(run.environment.at("RAPIDEYE_CAUSE"), incident.finding.cause);
    EXPECT_EQ(run.environment.at("RAPIDEYE_JOB"), "testbed");
    EXPECT_EQ(nlohmann::json::parse(run.input, nullptr, /*allow_exceptions=*/false),
              nlohmann::json::parse(ReadAll(incident.json_path)));
  }

  static void ExpectRecorded(const Removals& removals, const std::string& hosts) {
    EXPECT_EQ(removals.mode, "enforce");
    std::vector<std::string> outputs;
    for (const HookRecord& hook : removals.hooks) {
      EXPECT_EQ(hook.state, "done") << hook.outcome;
      if (hook.output.empty()) continue;
      outputs.push_back(hook.output);
      EXPECT_EQ(hook.attempts, 1);
      EXPECT_EQ(hook.machine.empty(), hosts.empty());
    }
    EXPECT_THAT(outputs, ElementsAre(absl::StrCat("removed: '", hosts, "'\n")));
  }

  void ExpectTheDigestInTimeAndTheRestLater(const std::string& history_that_is_down);
};

TEST_F(RemovalTest, AMachineGoesTheFourthTimeUnlessItMayBeTheProgram) {
  const auto repeats_in = [&](const std::string& name, bool same_place) {
    RepeatOptions repeats{OptionsIn(name), /*times=*/4, same_place};
    const RecordingHook hook(repeats.experiment.job.state_dir);
    repeats.experiment.job.coordinator_flags = Enforce(LocalHistory(repeats.experiment.job), hook);
    return std::pair(repeats, hook);
  };
  const auto [moving, moving_hook] = repeats_in("moving", /*same_place=*/false);
  const auto [staying, staying_hook] = repeats_in("staying", /*same_place=*/true);
  const Scenario scenario = *FindScenario("bad-chip");
  // Both run at once: most of the time they wait.
  auto moved_later = std::async(std::launch::async, RunRepeats, std::cref(moving), scenario);
  const absl::StatusOr<Repeated> stayed = RunRepeats(staying, scenario);
  const absl::StatusOr<Repeated> moved = moved_later.get();

  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_THAT(moved->differences, IsEmpty()) << Report(*moved);
  ASSERT_THAT(moved->attempts, SizeIs(4));
  EXPECT_THAT(moving_hook.Runs(), SizeIs(4));
  for (size_t i = 0; i < moved->attempts.size(); ++i) {
    SCOPED_TRACE(absl::StrCat("moving, attempt ", i + 1));
    const Attempt& attempt = moved->attempts[i];
    const std::string removed = i == 3 ? attempt.culprit.host : "";
    ExpectOneRun(moving_hook, *attempt.outcome.incident, removed);
    ExpectRecorded(attempt.removals, removed);
  }
  EXPECT_THAT(moved->attempts[3].decision()->reason, HasSubstr("4 hang events on this machine"));

  ASSERT_TRUE(stayed.ok()) << stayed.status();
  EXPECT_THAT(stayed->differences, IsEmpty()) << Report(*stayed);
  ASSERT_THAT(stayed->attempts, SizeIs(4));
  EXPECT_THAT(staying_hook.Runs(), SizeIs(4));
  for (const Attempt& attempt : stayed->attempts) {
    ExpectOneRun(staying_hook, *attempt.outcome.incident, "");
    ExpectRecorded(attempt.removals, "");
  }
  EXPECT_EQ(stayed->attempts[3].decision()->rule, "independence");
  EXPECT_THAT(stayed->attempts[3].decision()->reason, HasSubstr("it may be the program"));
}

// A coordinator in a tenant's pod has no rights to remove; the remover outside the pod has.
TEST_F(RemovalTest, ARemoverOutsideActsOnWhatACoordinatorPublished) {
  ExperimentOptions options = OptionsIn("job");
  const std::string history = LocalHistory(options.job);
  options.job.coordinator_flags = {absl::StrCat("--fleet-db=", history)};
  std::string planned;  // by the coordinator
  options.after_verdict = [&](Job& job, const Incident& incident) -> absl::Status {
    const absl::StatusOr<Removals> removals = AwaitRemovals(job, incident.directory);
    if (!removals.ok()) return removals.status();
    for (const RemovalDecision& decision : removals->decisions) {
      absl::StrAppend(&planned, removals->mode, " ", decision.action, " ", decision.host);
    }
    return absl::OkStatus();
  };
  const absl::StatusOr<Outcome> outcome =
      RunExperiment(options, *FindScenario("bad-chip-kernel-log"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->differences, IsEmpty());
  const std::string host = outcome->truth.culprits.at(0).host;
  EXPECT_EQ(planned, absl::StrCat("dry-run remove ", host));

  const RecordingHook hook(options.job.state_dir);
  std::vector<std::string> remover = Enforce(history, hook);
  remover.insert(remover.begin(), {options.job.program_dir + "/rapideye", "remover", "--once"});
  for (int turn = 0; turn < 2; ++turn) {
    const absl::StatusOr<std::string> ran = OutputOf(remover, absl::Seconds(30));
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_THAT(hook.Runs(), SizeIs(1)) << *ran;
    ExpectOneRun(hook, *outcome->incident, host);
  }
}

// The job's next attempt has a history that works.
void RemovalTest::ExpectTheDigestInTimeAndTheRestLater(const std::string& history_that_is_down) {
  ExperimentOptions options = OptionsIn("job");
  const RecordingHook hook(options.job.state_dir);
  options.job.coordinator_flags = Enforce(history_that_is_down, hook);
  const absl::StatusOr<Outcome> outcome = RunExperiment(options, *FindScenario("bad-chip"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->differences, IsEmpty());  // nor did a daemon end otherwise than it must
  ASSERT_TRUE(outcome->incident.has_value());
  EXPECT_LE(outcome->latency, LatencyBound(options.job));
  EXPECT_THAT(hook.Runs(), IsEmpty());

  options.job.coordinator_flags = Enforce(LocalHistory(options.job), hook);
  const absl::StatusOr<std::unique_ptr<Job>> next = Job::Start(options.job);
  ASSERT_TRUE(next.ok()) << next.status();
  const absl::Status connected = (*next)->AwaitAllConnected(absl::Seconds(30));
  ASSERT_TRUE(connected.ok()) << connected;
  const absl::StatusOr<Removals> removals = AwaitRemovals(**next, outcome->incident->directory);
  ASSERT_TRUE(removals.ok()) << removals.status();
  ASSERT_THAT(removals->decisions, SizeIs(1));
  EXPECT_EQ(removals->decisions[0].host, outcome->truth.culprits.at(0).host);
  EXPECT_EQ(removals->decisions[0].action, "watch");
  const absl::Status stopped = (*next)->Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
  EXPECT_THAT(hook.Runs(), SizeIs(1));
  ExpectOneRun(hook, *outcome->incident, "");
  ExpectRecorded(*removals, "");
}

TEST_F(RemovalTest, AHistoryThatRefusesDelaysNoDigestAndMissesNothing) {
  const absl::StatusOr<int> port = FreePort("127.0.0.1");
  ASSERT_TRUE(port.ok()) << port.status();
  ExpectTheDigestInTimeAndTheRestLater(
      absl::StrCat("postgresql://rapideye@127.0.0.1:", *port, "/fleet"));
}

TEST_F(RemovalTest, AHistoryThatNeverAnswersDelaysNoDigestAndMissesNothing) {
  // The kernel accepts connections, and no process answers on them.
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const absl::Cleanup close_it = [silent] { close(silent); };
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(place);
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  ASSERT_TRUE(bind(silent, address, size) == 0 && listen(silent, 16) == 0 &&
              getsockname(silent, address, &size) == 0);
  ExpectTheDigestInTimeAndTheRestLater(
      absl::StrCat("postgresql://rapideye@127.0.0.1:", ntohs(place.sin_port), "/fleet"));
}

}  // namespace
}  // namespace rapideye::testbed
