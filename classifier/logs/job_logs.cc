#include "classifier/logs/job_logs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/errors/coordination.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/section_heading.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::logs {
namespace {

// So many steps after an event, or steps for so long, prove that the program went on. Lines of
// fewer steps may have waited in a buffer until the program ended.
constexpr int64_t kStepsAfter = 2;
constexpr int64_t kManyStepsAfter = 200;
constexpr int64_t kWentOnMs = 5'000;
// Numbers in lines and names make the job no larger than so many times its workers: a number may
// be no worker's. A size that a line states is bounded by kMaxLogs alone.
constexpr int32_t kMaxSizeFactor = 64;
constexpr int32_t kSigKill = 9;
// An exception that most workers raise is a consequence if another worker raises a different one.
constexpr double kMost = 0.5;
// So many components of a path are looked at for the name of a worker.
constexpr size_t kMaxPathLevels = 16;

bool IsOfException(const LogEvent& event) { return event.kind == LogKind::kUncaughtException; }

std::string Shape(absl::string_view text) {
  std::string shape(text);
  std::erase_if(shape, [](unsigned char c) { return absl::ascii_isdigit(c); });
  return shape;
}

// True for the platform's word that it takes a machine back. A signal alone gives no reason, and a
// notice of maintenance may come long before.
bool SaysPreempted(absl::string_view text) {
  constexpr std::array<absl::string_view, 10> kWords = {"was preempted",
                                                        "been preempted",
                                                        "instances.preempted",
                                                        "PreemptionEvent: ",
                                                        "DUE TO PREEMPTION",
                                                        "reempted by ",
                                                        "terminateOnHostMaintenance",
                                                        "termination is imminent",
                                                        "nterruption notice",
                                                        "eceived preemption notice"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [text](absl::string_view words) { return absl::StrContains(text, words); });
}

bool SaysTimeOut(absl::string_view text) {
  return absl::StrContains(text, "imed out") || absl::StrContains(text, "imeout");
}

// True if a process of the program was killed for want of memory; the kernel may kill any other.
bool SaysKilledForMemory(const LogEvent& event) {
  constexpr std::array<absl::string_view, 4> kWords = {"(python", "OOMKilled", "OOM killed",
                                                       "oom-kill event"};
  return event.kind == LogKind::kHostOom &&
         std::any_of(kWords.begin(), kWords.end(), [&event](absl::string_view words) {
           return absl::StrContains(event.text, words);
         });
}

// A log of the job, and the worker to which it belongs.
struct OneLog {
  LogName name;
  StreamReading reading;
  std::optional<WorkerId> worker;
};

// The clock and the steps of all logs: the age of each line, and whether the program went on
// after it.
class JobClock {
 public:
  explicit JobClock(const std::vector<OneLog>& logs) {
    for (const OneLog& log : logs) years_known_ = years_known_ || log.reading.year_known;
    for (const OneLog& log : logs) {
      if (IsTimed(log.reading)) end_ms_ = std::max(end_ms_.value_or(0), *log.reading.last_ms);
      // Finds whether any log ends, after all its steps, with a complaint about others.
      for (const SaidLine& said : log.reading.complaints) {
        const int64_t after = log.reading.steps.advances - said.at.advances;
        somebody_complains_ = somebody_complains_ || (!said.text.empty() && after < kStepsAfter);
      }
    }
  }

  // The time from `at` to the end of all logs.
  std::optional<int64_t> Age(const StreamReading& reading, std::optional<int64_t> at) const {
    if (!at || !end_ms_ || !IsTimed(reading)) return std::nullopt;
    return std::max<int64_t>(*end_ms_ - *at, 0);
  }

  bool WentOn(const StreamReading& reading, const SaidAt& at) const {
    const int64_t after = reading.steps.advances - at.advances;
    if (after < kStepsAfter) return false;
    if (after >= kManyStepsAfter) return true;
    if (at.unix_ms && reading.step_at_ms) return *reading.step_at_ms - *at.unix_ms >= kWentOnMs;
    return !somebody_complains_;
  }

  // Absent if no line has a year.
  std::optional<int64_t> end_unix_ms() const { return years_known_ ? end_ms_ : std::nullopt; }

 private:
  bool IsTimed(const StreamReading& reading) const {
    return reading.last_ms.has_value() && reading.year_known == years_known_;
  }

