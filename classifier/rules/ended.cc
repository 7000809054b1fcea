// No hang: there is no job any more. A person or a scheduler has ended all of its
// training processes at about the same time, to restart or to cancel it.
//
// Facts: exit status and signal of the training processes, when they ended, and when those
// that live began: the job may have been started again at once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/errors/error_kind.h"
#include "classifier/findings/facts.h"
#include "classifier/host/host_place.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// A single process that is gone was lost rather than ended; two or more may have been ended.
constexpr int kLeastProcesses = 2;
// SIGHUP, SIGINT, SIGKILL, SIGTERM: the signals of schedulers, container runtimes and
// people. A shell reports a signal as 128 plus its number.
constexpr std::array kFromOutside = {1, 2, 9, 15};
constexpr int kShell = 128;

// The signal that ended the process; absent: the manner was not seen, or it ended well.
struct Manner {
  bool from_outside = true;
  std::optional<int> signal;
};

Manner HowItWent(const Process& process, const Snapshot& snapshot) {
  if (EndByWordsOf(process, snapshot) != EndByWords::kNone) return {false, std::nullopt};
  std::optional<int> signal = process.signal;
  if (!signal.has_value() && process.exit_code.value_or(0) != 0) {
    signal = *process.exit_code - kShell;
  }
  if (!signal.has_value()) return {};
  const bool known =
      std::find(kFromOutside.begin(), kFromOutside.end(), *signal) != kFromOutside.end();
  return {known, signal};
}

bool Gone(const Process& process) {
  return process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
}

// True if a process of the worker ended by itself, not by a signal from outside.
bool FellOver(const WorkerInfo& worker) {
  if (worker.snapshot == nullptr) return false;
  const auto& processes = worker.snapshot->processes;
  return std::any_of(processes.begin(), processes.end(), [&worker](const Process& process) {
    return Gone(process) && !HowItWent(process, *worker.snapshot).from_outside;
  });
}

bool Lives(const Process& process) {
  return !Gone(process) && process.state != ProcessState::kUnspecified;
}

// Separates the processes of the job that ended from those of the job that was started after it.
class Generations {
 public:
  explicit Generations(const Case& c) : threshold_ms_(c.threshold_ms) {
    for (const WorkerInfo& worker : c.topology.workers()) {
      if (worker.snapshot == nullptr) continue;
      const auto& processes = worker.snapshot->processes;
      const bool lives = std::any_of(processes.begin(), processes.end(), Lives);
      for (const Process& process : processes) {
        // A process that has ended well beside a living one was a helper.
        const bool helper = lives && process.exit_code == 0;
        if (!Gone(process) || helper || !process.exited_ms_ago) continue;
        first_exit_ = std::max(first_exit_.value_or(0), *process.exited_ms_ago);
        if (!process.started_ms_ago) continue;
        const int64_t started = *process.started_ms_ago;
        last_start_ = std::min(last_start_.value_or(started), started);
      }
    }
  }

  // True if the process lives and began after the first of the exits. An exit is seen late, by as
  // much as the error of ages, a start is not: a process that seems to have begun shortly before
  // the exits is of the next job, too, unless it is about as old as those that ended. A job that
  // has been there for as long as a hang takes is judged by itself.
  bool IsNext(const Process& process) const {
    if (!Lives(process) || !process.started_ms_ago || !first_exit_) return false;
    const int64_t started = *process.started_ms_ago;
    if (started >= threshold_ms_) return false;
    if (started <= *first_exit_) return true;
    return started <= *first_exit_ + kAgeErrorMs && last_start_ &&
           started + kAgeErrorMs < *last_start_;
  }

  // True if the process lives, and had begun clearly before the first exit.
  bool Outlived(const Process& process) const {
    return Lives(process) && process.started_ms_ago && first_exit_ &&
           *process.started_ms_ago > *first_exit_ + kAgeErrorMs;
  }

 private:
  const int64_t threshold_ms_;
  std::optional<int64_t> first_exit_;  // how long ago
  std::optional<int64_t> last_start_;  // likewise, of those that ended
};

bool SaysThatAPeerIsGone(const Snapshot& snapshot) {
  const auto says = [](const LogEvent& log) {
    return log.kind != LogKind::kBenign &&
           (text::Contains(log.text, "closed by peer") ||
            text::Contains(log.text, "reset by peer") || text::Contains(log.text, "Gloo"));
  };
  return std::any_of(snapshot.log_events.begin(), snapshot.log_events.end(), says);
}

