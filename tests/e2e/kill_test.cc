// Kills the coordinator at every step of its work on an incident. Whenever that is, the next
// coordinator finishes the work: there is one incident on disk, whole and right, its digest is
// in the log, the fleet history knows it, the policy has decided about what it names, its hook
// has run, and nothing more is raised while the hang lasts. Likewise for a kill while the end is
// noted: the next coordinator keeps the note beside the digest, and the hook hears of it.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "coordinator/store/incident_notes.h"
#include "tests/e2e/fixture.h"
#include "tests/testbed/crashpoint/points.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int64_t kHealthySteps = 12;
// Time between two looks at the files.
constexpr absl::Duration kLook = absl::Milliseconds(100);
// Jobs that run at once: most of the time each of them waits.
constexpr int kAtOnce = 8;
const WorkerId kVictim{0, 1};

std::string ReadAll(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Writes the hook that all jobs share, each by a link of its own: a script that one thread
// wrote while another started a process could not be run, since the process holds it
// open for writing.
void WriteHook(const std::string& path) {
  std::ofstream(path) << "#!/bin/sh\necho \"$RAPIDEYE_INCIDENT $RAPIDEYE_EVENT\" >>\"$0.told\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// Complaints unless the hook was told of the incident at least once, and of nothing else.
std::vector<std::string> InspectHook(const std::string& state_dir, const std::string& id) {
  std::vector<std::string> wrong;
  const std::string told = ReadAll(absl::StrCat(state_dir, "/hook.told"));
  const std::vector<std::string> lines = absl::StrSplit(told, '\n', absl::SkipEmpty());
  const bool only = std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line == absl::StrCat(id, " opened") || line == absl::StrCat(id, " changed");
  });
  if (lines.empty() || !only) wrong.push_back(absl::StrCat("the hook was told of: ", told));
  const std::string record = ReadAll(absl::StrCat(state_dir, "/incidents/", id, "/hooks.json"));
  if (CountOf(record, "\"outcome\": \"exited with status 0\"") != 1) {
    wrong.push_back(absl::StrCat("the incident's record says: ", record));
  }
  const auto history = coordinator::OpenDatabase(absl::StrCat("sqlite:", state_dir, "/fleet.db"));
  const auto decisions = history.ok() ? coordinator::History(**history).DecisionsOf(
                                            id, coordinator::RemovalMode::kDryRun)
                                      : history.status();
  if (!decisions.ok() || decisions->size() != 1) {
    wrong.push_back("the fleet history has no decision");
  }
  return wrong;
}

// Waits until the note of the incident's end is there, whole, and the hook has heard of it.
absl::Status AwaitEnd(Job& job, const std::string& state_dir) {
  const std::string directory = job.Incidents().front();
  const std::string id = std::filesystem::path(directory).filename();
  const absl::Time deadline = absl::Now() + kPatience;
  while (absl::Now() < deadline) {
    const std::string told = ReadAll(absl::StrCat(state_dir, "/hook.told"));
    const auto ended = coordinator::ParseEnd(ReadAll(absl::StrCat(directory, "/ended.json")));
    if (ended.ok() && absl::StrContains(told, absl::StrCat(id, " recovered\n"))) {
      if (job.Incidents().size() == 1) return absl::OkStatus();
      return absl::AbortedError("another incident after the end");
    }
    if (absl::Status s = job.Watch(kLook); !s.ok()) return s;
  }
  return absl::DeadlineExceededError("no end is kept, or the hook was not told of it");
}

// One hang, and a coordinator that dies at `point` while it deals with the hang; with no
// point it lives. Run returns complaints about the state that is found afterwards.
class Hang {
 public:
  // `hook`: see WriteHook.
  Hang(JobOptions options, std::string point, const std::string& hook)
      : options_(std::move(options)), point_(std::move(point)), hook_(hook) {
    options_.coordinator_flags.push_back(absl::StrCat("--hook=", options_.state_dir, "/hook"));
  }

  std::vector<std::string> Run() {
    std::filesystem::create_directories(options_.state_dir);
    std::filesystem::create_symlink(hook_, absl::StrCat(options_.state_dir, "/hook"));
    const absl::Status status = Live();
    if (!status.ok()) wrong_.push_back(std::string(status.message()));
    for (std::string& complaint : wrong_) complaint = absl::StrCat(point_, ": ", complaint);
    return wrong_;
  }

  // Without a point: the points that the coordinator passed while the job hung.
  const std::vector<std::string>& passed() const { return passed_; }

 private:
  std::vector<std::string> PassedSoFar() const {
    std::vector<std::string> points;
    for (const absl::string_view line : absl::StrSplit(Log(), '\n')) {
      if (absl::StartsWith(line, kPassed)) {
        points.emplace_back(line.substr(std::string(kPassed).size()));
      }
    }
    return points;
  }
  std::string Log() const { return ReadAll(LogPath(options_, "coordinator")); }