  std::optional<int64_t> end_ms_;
  bool years_known_ = false;
  bool somebody_complains_ = false;
};

struct Worker {
  Snapshot snapshot;
  WorkerLog log;
  bool has_log = false;
  bool only_named = false;  // by its machine in others' logs, or by an empty log
};

using Workers = std::map<WorkerId, Worker>;

// The size of the job as a log states it; 0: none does.
int32_t StatedSizeOf(const std::vector<OneLog>& logs) {
  int32_t size = 0;
  for (const OneLog& log : logs) size = std::max(size, log.reading.size.value_or(0));
  return size;
}

// The least size of the job by its logs; 0: no log tells it. The job has room for every task that
// the coordination service misses.
int32_t SizeOf(const std::vector<OneLog>& logs) {
  int32_t size = StatedSizeOf(logs);
  for (const OneLog& log : logs) {
    for (const StreamEvent& event : log.reading.events) {
      const LogKind kind = event.event.kind;
      if (kind != LogKind::kCoordinationTimeout && kind != LogKind::kMissedHealthChecks &&
          kind != LogKind::kRestartedPeer && !classifier::NamesAwaited(event.event)) {
        continue;
      }
      for (int32_t task : event.event.peer_tasks) size = std::max(size, task + 1);
    }
  }
  return size;
}

// The lowest rank that no service misses: its worker can have seen all of these events.
int32_t TellerOf(const std::vector<LogEvent>& events, const Workers& workers,
                 std::set<int32_t> missed) {
  for (const LogEvent& event : events) {
    missed.insert(event.peer_tasks.begin(), event.peer_tasks.end());
  }
  for (const auto& [id, worker] : workers) {
    if (worker.only_named) missed.insert(id.task);
  }
  int32_t teller = 0;
  while (missed.contains(teller)) ++teller;
  return teller;
}

// Hosts that share a log are counted as ranks only if there are as many as the job has, or at least
// as many as its logs know of: of a host that never spoke no line tells the place.
void DropUncountedHosts(std::vector<OneLog>& logs) {
  std::set<std::string> hosts;
  for (const OneLog& log : logs) {
    if (!log.name.host.empty() && !log.name.process) hosts.insert(log.name.host);
  }
  const auto size = static_cast<size_t>(SizeOf(logs));
  const bool all_speak = StatedSizeOf(logs) > 0 ? hosts.size() == size : hosts.size() >= size;
  if (hosts.empty() || all_speak) return;
  for (OneLog& log : logs) {
    const bool counted = !log.name.host.empty() && !log.name.process && !log.name.said;
    log.name.of_nobody = log.name.of_nobody || counted;
  }
}

// True if several processes have written the log without labels, and any of them has failed. While
// none has, its steps are those of the job.
bool HoldsErrorsOfSeveral(const StreamReading& reading) {
  return reading.steps_of_several && (!reading.events.empty() || reading.death.has_value());
}

// Assigns logs without a number: the only log of a job of one, or one log for each host.
void GiveToWorkers(std::vector<OneLog>& logs) {
  std::vector<OneLog*> open;
  for (OneLog& log : logs) {
    // One process of Ray alone is the job, as far as its log shows.
    const bool of_many =
        (log.name.process && logs.size() > 1) ||
        (logs.size() == 1 && (log.reading.writers.size() > 1 || HoldsErrorsOfSeveral(log.reading)));
    const bool shared = log.reading.ranks.size() > 1 || log.name.of_nobody || of_many;
    if (!log.worker && !shared) open.push_back(&log);
  }
  if (open.size() < logs.size() || (open.size() == 1 && SizeOf(logs) > 1)) return;
  std::sort(open.begin(), open.end(),
            [](const OneLog* a, const OneLog* b) { return a->name.path < b->name.path; });
  for (size_t i = 0; i < open.size(); ++i) open[i]->worker = WorkerId{0, static_cast<int32_t>(i)};
}

// Component of a path, counted from its end; of the file's name without its endings. Empty: the
// path has fewer.
absl::string_view FromTheEnd(absl::string_view path, size_t level) {
  if (level == 0) return FileStem(path);
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  return level < parts.size() ? parts[parts.size() - 1 - level] : "";
}

// Names that the paths of logs give their workers: the file's name, or, where files of other
// workers have the same one, the folder by which they differ ("host-2/log").
std::vector<std::string> NamesInPaths(const std::vector<OneLog>& logs) {
  std::vector<std::string> names(logs.size());
  std::vector<size_t> open(logs.size());
  std::iota(open.begin(), open.end(), size_t{0});
  for (size_t level = 0; level < kMaxPathLevels && !open.empty(); ++level) {
    std::map<absl::string_view, std::set<std::optional<WorkerId>>> workers;
    for (const OneLog& log : logs) workers[FromTheEnd(log.name.path, level)].insert(log.worker);
    std::vector<size_t> shared;
    for (size_t i : open) {
      const absl::string_view part = FromTheEnd(logs[i].name.path, level);
      if (!part.empty() && workers[part].size() == 1) {
        names[i] = std::string(part);
      } else {
        shared.push_back(i);
      }
    }
    open = std::move(shared);
  }
  for (size_t i : open) names[i] = std::string(FromTheEnd(logs[i].name.path, 0));
  return names;
}

std::string HostOf(const LogName& name, const std::string& name_in_path) {
  if (!name.host.empty()) return name.host;
  // A pod's name is one word; a heading that somebody wrote above its log or its stacks may be
  // more.
  const bool is_heading = name.pod.find_first_of(" :=<>") != std::string::npos;
  if (!name.pod.empty()) return is_heading ? NameInHeading(name.pod) : name.pod;
  return name.label ? absl::StrCat("rank-", *name.label) : name_in_path;
}

void AddDeath(Snapshot& snapshot, std::optional<int32_t> signal, std::optional<int32_t> code,
              std::optional<int64_t> age_ms) {
  if (!snapshot.processes.empty()) return;
  Process& process = snapshot.processes.emplace_back();
  process.state = ProcessState::kExited;
  process.signal = signal;
  process.exit_code = code;
  process.exited_ms_ago = age_ms;
}

bool Complains(const StreamReading& reading) {
  return std::any_of(reading.complaints.begin(), reading.complaints.end(),
                     [](const SaidLine& said) { return !said.text.empty(); });
}

void AddWords(const JobClock& clock, const StreamReading& reading, Worker& worker) {
  WorkerLog& log = worker.log;
  std::string* const kinds[kComplaints] = {&log.complaints.peer_gone, &log.complaints.leader_gone,
                                           &log.complaints.leader_silent, &log.complaints.timed_out,
                                           &log.complaints.by_service};
  for (size_t i = 0; i < kComplaints; ++i) {
    const SaidLine& said = reading.complaints[i];
    if (kinds[i]->empty() && !clock.WentOn(reading, said.at)) *kinds[i] = said.text;
  }
  if (log.said_end.empty() && !clock.WentOn(reading, reading.end.at)) {
    log.said_end = reading.end.text;
  }
  if (log.thread_died.empty() && !clock.WentOn(reading, reading.thread_died.at)) {
    log.thread_died = reading.thread_died.text;
    if (!log.thread_died.empty()) log.dead_thread = reading.dead_thread;
  }
  for (const NumberedCollective& collective : reading.collectives) {
    if (!clock.WentOn(reading, reading.collectives_at)) log.collectives.push_back(collective);
  }
  if (reading.retries > log.retries) {
    log.retries = reading.retries;
    log.retried = reading.retried;
  }
  if (reading.steps.step && (!log.step || *log.step < *reading.steps.step)) {
    log.step = reading.steps.step;
    log.step_ms = clock.Age(reading, reading.step_at_ms);
    log.longest_step_ms = reading.longest_step_ms;
    log.step_ages_ms.clear();
    for (const int64_t at : reading.step_times_ms) {
      if (const auto age = clock.Age(reading, at)) log.step_ages_ms.push_back(*age);
    }
    worker.snapshot.progress.emplace().step = log.step;
  }
  const std::optional<int64_t> last = clock.Age(reading, reading.last_line_ms);
  const bool later =
      log.last_line.empty() || (last && (!log.last_line_ms || *last < *log.last_line_ms));
  if (later && !reading.last_line.empty()) {
    log.last_line = reading.last_line;
    log.last_line_ms = last;
  }
}

// True if a process stands where its stacks show it: no step was made after them, and they were
// written when the next one was overdue, or have no time, as those that a person adds.
bool StandsIn(const LoggedStacks& stacks, const StreamReading& reading) {
  const SaidAt& at = stacks.at;
  const int64_t due = std::max(classifier::kLoopMovesWithinMs,
                               classifier::kStepLineFactor * reading.longest_step_ms.value_or(0));
  const bool in_time = at.unix_ms && reading.step_at_ms && *at.unix_ms - *reading.step_at_ms < due;
  return !in_time && reading.steps.advances - at.advances < kStepsAfter;
}

// Adds the stacks of a log that shows one process.
void AddStacks(StreamReading& reading, Worker& worker) {
  const bool is_one = reading.stacks.size() == 1 && worker.snapshot.stacks.empty();
  if (!is_one || !StandsIn(reading.stacks.front(), reading)) return;
  worker.snapshot.stacks = std::move(reading.stacks.front().threads);
  worker.log.stands_in_stacks = true;
}

// Drops processes that run another program than most, as a shell does; all if no program has most.
void KeepOneProgram(std::vector<LoggedStacks>& stacks) {
  std::map<std::string, size_t> programs;
  for (const LoggedStacks& one : stacks) ++programs[Shape(one.command)];
  std::erase_if(stacks, [&, all = stacks.size()](const LoggedStacks& one) {
    return 2 * programs[Shape(one.command)] <= all;
  });
}

// Names the workers whose stacks somebody collected in one file: by the headings above the dumps,
// by the commands of the processes, or in the order in which a launcher started these. False: none
// of them tells the workers apart.
bool NameProcesses(const std::vector<LoggedStacks>& stacks, bool alone,
                   std::vector<LogName>& names) {
  const auto all = [&stacks](auto is) { return std::all_of(stacks.begin(), stacks.end(), is); };
  const bool headed = all([](const LoggedStacks& one) { return !one.heading.empty(); });
  std::set<int32_t> ranks;
  const bool ranked =
      all([&ranks](const LoggedStacks& one) { return one.rank && ranks.insert(*one.rank).second; });
  if (!headed && !(alone && (ranked || all([](auto& one) { return one.pid != 0; })))) return false;
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (headed) {
      names[i].pod = stacks[i].heading;
    } else if (ranked) {
      names[i].label = *stacks[i].rank;
    } else {
      names[i].host = absl::StrCat("pid-", stacks[i].pid);
    }
  }
  return true;
}