// True if the program is over: the interpreter ends, joins its threads and children, and waits for
// no other worker. A worker that loses a peer amid the job waits in JAX's shutdown, or says so.
bool IsEnding(const Snapshot& snapshot) {
  if (SaysThatAPeerIsGone(snapshot)) return false;
  if (!std::any_of(snapshot.processes.begin(), snapshot.processes.end(), Lives)) return false;
  const std::optional<HostPlace> place = PlaceOfHost(snapshot);
  return place.has_value() && place->by_stack && place->activity == HostActivity::kShutdown &&
         place->wait == HostWait::kNone;
}

// True if the workers that failed by themselves did so after the last step of the job (in a
// destructor, say): most others ended with status 0 no later, or are about to end, which they
// cannot while they wait for a worker that failed.
bool FellAfterTheEnd(const Case& c) {
  int finished = 0;
  int fallen = 0;
  int64_t last_finish = std::numeric_limits<int64_t>::max() / 2;  // how long ago
  int64_t first_fall = 0;
  for (const WorkerInfo& worker : c.topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    if (IsEnding(*worker.snapshot)) {
      ++finished;
      continue;
    }
    for (const Process& process : worker.snapshot->processes) {
      if (!Gone(process)) continue;
      const int64_t age = process.exited_ms_ago.value_or(0);
      if (process.exit_code == 0) {
        ++finished;
        last_finish = std::min(last_finish, age);
      } else if (!HowItWent(process, *worker.snapshot).from_outside) {
        ++fallen;
        first_fall = std::max(first_fall, age);
      }
    }
  }
  if (first_fall > last_finish + kAgeErrorMs) return false;
  // With two workers, the one that fell must not say that it lost the other.
  const bool of_victims =
      std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(), [](const ErrorEvent& e) {
        return e.kind == ErrorKind::kExit && !e.succeeded && e.of_victim;
      });
  return finished > fallen || (finished == 1 && fallen == 1 && !of_victims);
}

// True if the first worker, with which JAX's coordination service ends, ended with status 0, and
// all others that fell over did so after that, with words about this service and not about a peer.
// A leader that ends well has passed the barrier of the shutdown, to which all workers come when
// they are done.
bool FellAfterTheLeader(const Case& c) {
  const Snapshot* leader = c.worker(0).snapshot;
  if (leader == nullptr || leader->processes.empty()) return false;
  const auto ended_well = [](const Process& process) {
    return Gone(process) && process.exit_code == 0 && process.exited_ms_ago.has_value();
  };
  const auto& processes = leader->processes;
  if (!std::all_of(processes.begin(), processes.end(), ended_well)) return false;
  const bool says_nothing =
      std::all_of(leader->log_events.begin(), leader->log_events.end(), [](const LogEvent& log) {
        return log.kind == LogKind::kBenign || log.kind == LogKind::kUnknownFlag;
      });
  if (!says_nothing) return false;
  const int64_t end = *processes.front().exited_ms_ago;
  return std::all_of(c.timeline.errors.begin(), c.timeline.errors.end(), [&](const ErrorEvent& e) {
    if (e.kind != ErrorKind::kExit) return false;
    if (e.succeeded) return true;
    if (!e.of_victim || e.age_ms.value_or(0) > end + kAgeErrorMs) return false;
    return !SaysThatAPeerIsGone(*c.worker(e.worker).snapshot);
  });
}

// The reason in what went before the exits against an end on purpose; absent: there is none.
// `finished`: all have ended well, or those that did not fell after the others had.
std::optional<NotEndedOnPurpose> ObjectionBeforeTheEnd(const Case& c, bool finished) {
  if (c.timeline.hang_declared) return NotEndedOnPurpose{NotOnPurpose::kHangDeclared};
  const bool failed =
      std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                  [](const ErrorEvent& event) { return event.kind != ErrorKind::kExit; });
  if (failed) return NotEndedOnPurpose{NotOnPurpose::kFailureBefore};
  // After its last step a job writes, evaluates on its hosts or uploads for longer than a launch
  // takes; nobody had noticed a hang before the first exit.
  if (finished && c.capture.header.trigger == "exit") return std::nullopt;
  // Polls of an idle core see no launch of a short step: only its runtime tells when it ended one.
  const auto shows_time = [](const Unit& unit) {
    return unit.state != UnitState::kIdle || unit.stuck_ms.has_value();
  };
  const std::vector<Unit>& units = c.positions.units();
  const bool stood = c.timeline.still_ms.value_or(0) >= c.threshold_ms &&
                     std::any_of(units.begin(), units.end(), shows_time);
  if (stood) return NotEndedOnPurpose{NotOnPurpose::kStandstillBefore};
  return std::nullopt;
}

