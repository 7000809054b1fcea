// Job runs a testbed job: its workers, and the daemons that watch it.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/launcher/conversations.h"
#include "tests/testbed/launcher/host_networks.h"
#include "tests/testbed/launcher/job_options.h"
#include "tests/testbed/launcher/made_up_kernel.h"
#include "tests/testbed/launcher/processes.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

// Way in which a process is ended: asked, as by an operator who restarts it (SIGTERM),
// or killed, as by a crash of its machine (SIGKILL).
enum class Ending { kAsked, kKilled };

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
  int64_t StepOfSlowest() const { return conversations_.StepOfSlowest(); }
  absl::Status AwaitStep(int64_t step, absl::Duration timeout);

  // Lets time pass, as long as all is well.
  absl::Status Watch(absl::Duration duration);

  // Arranges a fault ("chip-stop chip=1 where=before") and returns once the
  // worker has accepted it; its complaint otherwise.
  absl::Status Inject(WorkerId worker, absl::string_view fault);
  // The made-up kernel of the worker's host tells of a chip.
  absl::Status Tell(WorkerId worker, KernelFault fault, int chip);
  // The worker's process will end or stop for good: it is asked nothing more, and
  // its end is no error.
  void ExpectSilence(WorkerId worker);
  // Waits until the fault has taken hold; returns the worker's words about it.
  absl::StatusOr<ControlLine> AwaitEffect(WorkerId worker, absl::Duration timeout);

  // When a launch last completed on any core of the job. Asks all workers that
  // can answer; if none can, when one last told of a completed step.
  absl::StatusOr<absl::Time> LastProgress();

  // Ends all faults that have destroyed nothing.
  absl::Status Heal();

  // Ends one process, or all of the job's, and starts the same again under the same
  // addresses. A daemon that is asked to end must do so cleanly, within the time
  // that it promises: ABORTED names one that does not.
  absl::Status EndAgent(WorkerId worker, Ending how);
  absl::Status StartAgent(WorkerId worker);
  absl::Status RestartAgent(WorkerId worker, Ending how);
  // Signals the agent's process alone: SIGSTOP makes it silent, SIGCONT lets it speak again.
  void SignalAgent(WorkerId worker, int signal);
  absl::Status EndCoordinator(Ending how);
  // Returns once the coordinator listens. Another program than the usual one may be given.
  absl::Status StartCoordinator(const CoordinatorProgram& program = {});
  absl::Status RestartCoordinator(Ending how);
  // Waits for the coordinator's own end; returns its status as waitpid gives it.
  absl::StatusOr<int> AwaitCoordinatorEnd(absl::Duration timeout);
  // Restarts the training process of one worker alone: the others have lost it for good, and
  // it waits for them. Only RestartJob brings it back to work.
  absl::Status RestartWorker(WorkerId worker, Ending how);
  // Ends all training processes; starts the next incarnation of the job, whose loop runs
  // on return, from step 0.
  absl::Status EndJob(Ending how);
  absl::Status StartNextJob();
  absl::Status RestartJob(Ending how);

  // Waits for a line with this text in the log of the coordinator that now runs.
  absl::Status AwaitCoordinatorLog(absl::string_view text, absl::Duration timeout);
  // Waits until all agents are connected to the coordinator that now runs.
  absl::Status AwaitAllConnected(absl::Duration timeout);

  // Directories of complete incidents, in order.
  std::vector<std::string> Incidents() const;
  // Waits for the first incident, or for the first beyond so many.
  absl::StatusOr<std::string> AwaitIncident(absl::Duration timeout, size_t beyond = 0);

  const JobOptions& options() const { return options_; }
  // Only with own_networks.
  HostNetworks& networks() { return *networks_; }
  std::string RuntimeAddress(WorkerId worker) const;
  const std::string& coordinator_address() const { return coordinator_address_; }
  // Every process that has been started and not yet stopped.
  std::vector<pid_t> Processes() const;
  // Processes of the daemons alone, by the name of their log.
  std::map<std::string, pid_t> Daemons() const;

 private:
  struct Member {
    std::unique_ptr<ChildProcess> process;
    std::unique_ptr<ChildProcess> agent;
    bool silenced = false;
    std::string runtime;        // address of its status service, from its first start on
    std::string input_metrics;  // likewise of its input pipeline's page; empty: it has none
  };

  explicit Job(JobOptions options);
  absl::Status StartAll();
  // Starts all training processes, up to where the loop may run.
  absl::Status StartWorkers();
  absl::Status StartWorker(WorkerId worker);
  ChildProcess::Options OnHostOf(WorkerId worker, ChildProcess::Options process) const;
  absl::Status StartAgents();
  void EnterLoop();
  absl::Status End(std::unique_ptr<ChildProcess>& child, Ending how);
  absl::Status EndWorkers(const std::vector<WorkerId>& workers, Ending how);
  // Sends every worker its line and waits until each has answered with `verb`.
  absl::Status AskAll(const std::function<std::string(WorkerId)>& line, const std::string& verb);
  absl::Status AskAll(absl::string_view line, const std::string& verb) {
    return AskAll([&](WorkerId) { return std::string(line); }, verb);
  }
  absl::Status AwaitVerb(WorkerId worker, const std::string& verb, absl::Duration timeout);
  // Waits for a condition.
  absl::Status Await(const std::function<bool()>& condition, absl::string_view what,
                     absl::Duration timeout);
  absl::Status CheckAlive();

  const JobOptions options_;
  const std::string coordinator_address_;
  std::unique_ptr<HostNetworks> networks_;
  int attempt_;  // restarts of the job
  // Outlives the processes below, whose readers add lines to it.
  Conversations conversations_;
  std::map<WorkerId, Member> members_;
  std::unique_ptr<ChildProcess> coordinator_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_JOB_H_