// Makes a log for each process whose stacks stand in one file.
void SplitByProcess(std::vector<OneLog>& logs) {
  const auto shows_several = [](const OneLog& log) { return log.reading.stacks.size() > 1; };
  const auto shared = std::find_if(logs.begin(), logs.end(), shows_several);
  if (shared == logs.end() || std::count_if(logs.begin(), logs.end(), shows_several) > 1) return;
  std::vector<LoggedStacks> stacks = std::exchange(shared->reading.stacks, {});
  const bool headed = std::any_of(stacks.begin(), stacks.end(),
                                  [](const LoggedStacks& one) { return !one.heading.empty(); });
  if (!headed) KeepOneProgram(stacks);
  std::vector<LogName> names(stacks.size());
  if (stacks.size() < 2 || !NameProcesses(stacks, logs.size() == 1, names)) return;
  shared->name.of_nobody = true;
  const StreamReading reading = shared->reading;
  const std::string path = shared->name.path;
  for (size_t i = 0; i < stacks.size(); ++i) {
    OneLog& log = logs.emplace_back();
    log.name = std::move(names[i]);
    log.name.path = path;
    if (StandsIn(stacks[i], reading)) log.reading.stacks.push_back(std::move(stacks[i]));
  }
}

void AddLog(const JobClock& clock, OneLog& log, const std::string& name_in_path, Workers& workers) {
  StreamReading& reading = log.reading;
  Worker& worker = workers[*log.worker];
  worker.has_log = true;
  Snapshot& snapshot = worker.snapshot;
  snapshot.worker = *log.worker;
  if (snapshot.host.empty()) snapshot.host = HostOf(log.name, name_in_path);
  if (!log.name.pod.empty()) snapshot.pod = log.name.pod;
  for (StreamEvent& event : reading.events) {
    // A preemption notice stays an event although it ended no process.
    const bool notice = event.event.kind == LogKind::kPreempted;
    const bool went_on = clock.WentOn(reading, event.at);
    if (notice && !went_on) {
      worker.log.told_to_stop = true;
      if (SaysPreempted(event.event.text)) worker.log.preempted = event.event.text;
    }
    if (went_on && !notice) continue;
    event.event.age_ms = clock.Age(reading, event.at.unix_ms);
    event.event.count = event.count;
    if (SaysKilledForMemory(event.event) && !Complains(reading)) {
      AddDeath(snapshot, kSigKill, std::nullopt, event.event.age_ms);
    }
    snapshot.log_events.push_back(std::move(event.event));
  }
  if (reading.death && !clock.WentOn(reading, reading.death->said.at)) {
    AddDeath(snapshot, reading.death->signal, std::nullopt,
             clock.Age(reading, reading.death->said.at.unix_ms));
  }
  AddWords(clock, reading, worker);
  AddStacks(reading, worker);
}

