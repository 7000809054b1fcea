// Ends processes and starts them again while the job runs.
#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {
namespace {

// The daemons promise to end within 5 s; the machine may be busy.
constexpr absl::Duration kEndPatience = absl::Seconds(6);
constexpr absl::Duration kStartPatience = absl::Seconds(30);
constexpr absl::Duration kReadyTimeout = absl::Seconds(10);
constexpr absl::Duration kEndLookInterval = absl::Milliseconds(20);

bool EndedAsAsked(int status, Ending how) {
  if (how == Ending::kKilled) return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

absl::Status Job::End(std::unique_ptr<ChildProcess>& child, Ending how) {
  const std::unique_ptr<ChildProcess> ending = std::move(child);
  if (how == Ending::kAsked) ending->AwaitCatching(SIGTERM, kStartPatience);
  const int status = ending->Stop(how == Ending::kAsked ? kEndPatience : absl::ZeroDuration());
  if (EndedAsAsked(status, how)) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(ending->name(), " ", DescribeExit(status), " when it was ",
                                         how == Ending::kAsked ? "asked to end" : "killed"));
}

absl::Status Job::EndAgent(WorkerId worker, Ending how) {
  if (members_[worker].agent == nullptr) return absl::OkStatus();
  return End(members_[worker].agent, how);
}

absl::Status Job::RestartAgent(WorkerId worker, Ending how) {
  if (absl::Status s = EndAgent(worker, how); !s.ok()) return s;
  return StartAgent(worker);
}

void Job::SignalAgent(WorkerId worker, int signal) { members_[worker].agent->Signal(signal); }

absl::Status Job::EndCoordinator(Ending how) {
  if (coordinator_ == nullptr) return absl::OkStatus();
  return End(coordinator_, how);
}

absl::Status Job::RestartCoordinator(Ending how) {
  if (absl::Status s = EndCoordinator(how); !s.ok()) return s;
  return StartCoordinator();
}

absl::StatusOr<int> Job::AwaitCoordinatorEnd(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  // The coordinator leaves the members first, so that its end is no error.
  std::unique_ptr<ChildProcess> ending = std::move(coordinator_);
  while (true) {
    if (const std::optional<int> status = ending->Wait(kEndLookInterval)) return *status;
    absl::Status waited = CheckAlive();
    if (options_.interrupted != nullptr && *options_.interrupted) {
      waited = absl::CancelledError("interrupted");
    } else if (waited.ok() && absl::Now() >= deadline) {
      waited = absl::DeadlineExceededError("the coordinator has not ended");
    }
    if (waited.ok()) continue;
    coordinator_ = std::move(ending);
    return waited;
  }
}

absl::Status Job::EndWorkers(const std::vector<WorkerId>& workers, Ending how) {
  for (WorkerId worker : workers) {
    ChildProcess& process = *members_[worker].process;
    process.Signal(how == Ending::kAsked ? SIGTERM : SIGKILL);
    process.Signal(SIGCONT);  // a stopped one could not obey
  }
  for (WorkerId worker : workers) {
    std::unique_ptr<ChildProcess>& process = members_[worker].process;
    if (process != nullptr && !process->Wait(kEndPatience).has_value()) {
      return absl::AbortedError(absl::StrCat("worker ", FormatWorker(worker), " does not end"));
    }
    process.reset();
  }
  return absl::OkStatus();
}

absl::Status Job::RestartWorker(WorkerId worker, Ending how) {
  if (absl::Status s = EndWorkers({worker}, how); !s.ok()) return s;
  if (absl::Status s = StartWorker(worker); !s.ok()) return s;
  return AwaitVerb(worker, "ready", kReadyTimeout);
}

absl::Status Job::EndJob(Ending how) {
  if (options_.agents_in_pods) {
    for (auto& [worker, member] : members_) {
      if (absl::Status s = EndAgent(worker, how); !s.ok()) return s;
    }
  }
  return EndWorkers(AllWorkers(options_.shape), how);
}

absl::Status Job::StartNextJob() {
  ++attempt_;
  if (absl::Status s = StartWorkers(); !s.ok()) return s;
  if (options_.agents_in_pods) {
    if (absl::Status s = StartAgents(); !s.ok()) return s;
  }
  EnterLoop();
  return absl::OkStatus();
}

absl::Status Job::RestartJob(Ending how) {
  if (absl::Status s = EndJob(how); !s.ok()) return s;
  return StartNextJob();
}

absl::Status Job::Heal() {
  for (auto& [worker, member] : members_) {
    const bool runs =
        member.process != nullptr && !member.process->Wait(absl::ZeroDuration()).has_value();
    if (!runs) continue;
    member.silenced = false;
    member.process->Signal(SIGCONT);  // one that a fault has stopped
  }
  return AskAll("heal", "healed");
}

}  // namespace rapideye::testbed
