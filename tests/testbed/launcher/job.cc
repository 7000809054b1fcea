#include "tests/testbed/launcher/job.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

namespace rapideye::testbed {
namespace {

// Generous: a busy machine starts twenty processes at once.
constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);
// The daemons promise to end within 5 s.
constexpr absl::Duration kStopPatience = absl::Seconds(6);
// What no child reports (files, interruption, a child's end) is looked at this often.
constexpr std::chrono::milliseconds kLookInterval{20};
constexpr absl::string_view kListening = "listening on ";

// The least that the coordinator's "auto" comes to. The testbed's launches are far
// too short to make it more; three times its longest pause may make the second
// one more.
constexpr absl::Duration kAutoLaunchThreshold = absl::Seconds(10);
constexpr absl::Duration kAutoHangThreshold = absl::Minutes(5);
constexpr int kAutoPauseFactor = 3;

std::string ThresholdFlag(std::optional<absl::Duration> threshold) {
  return threshold.has_value() ? absl::FormatDuration(*threshold) : "auto";
}

std::string DescribeExit(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("was killed by signal ", WTERMSIG(status));
  return absl::StrCat("exited with ", WEXITSTATUS(status));
}

}  // namespace

absl::Duration LaunchThreshold(const JobOptions& options) {
  return options.launch_threshold.value_or(kAutoLaunchThreshold);
}

absl::Duration HangThreshold(const JobOptions& options) {
  return options.hang_threshold.value_or(
      std::max(kAutoHangThreshold, kAutoPauseFactor * options.pause));
}

absl::StatusOr<std::unique_ptr<Job>> Job::Start(JobOptions options) {
  std::unique_ptr<Job> job(new Job(std::move(options)));
  if (absl::Status s = job->StartAll(); !s.ok()) return s;
  return job;
}

Job::~Job() { (void)Stop(); }

absl::Status Job::StartAll() {
  signal(SIGPIPE, SIG_IGN);  // a child that is gone is found out by waiting for it
  std::error_code error;
  std::filesystem::create_directories(LogDirectory(), error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(LogDirectory(), ": ", error.message()));
  }
  if (options_.daemons) {
    if (absl::Status s = StartCoordinator(); !s.ok()) return s;
  }
  const std::vector<WorkerId> workers = AllWorkers(options_.shape);
  for (WorkerId worker : workers) {
    if (absl::Status s = StartWorker(worker); !s.ok()) return s;
  }
  MeshAddresses addresses;
  for (WorkerId worker : workers) {
    if (absl::Status s = AwaitVerb(worker, "ready", kStartTimeout); !s.ok()) return s;
    const std::lock_guard lock(mutex_);
    addresses[worker] = conversations_[worker].last["ready"].arguments["mesh"];
  }
  if (absl::Status s = AskAll(FormatControlLine(MakePeers(addresses)), "connected"); !s.ok()) {
    return s;
  }
  if (options_.daemons) {
    for (WorkerId worker : workers) {
      if (absl::Status s = StartAgent(worker); !s.ok()) return s;
    }
  }
  for (auto& [worker, member] : members_) member.process->WriteLine("start");
  return absl::OkStatus();
}

absl::Status Job::StartCoordinator() {
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(
      {.command = {Program("rapideye-coordinator"), "--listen=127.0.0.1:0",
                   absl::StrCat("--job=", options_.name),
                   absl::StrCat("--slices=", options_.shape.slices),
                   absl::StrCat("--tasks-per-slice=", options_.shape.tasks),
                   absl::StrCat("--state-dir=", options_.state_dir),
                   absl::StrCat("--launch-threshold=", ThresholdFlag(options_.launch_threshold)),
                   absl::StrCat("--hang-threshold=", ThresholdFlag(options_.hang_threshold))},
       .environment = {},
       .log_path = LogPath("coordinator"),
       .on_line = [this](absl::string_view line) { HearCoordinator(line); }});
  if (!child.ok()) return child.status();
  coordinator_ = *std::move(child);
  return Await([this] { return !coordinator_address_.empty(); }, "the coordinator's port",
               kStartTimeout);
}

absl::Status Job::StartWorker(WorkerId worker) {
  const JobShape& shape = options_.shape;
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(
      {.command = {Program("testbed-worker"), absl::StrCat("--slice=", worker.slice),
                   absl::StrCat("--task=", worker.task), absl::StrCat("--slices=", shape.slices),
                   absl::StrCat("--tasks=", shape.tasks), absl::StrCat("--chips=", shape.chips),
                   absl::StrCat("--generation=", shape.generation.name),
                   absl::StrCat("--programs=", options_.programs),
                   absl::StrCat("--offload=", options_.offload ? "true" : "false"),
                   absl::StrCat("--pipeline=", options_.pipeline ? "true" : "false"),
                   absl::StrCat("--abort-on-hang=", absl::FormatDuration(options_.abort_on_hang)),
                   absl::StrCat("--pause-every=", absl::FormatDuration(options_.pause_every)),
                   absl::StrCat("--pause=", absl::FormatDuration(options_.pause)),
                   absl::StrCat("--seed=", options_.seed),
                   absl::StrCat("--step-time=", absl::FormatDuration(options_.step_time))},
       .environment = {},
       .log_path = WorkerLog(worker),
       .on_line = [this, worker](absl::string_view line) { Hear(worker, line); }});
  if (!child.ok()) return child.status();
  members_[worker].process = *std::move(child);
  return absl::OkStatus();
}