// Reads a log of several workers. The coordination service names the tasks that it means; any
// other error is assigned to no worker.
void AddLogOfNobody(const JobClock& clock, const StreamReading& reading,
                    std::vector<LogEvent>& shared, std::vector<ErrorOfNobody>& of_nobody) {
  const size_t shared_before = shared.size();
  const auto is_first = [&] { return shared.size() == shared_before; };
  for (const StreamEvent& event : reading.events) {
    if (clock.WentOn(reading, event.at)) continue;
    const LogKind kind = event.event.kind;
    if (IsOwnError(kind)) {
      of_nobody.push_back({event.event.text, is_first()});
    } else if (kind == LogKind::kMissedHealthChecks || kind == LogKind::kCoordinationTimeout ||
               classifier::NamesAwaited(event.event)) {
      shared.push_back(event.event);
      shared.back().age_ms = clock.Age(reading, event.at.unix_ms);
    }
  }
  if (reading.death && !clock.WentOn(reading, reading.death->said.at)) {
    of_nobody.push_back({reading.death->said.text, is_first()});
  }
}

// The launcher's word on exits. For a worker that complains of others, the exit is an echo, and so
// is an abort where watchdogs ended waits. Slurm's tasks are other launchers, if these tell, too.
void AddExits(const JobClock& clock, const std::vector<OneLog>& logs, Workers& workers) {
  std::set<std::string> with_watchdog;  // paths
  bool by_other = false;
  for (const OneLog& log : logs) {
    const auto timed_out = static_cast<size_t>(Complaint::kTimedOut);
    if (!log.reading.complaints[timed_out].text.empty()) with_watchdog.insert(log.name.path);
    by_other = by_other || std::any_of(log.reading.exits.begin(), log.reading.exits.end(),
                                       [](const TaskExit& exit) { return !exit.by_slurm; });
  }
  for (const OneLog& log : logs) {
    for (const TaskExit& exit : log.reading.exits) {
      const bool of_some_node = exit.of_node && (logs.size() > 1 || !log.name.host.empty());
      const bool said_better = exit.by_slurm && by_other;
      if (of_some_node || said_better || clock.WentOn(log.reading, exit.at)) continue;
      if (exit.signal == kSigAbrt && with_watchdog.contains(log.name.path)) continue;
      const WorkerId id{0, exit.task};
      Worker& worker = workers[id];
      worker.snapshot.worker = id;
      if (worker.snapshot.host.empty()) worker.snapshot.host = absl::StrCat("rank-", exit.task);
      if (worker.log.complaints.Any() || exit.exit_code == 0) continue;
      AddDeath(worker.snapshot, exit.signal, exit.exit_code, std::nullopt);
    }
  }
}

