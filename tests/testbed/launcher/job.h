// A running testbed job: its workers, and the daemons that watch it.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

struct JobOptions {
  std::string name = "testbed";
  JobShape shape;
  int programs = 1;
  bool offload = false;  // part of each program runs on SparseCores
  int seed = 1;
  absl::Duration step_time = absl::Milliseconds(100);
  bool pipeline = false;  // each slice is a stage with its own modules
  // After so long without a completed launch the runtimes of all workers abort
  // their processes; zero: never.
  absl::Duration abort_on_hang;
  // After so much compute time all workers launch nothing for a while, as for a
  // checkpoint; zero: never.
  absl::Duration pause_every;
  absl::Duration pause;
  absl::Duration poll_interval = absl::Seconds(1);
  // The coordinator's; it finds its own if absent.
  std::optional<absl::Duration> launch_threshold = absl::Seconds(4);
  std::optional<absl::Duration> hang_threshold = absl::Seconds(8);
  std::string program_dir;  // holds testbed-worker, rapideye-agent, rapideye-coordinator
  std::string state_dir;    // the coordinator's; exists; logs go to <state_dir>/logs
  bool daemons = true;      // false: workers alone
  // Every wait ends with CANCELLED once this becomes true.
  const std::atomic<bool>* interrupted = nullptr;
};

// What the coordinator's thresholds are; of those that it finds itself, what they
// come to for launches of the testbed's length.
absl::Duration LaunchThreshold(const JobOptions& options);
absl::Duration HangThreshold(const JobOptions& options);

// Use from the thread that started it. Destroying a job stops everything.
// Every wait returns DEADLINE_EXCEEDED if it takes too long, CANCELLED if
// interrupted, and ABORTED if a process that should run has ended or a worker
// has reported an error.
class Job {
 public:
  // Starts coordinator, workers and agents; the training loop runs on return.
  static absl::StatusOr<std::unique_ptr<Job>> Start(JobOptions options);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Stops all processes: first agents and coordinator, then workers. ABORTED
  // names a daemon that did not end cleanly when it was asked to.
  absl::Status Stop();

  // Steps completed by every worker.
  int64_t StepOfSlowest() const;
  absl::Status AwaitStep(int64_t step, absl::Duration timeout);

  // Lets time pass, as long as all is well.
  absl::Status Watch(absl::Duration duration);

  // Arranges a fault ("chip-stop chip=1 where=before") and returns once the
  // worker has accepted it; its complaint otherwise.
  absl::Status Inject(WorkerId worker, absl::string_view fault);
  // The worker's process will end or stop for good: it is asked nothing more, and
  // its end is no error.
  void ExpectSilence(WorkerId worker);
  // Waits until the fault has taken hold; what the worker said about it.
  absl::StatusOr<ControlLine> AwaitEffect(WorkerId worker, absl::Duration timeout);

  // When a launch last completed on any core of the job. Asks all workers that
  // can answer; if none can, when one last told of a completed step.
  absl::StatusOr<absl::Time> LastProgress();

  // Kills the agent at once, as an out-of-memory killer would.
  void KillAgent(WorkerId worker);

  // Directories of complete incidents, in order.
  std::vector<std::string> Incidents() const;
  // Waits for the first one.
  absl::StatusOr<std::string> AwaitIncident(absl::Duration timeout);

  const JobOptions& options() const { return options_; }
  std::string RuntimeAddress(WorkerId worker) const;
  std::string LogDirectory() const;
  // Every process that has been started and not yet stopped.
  std::vector<pid_t> Processes() const;

 private:
  // What one worker's process has said; guarded by mutex_.
  struct Conversation {
    std::map<std::string, ControlLine> last;  // by verb
    int64_t step = 0;
    absl::Time step_at = absl::InfinitePast();
    std::string error;
  };
  struct Member {
    std::unique_ptr<ChildProcess> process;
    std::unique_ptr<ChildProcess> agent;
    bool silenced = false;
  };

  explicit Job(JobOptions options) : options_(std::move(options)) {}
  absl::Status StartAll();
  absl::Status StartCoordinator();
  absl::Status StartWorker(WorkerId worker);
  absl::Status StartAgent(WorkerId worker);
  void Hear(WorkerId worker, absl::string_view line);
  void HearCoordinator(absl::string_view line);
  // Sends `line` to every worker and waits until each has answered with `verb`.
  absl::Status AskAll(absl::string_view line, const std::string& verb);
  absl::Status AwaitVerb(WorkerId worker, const std::string& verb, absl::Duration timeout);
  // Waits for a condition, which is called with mutex_ held.
  absl::Status Await(const std::function<bool()>& condition, absl::string_view what,
                     absl::Duration timeout);
  absl::Status CheckAlive();  // without mutex_: it may wait for a reader
  std::string Program(absl::string_view name) const;
  std::string LogPath(absl::string_view name) const;
  std::string WorkerLog(WorkerId worker) const;

  const JobOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable heard_;
  std::map<WorkerId, Conversation> conversations_;
  std::string coordinator_address_;
  std::map<WorkerId, Member> members_;
  std::unique_ptr<ChildProcess> coordinator_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_H_