absl::Status Job::StartAgent(WorkerId worker) {
  const JobShape& shape = options_.shape;
  std::vector<std::string> hosts;
  for (int task = 0; task < shape.tasks; ++task) hosts.push_back(HostName({worker.slice, task}));
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(
      {.command = {Program("rapideye-agent"), absl::StrCat("--coordinator=", coordinator_address_),
                   absl::StrCat("--job=", options_.name), absl::StrCat("--host=", HostName(worker)),
                   absl::StrCat("--runtime=", RuntimeAddress(worker)),
                   absl::StrCat("--log=", WorkerLog(worker)),
                   absl::StrCat("--peer-address-template=", kWorkerAddressTemplate),
                   absl::StrCat("--poll-interval=", absl::FormatDuration(options_.poll_interval))},
       // Who it is, it learns as on a TPU host.
       .environment = {{"MEGASCALE_SLICE_ID", absl::StrCat(worker.slice)},
                       {"MEGASCALE_NUM_SLICES", absl::StrCat(shape.slices)},
                       {"TPU_WORKER_ID", absl::StrCat(worker.task)},
                       {"TPU_WORKER_HOSTNAMES", absl::StrJoin(hosts, ",")}},
       .log_path = LogPath(absl::StrCat("agent-", worker.slice, "-", worker.task)),
       .on_line = nullptr});
  if (!child.ok()) return child.status();
  members_[worker].agent = *std::move(child);
  return absl::OkStatus();
}

void Job::Hear(WorkerId worker, absl::string_view text) {
  absl::StatusOr<ControlLine> line = ParseControlLine(text);
  const std::lock_guard lock(mutex_);
  Conversation& conversation = conversations_[worker];
  if (absl::StartsWith(text, "error ")) {
    conversation.error = std::string(text.substr(6));
  } else if (line.ok()) {  // anything else is a line of its log
    if (line->verb == "step" && absl::SimpleAtoi(line->subject, &conversation.step)) {
      conversation.step_at = absl::Now();
    }
    const std::string verb = line->verb;
    conversation.last[verb] = *std::move(line);
  }
  heard_.notify_all();
}

void Job::HearCoordinator(absl::string_view line) {
  const size_t at = line.find(kListening);
  if (at == absl::string_view::npos) return;
  const absl::string_view rest = line.substr(at + kListening.size());
  const std::lock_guard lock(mutex_);
  if (coordinator_address_.empty()) {
    coordinator_address_ = std::string(rest.substr(0, rest.find_first_of(" ,;\"")));
  }
  heard_.notify_all();
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
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, conversation] : conversations_) {
    if (!conversation.error.empty()) {
      return absl::AbortedError(
          absl::StrCat("worker ", FormatWorker(worker), ": ", conversation.error));
    }
  }
  return absl::OkStatus();
}

absl::Status Job::Await(const std::function<bool()>& condition, absl::string_view what,
                        absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::unique_lock lock(mutex_);
  while (!condition()) {
    if (options_.interrupted != nullptr && *options_.interrupted) {
      return absl::CancelledError("interrupted");
    }
    lock.unlock();
    absl::Status alive = CheckAlive();
    lock.lock();
    if (!alive.ok()) return alive;
    if (absl::Now() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("waited ", absl::FormatDuration(timeout),
                                                      " for ", what, "; logs: ", LogDirectory()));
    }
    heard_.wait_for(lock, kLookInterval);
  }
  return absl::OkStatus();
}

absl::Status Job::AwaitVerb(WorkerId worker, const std::string& verb, absl::Duration timeout) {
  return Await([&] { return conversations_[worker].last.contains(verb); },
               absl::StrCat("'", verb, "' of worker ", FormatWorker(worker)), timeout);
}

absl::Status Job::AskAll(absl::string_view line, const std::string& verb) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [worker, conversation] : conversations_) conversation.last.erase(verb);
  }
  for (auto& [worker, member] : members_) {
    if (!member.silenced) member.process->WriteLine(line);
  }
  for (auto& [worker, member] : members_) {
    if (member.silenced) continue;
    if (absl::Status s = AwaitVerb(worker, verb, kStartTimeout); !s.ok()) return s;
  }
  return absl::OkStatus();
}

int64_t Job::StepOfSlowest() const {
  const std::lock_guard lock(mutex_);
  int64_t slowest = conversations_.empty() ? 0 : conversations_.begin()->second.step;
  for (const auto& [worker, conversation] : conversations_) {
    slowest = std::min(slowest, conversation.step);
  }
  return slowest;
}