// An exception that most workers raise is a consequence if a few raise a different one, and a
// time-out at most workers is that of a wait for others.
void TellEchoesApart(Workers& workers) {
  std::map<std::string, std::set<WorkerId>> raised;
  std::set<WorkerId> timed_out;
  for (const auto& [id, worker] : workers) {
    if (!worker.log.complaints.timed_out.empty()) timed_out.insert(id);
    for (const LogEvent& event : worker.snapshot.log_events) {
      if (!IsOfException(event)) continue;
      raised[Shape(event.text)].insert(id);
      if (SaysTimeOut(event.text)) timed_out.insert(id);
    }
  }
  const double most = kMost * static_cast<double>(workers.size());
  for (auto& [id, worker] : workers) {
    for (LogEvent& event : worker.snapshot.log_events) {
      if (!IsOfException(event)) continue;
      const bool of_most = raised.size() > 1 && workers.size() > 2 &&
                           static_cast<double>(raised[Shape(event.text)].size()) > most;
      const bool of_wait = SaysTimeOut(event.text) && timed_out.size() > 1 &&
                           static_cast<double>(timed_out.size()) >= most;
      if (!of_most && !of_wait) continue;
      event.kind = LogKind::kFollowOn;
      if (worker.log.complaints.timed_out.empty()) worker.log.complaints.timed_out = event.text;
    }
  }
}

