#include "tests/testbed/launcher/job.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testbed/launcher/certificates.h"

namespace rapideye::testbed {
namespace {

// Generous: a busy machine starts twenty processes at once.
constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);
// After a restart of one worker, on a machine where all others run.
constexpr absl::Duration kReadyTimeout = absl::Seconds(10);
// The daemons promise to end within 5 s; the machine may be busy.
constexpr absl::Duration kStopPatience = absl::Seconds(6);
// Events that no child reports (files, interruption, a child's end) are looked for this often.
constexpr absl::Duration kLookInterval = absl::Milliseconds(20);

bool EndedAsAsked(int status, Ending how) {
  if (how == Ending::kKilled) return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Job>> Job::Start(JobOptions options) {
  std::unique_ptr<Job> job(new Job(std::move(options)));
  if (absl::Status s = job->StartAll(); !s.ok()) return s;
  return job;
}

Job::Job(JobOptions options)
    : options_(std::move(options)),
      coordinator_address_(NewCoordinatorAddress(options_)),
      attempt_(options_.attempt) {}

Job::~Job() { (void)Stop(); }

absl::Status Job::StartAll() {
  signal(SIGPIPE, SIG_IGN);  // a child that is gone is found out by waiting for it
  std::error_code error;
  std::filesystem::create_directories(LogDirectory(options_), error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(LogDirectory(options_), ": ", error.message()));
  }
  if (options_.own_networks) {
    absl::StatusOr<std::unique_ptr<HostNetworks>> networks = HostNetworks::Create(options_.shape);
    if (!networks.ok()) return networks.status();
    networks_ = *std::move(networks);
  }
  if (options_.tls) {
    const std::string host = coordinator_address_.substr(0, coordinator_address_.find(':'));
    const absl::Status s = MakeCertificates(options_.state_dir, host, NamesOfAgents(options_));
    if (!s.ok()) return s;
  }
  if (options_.made_up_kernels) {
    for (WorkerId worker : AllWorkers(options_.shape)) {
      if (absl::Status s = KernelOf(options_, worker).Create(options_.shape.chips); !s.ok()) {
        return s;
      }
    }
  }
  if (options_.daemons) {
    if (absl::Status s = StartCoordinator(); !s.ok()) return s;
  }
  if (absl::Status s = StartWorkers(); !s.ok()) return s;
  if (options_.daemons && !options_.agents_start_workers) {
    if (absl::Status s = StartAgents(); !s.ok()) return s;
  }
  EnterLoop();
  return absl::OkStatus();
}

absl::Status Job::StartWorkers() {
  const std::vector<WorkerId> workers = AllWorkers(options_.shape);
  for (WorkerId worker : workers) {
    if (absl::Status s = StartWorker(worker); !s.ok()) return s;
  }
  std::map<WorkerId, std::string> ports;  // of the mesh
  for (WorkerId worker : workers) {
    if (absl::Status s = AwaitVerb(worker, "ready", kStartTimeout); !s.ok()) return s;
    const ControlLine ready = *conversations_.Last(worker, "ready");
    const std::string& mesh = ready.arguments.at("mesh");
    ports[worker] = mesh.substr(mesh.rfind(':'));
    members_[worker].runtime = ready.arguments.at("runtime");
  }
  const auto peers = [&](WorkerId worker) {
    MeshAddresses addresses;
    for (const auto& [peer, port] : ports) {
      addresses[peer] = MeshAddressOf(options_, worker, peer) + port;
    }
    return FormatControlLine(MakePeers(addresses));
  };
  return AskAll(peers, "connected");
}

// Adds what the processes of one worker's host have in common: its networks, where hosts have
// networks of their own, and the variables that a pod's containers get.
ChildProcess::Options Job::OnHostOf(WorkerId worker, ChildProcess::Options process) const {
  const std::string& input_metrics = members_.at(worker).input_metrics;
  if (!input_metrics.empty()) {
    process.environment["RAPIDEYE_INPUT_PIPELINE_METRICS"] = input_metrics;
  }
  if (networks_ != nullptr) process.within = networks_->OnHost(worker);
  return process;
}

absl::Status Job::StartWorker(WorkerId worker) {
  Member& member = members_[worker];
  int port = 0;  // a free one, unless it had one before
  if (!member.runtime.empty() &&
      !absl::SimpleAtoi(member.runtime.substr(member.runtime.rfind(':') + 1), &port)) {
    return absl::InternalError(absl::StrCat("no port in ", member.runtime));
  }
  if (options_.agents_start_workers && port == 0) {
    const absl::StatusOr<int> free = FreePort(WorkerAddress(worker));
    if (!free.ok()) return free.status();
    port = *free;
  }
  if (options_.slow_input && member.input_metrics.empty()) {
    const absl::StatusOr<int> free = FreePort(WorkerAddress(worker));
    if (!free.ok()) return free.status();
    member.input_metrics = absl::StrCat(WorkerAddress(worker), ":", *free);
  }
  ChildProcess::Options process =
      OnHostOf(worker, options_.agents_start_workers
                           ? ExecProcess(options_, worker, coordinator_address_, port, attempt_)
                           : WorkerProcess(options_, worker, port));
  process.on_line = [this, worker](absl::string_view line) { conversations_.Hear(worker, line); };
  conversations_.Begin(worker);
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(std::move(process));
  if (!child.ok()) return child.status();
  member.process = *std::move(child);
  member.silenced = false;
  return absl::OkStatus();
}

absl::Status Job::StartAgents() {
  for (WorkerId worker : AllWorkers(options_.shape)) {
    if (absl::Status s = StartAgent(worker); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Job::StartAgent(WorkerId worker) {
  Member& member = members_[worker];
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(OnHostOf(
      worker, AgentProcess(options_, worker, coordinator_address_, member.runtime, attempt_)));
  if (!child.ok()) return child.status();
  member.agent = *std::move(child);
  return absl::OkStatus();
}

absl::Status Job::StartCoordinator(const CoordinatorProgram& program) {
  conversations_.BeginCoordinator();
  ChildProcess::Options process = CoordinatorProcess(options_, program, coordinator_address_);
  process.on_line = [this](absl::string_view line) { conversations_.HearCoordinator(line); };
  if (networks_ != nullptr) process.within = networks_->OnCoordinatorsHost();
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(std::move(process));
  if (!child.ok()) return child.status();
  coordinator_ = *std::move(child);
  return AwaitCoordinatorLog("listening on ", kStartTimeout);
}

void Job::EnterLoop() {
  for (auto& [worker, member] : members_) member.process->WriteLine("start");
}

absl::Status Job::AwaitCoordinatorLog(absl::string_view text, absl::Duration timeout) {
  return Await([&] { return conversations_.CoordinatorLogged(text); },
               absl::StrCat("the coordinator to log '", text, "'"), timeout);
}

absl::Status Job::AwaitAllConnected(absl::Duration timeout) {
  return AwaitCoordinatorLog(absl::StrCat("all ", options_.shape.workers(), " workers of job"),
                             timeout);
}

absl::Status Job::CheckAlive() {
  const auto ended = [](const std::unique_ptr<ChildProcess>& child) -> absl::Status {
    if (child == nullptr) return absl::OkStatus();
    const std::optional<int> status = child->Wait(absl::ZeroDuration());
    if (!status.has_value()) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(child->name(), " ", DescribeExit(*status)));
  };
  if (absl::Status s = ended(coordinator_); !s.ok()) return s;
  for (const auto& [worker, member] : members_) {
    const absl::Status process = ended(member.process);
    if (!process.ok() && !member.silenced) return process;
    if (absl::Status s = ended(member.agent); !s.ok()) return s;
  }
  return conversations_.Errors();
}

absl::Status Job::Await(const std::function<bool()>& condition, absl::string_view what,
                        absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!condition()) {
    if (options_.interrupted != nullptr && *options_.interrupted) {
      return absl::CancelledError("interrupted");
    }
    if (absl::Status alive = CheckAlive(); !alive.ok()) return alive;
    if (absl::Now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("waited ", absl::FormatDuration(timeout),
                                                      " for ", what,
                                                      "; logs: ", LogDirectory(options_)));
    }
    conversations_.AwaitLine(kLookInterval);
  }
  return absl::OkStatus();
}

absl::Status Job::AwaitVerb(WorkerId worker, const std::string& verb, absl::Duration timeout) {
  return Await([&] { return conversations_.Has(worker, verb); },
               absl::StrCat("'", verb, "' of worker ", FormatWorker(worker)), timeout);
}

absl::Status Job::AskAll(const std::function<std::string(WorkerId)>& line,
                         const std::string& verb) {
  conversations_.ForgetOfAll(verb);
  for (auto& [worker, member] : members_) {
    if (!member.silenced && member.process != nullptr) member.process->WriteLine(line(worker));
  }
  for (auto& [worker, member] : members_) {
    if (member.silenced || member.process == nullptr) continue;
    if (absl::Status s = AwaitVerb(worker, verb, kStartTimeout); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Job::AwaitStep(int64_t step, absl::Duration timeout) {
  return Await([&] { return StepOfSlowest() >= step; }, absl::StrCat("step ", step), timeout);
}

absl::Status Job::Watch(absl::Duration duration) {
  const absl::Time end = absl::Now() + duration;
  return Await([&] { return absl::Now() >= end; }, "time to pass", duration + kStartTimeout);
}

absl::Status Job::Inject(WorkerId worker, absl::string_view fault) {
  conversations_.Forget(worker, "fault-set");
  conversations_.Forget(worker, "fault-effective");
  members_[worker].process->WriteLine(absl::StrCat("fault ", fault));
  // Some faults take hold at once, and the worker says nothing afterwards.
  return Await(
      [&] {
        return conversations_.Has(worker, "fault-set") ||
               conversations_.Has(worker, "fault-effective");
      },
      absl::StrCat("worker ", FormatWorker(worker), " to accept the fault"), kAnswerTimeout);
}

absl::Status Job::Tell(WorkerId worker, KernelFault fault, int chip) {
  return KernelOf(options_, worker).Tell(fault, chip);
}

void Job::ExpectSilence(WorkerId worker) { members_[worker].silenced = true; }

absl::StatusOr<ControlLine> Job::AwaitEffect(WorkerId worker, absl::Duration timeout) {
  if (absl::Status s = AwaitVerb(worker, "fault-effective", timeout); !s.ok()) return s;
  return *conversations_.Last(worker, "fault-effective");
}

absl::StatusOr<absl::Time> Job::LastProgress() {
  if (absl::Status s = AskAll("progress", "progress"); !s.ok()) return s;
  const absl::Time now = absl::Now();
  absl::Time last = absl::InfinitePast();
  for (const ControlLine& progress : conversations_.LastOfAll("progress")) {
    const absl::StatusOr<int> idle = IntegerArgument(progress, "idle-ms");
    if (idle.ok()) last = std::max(last, now - absl::Milliseconds(*idle));
  }
  if (last == absl::InfinitePast()) last = conversations_.LastStep();
  if (last == absl::InfinitePast()) return absl::NotFoundError("no launch has completed yet");
  return last;
}

std::vector<std::string> Job::Incidents() const {
  std::vector<std::string> found;
  std::error_code error;
  const std::filesystem::directory_iterator entries(options_.state_dir + "/incidents", error);
  if (error) return found;
  for (const auto& entry : entries) {
    if (std::filesystem::exists(entry.path() / "digest.json", error) &&
        !absl::StartsWith(entry.path().filename().string(), ".")) {
      found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

absl::StatusOr<std::string> Job::AwaitIncident(absl::Duration timeout, size_t beyond) {
  std::vector<std::string> found;
  absl::Status status = Await(
      [&] {
        found = Incidents();
        return found.size() > beyond;
      },
      absl::StrCat("incident ", beyond + 1, " on disk"), timeout);
  if (!status.ok()) return status;
  return found[beyond];
}

absl::Status Job::End(std::unique_ptr<ChildProcess>& child, Ending how) {
  const std::unique_ptr<ChildProcess> ending = std::move(child);
  if (how == Ending::kAsked) ending->AwaitCatching(SIGTERM, kStartTimeout);
  const int status = ending->Stop(how == Ending::kAsked ? kStopPatience : absl::ZeroDuration());
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
    if (const std::optional<int> status = ending->Wait(kLookInterval)) return *status;
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
    if (process != nullptr && !process->Wait(kStopPatience).has_value()) {
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

absl::Status Job::Stop() {
  absl::Status outcome;
  const auto end = [&](std::unique_ptr<ChildProcess>& daemon) {
    const absl::Status status = daemon == nullptr ? absl::OkStatus() : End(daemon, Ending::kAsked);
    if (outcome.ok()) outcome = status;
  };
  // Agents end first: the end of the workers below is no hang, and must not be reported.
  for (auto& [worker, member] : members_) {
    if (member.agent == nullptr) continue;
    member.agent->AwaitCatching(SIGTERM, kStartTimeout);
    member.agent->Signal(SIGTERM);
  }
  for (auto& [worker, member] : members_) end(member.agent);
  end(coordinator_);
  for (auto& [worker, member] : members_) {
    if (member.process == nullptr) continue;  // it could not be started
    member.process->CloseInput();
    member.process->Signal(SIGCONT);  // a stopped one could not obey
  }
  for (auto& [worker, member] : members_) {
    if (member.process == nullptr) continue;
    if (!member.process->Wait(kStopPatience).has_value()) member.process->Stop(kStopPatience);
  }
  members_.clear();
  return outcome;
}

std::string Job::RuntimeAddress(WorkerId worker) const { return members_.at(worker).runtime; }

std::vector<pid_t> Job::Processes() const {
  std::vector<pid_t> pids;
  if (coordinator_ != nullptr) pids.push_back(coordinator_->pid());
  for (const auto& [worker, member] : members_) {
    if (member.process != nullptr) pids.push_back(member.process->pid());
    if (member.agent != nullptr) pids.push_back(member.agent->pid());
  }
  return pids;
}

std::map<std::string, pid_t> Job::Daemons() const {
  std::map<std::string, pid_t> daemons;
  if (coordinator_ != nullptr) daemons["coordinator"] = coordinator_->pid();
  for (const auto& [worker, member] : members_) {
    if (member.agent == nullptr) continue;
    daemons[absl::StrCat("agent-", worker.slice, "-", worker.task)] = member.agent->pid();
  }
  return daemons;
}

}  // namespace rapideye::testbed