absl::Status Job::AwaitStep(int64_t step, absl::Duration timeout) {
  return Await(
      [&] {
        return std::all_of(conversations_.begin(), conversations_.end(),
                           [&](const auto& entry) { return entry.second.step >= step; });
      },
      absl::StrCat("step ", step), timeout);
}

absl::Status Job::Watch(absl::Duration duration) {
  const absl::Time end = absl::Now() + duration;
  return Await([&] { return absl::Now() >= end; }, "time to pass", duration + kStartTimeout);
}

absl::Status Job::Inject(WorkerId worker, absl::string_view fault) {
  {
    const std::lock_guard lock(mutex_);
    conversations_[worker].last.erase("fault-set");
    conversations_[worker].last.erase("fault-effective");
  }
  members_[worker].process->WriteLine(absl::StrCat("fault ", fault));
  // Some take hold at once, and the worker says nothing afterwards.
  return Await(
      [&] {
        const std::map<std::string, ControlLine>& last = conversations_[worker].last;
        return last.contains("fault-set") || last.contains("fault-effective");
      },
      absl::StrCat("worker ", FormatWorker(worker), " to accept the fault"), kAnswerTimeout);
}

void Job::ExpectSilence(WorkerId worker) { members_[worker].silenced = true; }

absl::StatusOr<ControlLine> Job::AwaitEffect(WorkerId worker, absl::Duration timeout) {
  if (absl::Status s = AwaitVerb(worker, "fault-effective", timeout); !s.ok()) return s;
  const std::lock_guard lock(mutex_);
  return conversations_[worker].last["fault-effective"];
}

absl::StatusOr<absl::Time> Job::LastProgress() {
  if (absl::Status s = AskAll("progress", "progress"); !s.ok()) return s;
  const absl::Time now = absl::Now();
  absl::Time last = absl::InfinitePast();
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, conversation] : conversations_) {
    const auto progress = conversation.last.find("progress");
    if (progress == conversation.last.end()) continue;
    const absl::StatusOr<int> idle = IntegerArgument(progress->second, "idle-ms");
    if (idle.ok()) last = std::max(last, now - absl::Milliseconds(*idle));
  }
  if (last == absl::InfinitePast()) {
    for (const auto& [worker, conversation] : conversations_) {
      last = std::max(last, conversation.step_at);
    }
  }
  if (last == absl::InfinitePast()) return absl::NotFoundError("no launch has completed yet");
  return last;
}

void Job::KillAgent(WorkerId worker) {
  const std::unique_ptr<ChildProcess> agent = std::move(members_[worker].agent);
  if (agent != nullptr) agent->Stop(absl::ZeroDuration());
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

absl::StatusOr<std::string> Job::AwaitIncident(absl::Duration timeout) {
  std::vector<std::string> found;
  absl::Status status = Await(
      [&] {
        found = Incidents();
        return !found.empty();
      },
      "an incident on disk", timeout);
  if (!status.ok()) return status;
  return found.front();
}

absl::Status Job::Stop() {
  absl::Status outcome;
  const auto stop_daemon = [&outcome](const std::unique_ptr<ChildProcess>& daemon) {
    if (daemon == nullptr) return;
    const int status = daemon->Stop(kStopPatience);
    if (status == 0 || !outcome.ok()) return;
    outcome = absl::AbortedError(
        absl::StrCat(daemon->name(), " ", DescribeExit(status), " when it was asked to end"));
  };
  // Agents first: what they would report of workers that end is none of the job's.
  for (auto& [worker, member] : members_) {
    if (member.agent != nullptr) member.agent->Signal(SIGTERM);
  }
  for (auto& [worker, member] : members_) stop_daemon(member.agent);
  stop_daemon(coordinator_);
  for (auto& [worker, member] : members_) {
    member.process->CloseInput();
    member.process->Signal(SIGCONT);  // a stopped one could not obey
  }
  for (auto& [worker, member] : members_) {
    if (!member.process->Wait(kStopPatience).has_value()) member.process->Stop(kStopPatience);
  }
  members_.clear();
  coordinator_.reset();
  return outcome;
}

std::string Job::RuntimeAddress(WorkerId worker) const {
  const std::lock_guard lock(mutex_);
  return conversations_.at(worker).last.at("ready").arguments.at("runtime");
}

std::string Job::LogDirectory() const { return options_.state_dir + "/logs"; }

std::vector<pid_t> Job::Processes() const {
  std::vector<pid_t> pids;
  if (coordinator_ != nullptr) pids.push_back(coordinator_->pid());
  for (const auto& [worker, member] : members_) {
    if (member.process != nullptr) pids.push_back(member.process->pid());
    if (member.agent != nullptr) pids.push_back(member.agent->pid());
  }
  return pids;
}

std::string Job::Program(absl::string_view name) const {
  return absl::StrCat(options_.program_dir, "/", name);
}

std::string Job::WorkerLog(WorkerId worker) const {
  return LogPath(absl::StrCat("worker-", worker.slice, "-", worker.task));
}

std::string Job::LogPath(absl::string_view name) const {
  return absl::StrCat(LogDirectory(), "/", name, ".log");
}

}  // namespace rapideye::testbed