void Expect(WorkerId id, const Workers& workers, CaptureHeader& header) {
  ExpectedWorker& expected = header.expected_workers.emplace_back();
  expected.id = id;
  const auto worker = workers.find(id);
  if (worker != workers.end()) expected.host = worker->second.snapshot.host;
}

// Adds the ranks that wait for others to join the job, by one log or several. Returns the others.
std::set<int32_t> AddStoreBarrier(const JobClock& clock, const std::vector<OneLog>& logs,
                                  int32_t size, Workers& workers) {
  std::optional<StoreBarrier> barrier;
  std::optional<int64_t> age;
  for (const OneLog& log : logs) {
    const std::optional<StoreBarrier>& read = log.reading.store_barrier;
    // A log that does not end with this wait went on: no line need say that the last has come.
    if (!read || !StoreBarrierIn(log.reading.last_line, {})) continue;
    if (!barrier) {
      barrier = read;
      age = clock.Age(log.reading, read->said.at.unix_ms);
    } else {
      barrier->Add(*read);
    }
  }
  const bool of_slices = !workers.empty() && workers.rbegin()->first.slice > 0;
  if (!barrier || barrier->size != size || of_slices) return {};
  const std::set<int32_t> missing = barrier->Missing();
  if (missing.empty()) return {};
  for (const int32_t rank : barrier->waiting) {
    const WorkerId id{0, rank};
    Worker& worker = workers[id];
    worker.only_named = false;
    worker.snapshot.worker = id;
    LogEvent& event = worker.snapshot.log_events.emplace_back();
    event.kind = LogKind::kCoordinationTimeout;
    event.text = barrier->said.text;
    event.age_ms = age;
    event.peer_tasks.assign(missing.begin(), missing.end());
  }
  return missing;
}

// Expects every worker up to the last known number, in every slice.
void ExpectWorkers(const Workers& workers, int32_t size, CaptureHeader& header) {
  std::map<int32_t, int64_t> tasks;  // of each slice
  int64_t most = 0;
  for (const auto& [id, worker] : workers) {
    tasks[id.slice] = std::max(tasks[id.slice], int64_t{id.task} + 1);
    most = std::max(most, int64_t{id.task} + 1);
  }
  int64_t bound = kMaxSizeFactor * std::max(static_cast<int64_t>(workers.size()), int64_t{1});
  if (tasks.size() == 1 && tasks.begin()->first == 0 &&
      size <= std::max(bound, static_cast<int64_t>(kMaxLogs))) {
    bound = std::max(bound, int64_t{size});
    tasks[0] = std::max(tasks[0], int64_t{size});
  } else if (tasks.size() > 1) {
    for (auto& [slice, count] : tasks) count = most;
  }
  const int64_t all = static_cast<int64_t>(tasks.size()) * most;
  // With numbers far apart, these are no slices and tasks: then only the known workers are
  // expected. The product counts, too: names that count slice and task at once state a square.
  if (most > bound || all > std::max(bound, static_cast<int64_t>(kMaxLogs))) {
    for (const auto& [id, worker] : workers) Expect(id, workers, header);
    return;
  }
  for (const auto& [slice, count] : tasks) {
    for (int64_t task = 0; task < count; ++task) {
      Expect({slice, static_cast<int32_t>(task)}, workers, header);
    }
  }
}

// True if labels before the lines of one file tell the workers apart.
bool ShareOneFile(const std::vector<OneLog>& logs) {
  size_t labelled = 0;
  for (const OneLog& log : logs) {
    if (log.name.path != logs.front().name.path) return false;
    if (log.worker) ++labelled;
  }
  return labelled > 1;
}

// The machines that services name. What a log says before the program went on counts, too: only the
// number of workers follows from it.
std::set<std::string> NamedHosts(const std::vector<OneLog>& logs) {
  std::set<std::string> hosts;
  for (const OneLog& log : logs) {
    for (const StreamEvent& event : log.reading.events) {
      if (event.event.peer_host && hosts.size() < kMaxListedTasks) {
        hosts.insert(*event.event.peer_host);
      }
    }
  }
  return hosts;
}