// The reason against an ended job; absent: there is none.
std::optional<NotEndedOnPurpose> Objection(const Case& c) {
  const Generations generations(c);
  // Reads the stacks of all workers, so only where it decides.
  std::optional<bool> fell;
  const auto fell_after_the_end = [&c, &fell] {
    if (!fell.has_value()) fell = FellAfterTheEnd(c) || FellAfterTheLeader(c);
    return *fell;
  };
  const auto of_this_job = [&](const Process& process) { return !generations.IsNext(process); };
  int gone = 0;
  int ended_well = 0;
  std::optional<int> signal;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot == nullptr) continue;
    std::vector<Process> processes;
    std::copy_if(snapshot->processes.begin(), snapshot->processes.end(),
                 std::back_inserter(processes), of_this_job);
    const bool next_only = processes.empty() && !snapshot->processes.empty();
    const bool outlived = std::any_of(processes.begin(), processes.end(),
                                      [&](const Process& p) { return generations.Outlived(p); });
    // An agent that came after the end has seen no process. A process that lives where no runtime
    // listens any more is of the next job, which starts, unless it began clearly before the exits:
    // jobs without chips have no such runtime.
    if (next_only || (snapshot->runtime.state == RuntimeState::kUnavailable && !outlived &&
                      std::none_of(processes.begin(), processes.end(), Gone))) {
      continue;
    }
    if (IsEnding(*snapshot) && fell_after_the_end()) {
      ++gone;
      continue;
    }
    if (std::none_of(processes.begin(), processes.end(), Gone) ||
        std::any_of(processes.begin(), processes.end(), Lives)) {
      return NotEndedOnPurpose{NotOnPurpose::kWorkerLives, i};
    }
    ++gone;
    if (std::all_of(processes.begin(), processes.end(),
                    [](const Process& process) { return process.exit_code == 0; })) {
      ++ended_well;
    }
    for (const Process& process : processes) {
      const Manner manner = HowItWent(process, *snapshot);
      if (!manner.from_outside && !fell_after_the_end()) {
        return NotEndedOnPurpose{NotOnPurpose::kFailedByItself, i};
      }
      if (!manner.from_outside || !manner.signal.has_value()) continue;
      if (signal.value_or(*manner.signal) != *manner.signal) {
        return NotEndedOnPurpose{NotOnPurpose::kNotAlike};
      }
      signal = manner.signal;
    }
  }
  // One process that ended with status 0 is all that is known of a job of one or two: nobody lives
  // who could wait for it.
  const auto workers = static_cast<int>(c.topology.workers().size());
  const bool all_of_it = ended_well == 1 && workers <= kLeastProcesses;
  if (gone < kLeastProcesses && !all_of_it) return NotEndedOnPurpose{NotOnPurpose::kTooFew};
  return ObjectionBeforeTheEnd(c, ended_well == workers || fell_after_the_end());
}

}  // namespace

void FindEnded(const Case& c, Findings& out) {
  const bool exits = std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                                 [](const ErrorEvent& e) { return e.kind == ErrorKind::kExit; });
  if (!exits) return;
  if (const std::optional<NotEndedOnPurpose> objection = Objection(c)) {
    out.Note(c, *objection);
    return;
  }
  Finding finding;
  finding.basis = Basis::kPause;
  finding.cause = Cause::kNoHang;
  finding.detail = Detail::kEnded;
  finding.confidence = kConfidenceAdvancing;
  const bool fell = std::any_of(c.topology.workers().begin(), c.topology.workers().end(), FellOver);
  const bool ending = std::any_of(
      c.topology.workers().begin(), c.topology.workers().end(),
      [](const auto& worker) { return worker.snapshot != nullptr && IsEnding(*worker.snapshot); });
  const JobEnded end{ending ? JobEnd::kProgramOver
                     : fell ? JobEnd::kFellLater
                            : JobEnd::kFromOutside};
  finding.why = FactText(c, end);
  finding.evidence.push_back(Evidence(c, Strength::kDirect, end));
  out.Add(std::move(finding));
}

}  // namespace rapideye::classifier