  absl::Status Live() {
    absl::StatusOr<std::unique_ptr<Job>> started = Job::Start(options_);
    if (!started.ok()) return started.status();
    Job& job = **started;
    if (absl::Status s = job.EndCoordinator(Ending::kAsked); !s.ok()) return s;
    CoordinatorProgram program{"coordinator-crashpoint", {}};
    if (!point_.empty()) program.environment[kCrashPointVariable] = point_;
    if (absl::Status s = job.StartCoordinator(program); !s.ok()) return s;
    if (absl::Status s = job.AwaitAllConnected(kPatience); !s.ok()) return s;
    if (absl::Status s = job.AwaitStep(kHealthySteps, kPatience); !s.ok()) return s;
    if (absl::Status s = job.Inject(kVictim, "chip-stop chip=0 where=before"); !s.ok()) return s;
    const bool at_the_end = absl::StartsWith(point_, "end");
    if (!point_.empty() && !at_the_end) {
      if (absl::Status s = Die(job); !s.ok()) return s;
    }
    if (absl::Status s = Inspect(job); !s.ok()) return s;
    if (absl::Status s = job.Heal(); !s.ok()) return s;
    if (at_the_end) {
      if (absl::Status s = Die(job); !s.ok()) return s;
    }
    if (absl::Status s = AwaitEnd(job, options_.state_dir); !s.ok()) return s;
    // Other points behind the end, such as the hook's record, are passed as the job goes on.
    for (const std::string& point : PassedSoFar()) {
      if (absl::StartsWith(point, "end")) passed_.push_back(point);
    }
    return job.Stop();
  }

  absl::Status Die(Job& job) {
    const absl::StatusOr<int> end = job.AwaitCoordinatorEnd(kPatience);
    if (!end.ok()) return end.status();
    if (!WIFSIGNALED(*end) || WTERMSIG(*end) != SIGKILL) {
      return absl::AbortedError(absl::StrCat("the coordinator ", DescribeExit(*end)));
    }
    if (absl::Status s = job.StartCoordinator(); !s.ok()) return s;
    return job.AwaitAllConnected(kPatience);
  }

  absl::Status Inspect(Job& job) {
    const absl::StatusOr<std::string> directory = job.AwaitIncident(kPatience);
    if (!directory.ok()) return directory.status();
    const std::string id = std::filesystem::path(*directory).filename();
    // Long enough to raise the same hang once more.
    if (absl::Status s = job.Watch(2 * LaunchThreshold(options_)); !s.ok()) return s;
    if (job.Incidents().size() != 1) {
      wrong_.push_back(absl::StrCat("incidents: ", absl::StrJoin(job.Incidents(), " ")));
    }
    const absl::StatusOr<Incident> incident = ReadIncident(*directory);
    if (!incident.ok()) return incident.status();
    const Truth truth = {"BAD_TPU_CHIP", "TENSOR_CORE", {{kVictim, HostName(kVictim), 0}}, false};
    for (std::string& difference : Differences(truth, incident->finding)) {
      wrong_.push_back(std::move(difference));
    }
    if (CountOf(Log(), absl::StrCat("Incident: ", id)) == 0) {
      wrong_.push_back("the digest is not in the log");
    }
    // A coordinator removes half-written incidents when it starts.
    for (const auto& entry :
         std::filesystem::directory_iterator(options_.state_dir + "/incidents")) {
      if (entry.path() != *directory) {
        wrong_.push_back(absl::StrCat("left behind: ", entry.path().string()));
      }
    }
    for (std::string& complaint : InspectHook(options_.state_dir, id)) {
      wrong_.push_back(std::move(complaint));
    }
    passed_ = PassedSoFar();
    return absl::OkStatus();
  }

  JobOptions options_;
  const std::string point_;
  const std::string hook_;
  std::vector<std::string> passed_;
  std::vector<std::string> wrong_;
};

class Kill : public EndToEndTest {
 protected:
  JobOptions OptionsOf(const std::string& name) const {
    JobOptions options = Options(/*programs=*/1, /*seed=*/1).job;
    options.shape = {1, 3, 1, options.shape.generation};
    options.launch_threshold = absl::Seconds(2);
    options.state_dir = absl::StrCat(state_dir_, "/", name);
    return options;
  }
};

// The first and the last point of each kind of message, and all other points.
std::set<std::string> Telling(const std::vector<std::string>& points) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const std::string& point : points) {
    by_kind[point.substr(0, point.find('-'))].push_back(point);
  }
  std::set<std::string> telling;
  for (const auto& [kind, all] : by_kind) {
    const bool every = absl::EndsWith(kind, "disk") || kind == "log";
    for (size_t i = 0; i < all.size(); ++i) {
      if (every || i == 0 || i + 1 == all.size()) telling.insert(all[i]);
    }
  }
  return telling;
}

TEST_F(Kill, AtEveryStepOfAnIncidentLeavesOneIncident) {
  const std::string hook = absl::StrCat(state_dir_, "/hook");
  WriteHook(hook);
  Hang undisturbed(OptionsOf("undisturbed"), "", hook);
  ASSERT_THAT(undisturbed.Run(), IsEmpty());
  const std::set<std::string> set = Telling(undisturbed.passed());
  for (const char* point : {"collect-1", "snapshot-1", "conclude-1", "disk-1", "torn-1", "log-1",
                            "log-2", "told-1", "enddisk-1", "endtorn-1"}) {
    EXPECT_THAT(set, Contains(point));
  }
  const std::vector<std::string> points(set.begin(), set.end());
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kAtOnce; ++i) {
      threads.emplace_back([&] {
        for (size_t at = next++; at < points.size(); at = next++) {
          const std::vector<std::string> found =
              Hang(OptionsOf(points[at]), points[at], hook).Run();
          const std::lock_guard lock(mutex);
          wrong.insert(wrong.end(), found.begin(), found.end());
        }
      });
    }
  }
  EXPECT_THAT(wrong, IsEmpty());
  std::cout << points.size() << " points: " << absl::StrJoin(points, " ") << "\n";
}

}  // namespace
}  // namespace rapideye::testbed