JobEvidence Build(std::vector<OneLog> logs, const std::map<WorkerId, std::string>& without_log) {
  JobEvidence evidence;
  CaptureHeader& header = evidence.capture.header;
  const JobClock clock(logs);
  const int32_t size = SizeOf(logs);  // before their events are moved
  GiveToWorkers(logs);
  evidence.logs.shared = ShareOneFile(logs);
  Workers workers;
  std::vector<LogEvent> shared;
  const std::vector<std::string> names = NamesInPaths(logs);
  for (size_t i = 0; i < logs.size(); ++i) {
    OneLog& log = logs[i];
    if (log.worker) {
      AddLog(clock, log, names[i], workers);
    } else {
      AddLogOfNobody(clock, log.reading, shared, evidence.logs.of_nobody);
    }
  }
  AddExits(clock, logs, workers);
  TellEchoesApart(workers);
  for (const auto& [id, host] : without_log) {
    const auto [worker, is_new] = workers.try_emplace(id);
    worker->second.only_named = is_new;
    if (is_new) worker->second.snapshot.host = host;
  }
  const std::set<int32_t> missing = AddStoreBarrier(clock, logs, size, workers);
  // Any worker can have seen the service's lines, because the service names the tasks it means.
  if (!shared.empty()) {
    const WorkerId teller{0, TellerOf(shared, workers, missing)};
    Worker& worker = workers[teller];
    worker.snapshot.worker = teller;
    for (LogEvent& event : shared) worker.snapshot.log_events.push_back(std::move(event));
  }
  header.version = 1;
  header.job = "job";
  header.detected_unix_ms = clock.end_unix_ms();
  ExpectWorkers(workers, size, header);
  for (auto& [id, worker] : workers) {
    if (worker.only_named) continue;
    // A worker without a process in its logs still has one.
    if (worker.snapshot.processes.empty()) worker.snapshot.processes.emplace_back();
    evidence.capture.snapshots.push_back(std::move(worker.snapshot));
    worker.log.worker = id;
    if (worker.has_log) evidence.logs.workers.push_back(std::move(worker.log));
  }
  return evidence;
}

}  // namespace

JobLogs::JobLogs(const SignatureTable& signatures) { options_.signatures = &signatures; }

size_t JobLogs::Add(LogName name) {
  if (names_.size() > kMaxLogs) return kMaxLogs;
  if (names_.size() == kMaxLogs) {
    LogName others;
    others.path = std::move(name.path);
    others.of_nobody = true;
    name = std::move(others);
  }
  names_.push_back(std::move(name));
  streams_.emplace_back();
  return names_.size() - 1;
}

void JobLogs::Take(size_t log, absl::string_view line, std::optional<int64_t> unix_ms) {
  streams_[log].Take(line, unix_ms, options_);
}

JobEvidence JobLogs::Finish(const re2::RE2* pattern) {
  std::vector<OneLog> logs;
  for (size_t i = 0; i < names_.size(); ++i) {
    OneLog& log = logs.emplace_back();
    log.reading = streams_[i].Finish(options_);
    log.name = std::move(names_[i]);
    if (log.reading.ranks.size() == 1) log.name.said = log.reading.ranks.front();
    if (log.reading.ranks.size() > 1) log.name.of_nobody = log.name.of_nobody || !log.name.label;
  }
  DropUncountedHosts(logs);
  SplitByProcess(logs);
  std::vector<LogName> names;
  for (const OneLog& log : logs) names.push_back(log.name);
  const std::vector<std::optional<WorkerId>> workers = WhoseLogs(names, pattern);
  for (size_t i = 0; i < logs.size(); ++i) logs[i].worker = workers[i];
  std::map<WorkerId, std::string> without_log =
      WithoutLog(NamedHosts(logs), names, workers, pattern);
  std::vector<WorkerId> without_line;
  std::erase_if(logs, [&](const OneLog& log) {
    if (log.reading.lines > 0 || !log.reading.stacks.empty()) return false;
    if (log.worker && without_log.try_emplace(*log.worker).second)
      without_line.push_back(*log.worker);
    return true;
  });
  JobEvidence evidence = Build(std::move(logs), without_log);
  evidence.logs.without_line = std::move(without_line);
  return evidence;
}

}  // namespace rapideye::logs
