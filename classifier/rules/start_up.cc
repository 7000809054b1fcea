// A job that starts, or a worker that keeps the job from starting: its agent never said Hello, or
// its host runs no training process, while the others wait for the job to be complete. No log
// names the missing worker: JAX's coordination service reports the time-out only.
//
// A waiting worker is in time while the startup grace lasts, unless some worker's start-up has
// ended by a time-out of its own. Something that failed outright explains more. If everybody has
// come, the worker that they wait for stands in its program, before it joins them.
//
// Facts: workers without a snapshot, and those that never came have no host; lines of the
// coordination service; stacks; for how long the coordinator knows of no launch and no step.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classifier/errors/coordination.h"
#include "classifier/findings/facts.h"
#include "classifier/findings/settings.h"
#include "classifier/host/host_place.h"
#include "classifier/host/obstacles.h"
#include "classifier/host/start_up_stage.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

bool IsLaunched(const Core& core) {
  return core.launch_id.has_value() || !core.queued.empty() || core.program.has_value();
}

bool IsGone(const Process& process) {
  return process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
}

bool SaysStartUpTimedOut(const LogEvent& log) {
  static constexpr std::array<std::string_view, 7> kWords = {"RegisterTask",
                                                             "egister with the leader",
                                                             "luster registration failed",
                                                             "Id: [Init]",
                                                             "imed out waiting for clients",
                                                             "Connect() timed out",
                                                             "Id: PjRT_Client_Connect"};
  const bool exception =
      log.kind == LogKind::kUncaughtException && text::Contains(log.text, "DEADLINE_EXCEEDED");
  if (log.kind != LogKind::kCoordinationTimeout && log.kind != LogKind::kUncaughtException) {
    return false;
  }
  // One rank that waits does not tell that the start-up of this job failed, unless the lines of all
  // who came tell who is missing.
  if (text::Contains(log.text, "in store based barrier")) return !log.peer_tasks.empty();
  return exception || std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
           return text::Contains(log.text, word);
         });
}

// The line that reports the time-out of the start-up; null: none.
const LogEvent* StartUpTimeOut(const Snapshot& snapshot) {
  const auto found =
      std::find_if(snapshot.log_events.begin(), snapshot.log_events.end(), SaysStartUpTimedOut);
  return found == snapshot.log_events.end() ? nullptr : &*found;
}

// A coordinator has not seen the steps of a process that is older than itself.
bool WatchedFromItsBeginning(const Case& c) {
  const std::optional<int64_t> starting = c.capture.header.starting_ms;
  if (!starting.has_value()) return true;
  for (const Snapshot& snapshot : c.capture.snapshots) {
    for (const Process& process : snapshot.processes) {
      if (process.started_ms_ago.value_or(0) > *starting + kOldNewsMs) return false;
    }
  }
  return true;
}

// True if any worker has made a launch or a step; a loop that saves or evaluates has made some.
bool HasBegun(const Case& c) {
  const bool watched = c.capture.header.starting_ms.has_value();
  for (const Snapshot& snapshot : c.capture.snapshots) {
    // A launch need not complete: if a coordinator watched, its record of completions decides.
    if (!watched && std::any_of(snapshot.cores.begin(), snapshot.cores.end(), IsLaunched)) {
      return true;
    }
    if (snapshot.hang_report.has_value()) return true;
    if (!snapshot.progress.has_value()) continue;
    const Phase phase = snapshot.progress->phase;
    if (phase == Phase::kCheckpoint || phase == Phase::kEval) return true;
    if (snapshot.progress->step_ms.has_value()) return true;
    if (!watched && snapshot.progress->step.value_or(0) > 0) return true;
  }
  return !WatchedFromItsBeginning(c);
}

// The places of all workers in the start-up of the job. Workers by their indexes.
class Whereabouts {
 public:
  explicit Whereabouts(const Case& c) : c_(c) {
    bool some_process = false;
    for (const WorkerInfo& worker : c.topology.workers()) {
      if (worker.snapshot != nullptr) some_process |= !worker.snapshot->processes.empty();
    }
    for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
      const WorkerInfo& worker = c.worker(i);
      if (worker.snapshot == nullptr) {
        (worker.host.empty() ? never_came : left).push_back(i);
      } else if (some_process && HasNoProcess(*worker.snapshot)) {
        without_process.push_back(i);
      } else {
        Place(i, *worker.snapshot);
      }
    }
  }

  // True if runtimes or pages would report progress of the job.
  bool AnythingTells() const {
    return std::any_of(c_.capture.snapshots.begin(), c_.capture.snapshots.end(),
                       [](const Snapshot& snapshot) {
                         return !snapshot.cores.empty() || snapshot.progress.has_value();
                       });
  }

  bool OthersWait() const {
    if (!in_start_up.empty() && elsewhere.size() + opening.size() < in_start_up.size()) {
      return true;
    }
    // A worker that has launched a program has found the others.
    const bool launched = std::any_of(
        c_.capture.snapshots.begin(), c_.capture.snapshots.end(), [](const Snapshot& snapshot) {
          return std::any_of(snapshot.cores.begin(), snapshot.cores.end(), IsLaunched);
        });
    return AnythingTells() && !launched && c_.capture.header.trigger == "no-progress";
  }

  // True for errors other than a start-up that ended by its own time-out, or by that of another.
  bool SomethingElseFailed() const {
    return std::any_of(c_.timeline.roots.begin(), c_.timeline.roots.end(), [&](int root) {
      const ErrorEvent& event = c_.timeline.errors[static_cast<size_t>(root)];
      const bool end = event.kind == ErrorKind::kExit || event.kind == ErrorKind::kException;
      const Snapshot* snapshot = c_.worker(event.worker).snapshot;
      if (!end || snapshot == nullptr) return true;
      const bool follows =
          std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(), SaysAnotherFailed);
      return StartUpTimeOut(*snapshot) == nullptr && !follows;
    });
  }

  // True if no worker is past the opening of chips, and none waits for the job elsewhere.
  bool AllOpen() const {
    return opening.size() > 1 && in_start_up.empty() && elsewhere.empty() && unplaced.empty();
  }

  bool AnybodyEnded() const {
    for (const Snapshot& snapshot : c_.capture.snapshots) {
      for (const Process& process : snapshot.processes) {
        if (IsGone(process) || process.state == ProcessState::kStopped) return true;
      }
    }
    return false;
  }

  std::vector<int> never_came;
  std::vector<int> left;  // came, and sent no snapshot
  std::vector<int> without_process;
  std::vector<int> timed_out;
  std::vector<int> in_start_up;
  // Workers that open their chips, where libtpu waits for the other hosts of the slice.
  std::vector<int> opening;
  std::vector<int> elsewhere;
  std::vector<int> unplaced;

 private:
  static bool HasNoProcess(const Snapshot& snapshot) {
    return snapshot.processes.empty() && snapshot.cores.empty() &&
           snapshot.runtime.state != RuntimeState::kServing;
  }

  void Place(int worker, const Snapshot& snapshot) {
    if (StartUpTimeOut(snapshot) != nullptr) timed_out.push_back(worker);
    const std::optional<HostPlace> place = PlaceOfHost(snapshot);
    if (!place.has_value() || !place->by_stack) {
      unplaced.push_back(worker);
    } else if (place->wait == HostWait::kStartUp) {
      in_start_up.push_back(worker);
    } else if (place->activity == HostActivity::kStartUp) {
      opening.push_back(worker);
    } else {
      elsewhere.push_back(worker);
    }
  }

  const Case& c_;
};

StartUpWaits WaitOf(const Case& c, const Whereabouts& who) {
  if (!who.timed_out.empty()) {
    const Snapshot& snapshot = *c.worker(who.timed_out.front()).snapshot;
    return {&who.timed_out, StartUpWait::kTimedOut, StartUpTimeOut(snapshot)->text};
  }
  if (!who.in_start_up.empty()) return {&who.in_start_up, StartUpWait::kForOthers, {}};
  if (who.AllOpen()) return {&who.opening, StartUpWait::kOpensChips, {}};
  return {&who.in_start_up, StartUpWait::kNothingCompletes, {}};
}

Absent HowAbsent(const Case& c, int worker) {
  const WorkerInfo& info = c.worker(worker);
  if (info.snapshot != nullptr) return Absent::kNoProcess;
  if (c.logs != nullptr) return Absent::kNeverSpoke;
  return info.host.empty() ? Absent::kNeverCame : Absent::kNoSnapshot;
}

// Adds the stage of each worker in the start-up, as far as agents report it.
void AddStages(const Case& c, Finding& finding) {
  std::map<StartUpStage, std::vector<int>> stages;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot == nullptr || !snapshot->start_up.has_value()) continue;
    stages[StageOf(*snapshot->start_up)].push_back(i);
  }
  for (const auto& [stage, workers] : stages) {
    finding.evidence.push_back(Evidence(c, Strength::kStrong, ReachedStage{&workers, stage}));
  }
}

// A finding about a job that cannot start.
Finding Unstarted(Detail detail, double confidence) {
  Finding finding;
  finding.basis = Basis::kAbsence;
  finding.cause = Cause::kUnrecoverableError;
  finding.detail = detail;
  finding.confidence = confidence;
  return finding;
}

// Adds a fact as evidence, unless half of all evidence is of such facts: the rest is for the
// workers that wait.
void AddHalf(const Case& c, const Fact& fact, Finding& finding) {
  if (finding.evidence.size() >= kMaxEvidence / 2) return;
  finding.evidence.push_back(Evidence(c, Strength::kDirect, fact));
}

// Accuses the workers that an obstacle known to their hosts keeps from starting.
Finding Kept(const Case& c, const std::vector<int>& workers) {
  Finding finding = Unstarted(Detail::kDeviceUnavailable, kConfidenceKept);
  for (int worker : workers) {
    AddHalf(c, Obstructed{worker}, finding);
    finding.culprits.push_back(CulpritWorker(c, worker, FactText(c, Obstructed{worker})));
  }
  return finding;
}

// Accuses the workers that were started with other settings or versions than most.
Finding OfSettings(const Case& c, const std::vector<SettingDifference>& differences) {
  Finding finding = Unstarted(Detail::kConfiguration, kConfidenceKept);
  std::map<int, StartedOtherwise> culprits;
  for (const SettingDifference& difference : differences) {
    AddHalf(c, StartedOtherwise{&difference}, finding);
    for (int worker : difference.odd) culprits.emplace(worker, StartedOtherwise{&difference});
  }
  for (const auto& [worker, fact] : culprits) {
    finding.culprits.push_back(CulpritWorker(c, worker, FactText(c, fact)));
  }
  return finding;
}

// Lists the places of the workers, and the workers that have not come.
Finding Whereabout(const Case& c, const Whereabouts& who, const std::vector<int>& kept,
                   const Fact& why) {
  Finding finding;
  finding.basis = Basis::kPause;
  finding.cause = Cause::kNoHang;
  finding.detail = Detail::kStarting;
  finding.confidence = kConfidencePause;
  const auto add = [&](const Fact& fact) {
    finding.evidence.push_back(Evidence(c, Strength::kStrong, fact));
  };
  const auto add_all = [&](const std::vector<int>& workers, StartUpPlace place) {
    if (!workers.empty()) add(StandInStartUp{&workers, place});
  };
  add(why);
  add_all(who.never_came, StartUpPlace::kNotCome);
  add_all(who.without_process, StartUpPlace::kNoProcess);
  add_all(who.in_start_up, StartUpPlace::kWaits);
  add_all(who.opening, StartUpPlace::kOpensChips);
  add_all(who.elsewhere, StartUpPlace::kPast);
  AddStages(c, finding);
  for (int worker : kept) {
    add(Obstructed{worker});
    if (finding.evidence.size() >= kMaxEvidence) break;
  }
  add_all(who.unplaced, StartUpPlace::kNotKnown);
  finding.why = FactText(c, why);
  return finding;
}

// Nobody passes a start-up that others wait in, or have waited in until its time-out: a worker
// whose program stands elsewhere, and waits for nobody, has not come to it yet.
std::optional<Finding> StandBefore(const Case& c, const Whereabouts& who) {
  const auto timed_out = [&who](int worker) {
    return std::binary_search(who.timed_out.begin(), who.timed_out.end(), worker);
  };
  // A worker without a stack may be the one that is missing.
  if (!std::all_of(who.unplaced.begin(), who.unplaced.end(), timed_out)) return std::nullopt;
  std::vector<std::pair<int, HostPlace>> before;
  for (int worker : who.elsewhere) {
    if (timed_out(worker)) continue;
    before.emplace_back(worker, *PlaceOfHost(*c.worker(worker).snapshot));
    if (before.back().second.wait != HostWait::kNone) return std::nullopt;
  }
  const size_t waiting = c.topology.workers().size() - before.size() - who.opening.size();
  if (before.empty() || before.size() > waiting || who.SomethingElseFailed()) return std::nullopt;
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kDataInputStall;
  finding.detail = Detail::kProgramNotQueued;
  finding.confidence = kConfidenceHostByStack;
  for (const auto& [worker, place] : before) {
    const HostStands fact{worker, &place, waiting, HostWait::kStartUp};
    Accuse(c, Strength::kStrong, fact, finding).host_activity = place.activity;
  }
  return finding;
}

// True if the lack of logs does not tell which of the workers have come: most logs are missing, or
// some hold no line, as those of programs that say nothing before their first step. A log that all
// workers write does tell.
bool MayHaveCome(const Case& c, const std::vector<int>& absent) {
  if (c.logs->shared) return false;
  if (2 * absent.size() > c.topology.workers().size()) return true;
  const std::vector<WorkerId>& silent = c.logs->without_line;
  return absent.size() > 1 && std::any_of(absent.begin(), absent.end(), [&](int worker) {
           return std::find(silent.begin(), silent.end(), c.worker(worker).id) != silent.end();
         });
}

// Those of the workers, sorted, that the coordination service names as missing. A worker without
// a log or an agent may have come all the same. Where agents tell who has come, a list that
// leaves some out says less than they do, and counts for nothing.
std::vector<int> OfTheseNamed(const Case& c, const std::vector<int>& absent) {
  std::vector<int> named;
  const auto take = [&](const std::vector<int>& workers) {
    std::set_intersection(absent.begin(), absent.end(), workers.begin(), workers.end(),
                          std::back_inserter(named));
  };
  for (const FailedBarrier& barrier : FailedBarriers(c.topology)) {
    const bool counts = barrier.of_start_up && (barrier.all_named || c.logs != nullptr);
    if (counts && named.empty()) take(barrier.absent);
  }
  if (c.logs != nullptr && named.empty()) take(NotConnected(c.topology));
  return named;
}

class StartUpRule {
 public:
  StartUpRule(const Case& c, Findings& out) : c_(c), out_(out), who_(c) {
    for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
      if (!ObstaclesOf(c.topology, i).empty()) kept_.push_back(i);
    }
  }

  void Apply() {
    const CaptureHeader& header = c_.capture.header;
    const bool outlasted = header.starting_ms.has_value()
                               ? *header.starting_ms >= header.startup_grace_ms.value_or(0)
                               : header.trigger == "no-progress";
    const bool wait = who_.OthersWait() || who_.AllOpen() || !kept_.empty();
    if (!who_.timed_out.empty() || (outlasted && wait)) {
      NotStarted();
    } else if (outlasted && header.trigger == "no-progress" && !who_.AnythingTells()) {
      NothingSaysThatItStands();
    } else if (!outlasted && (header.starting_ms.has_value() || !who_.in_start_up.empty())) {
      Starting();
    }
  }

 private:
  void Conclude(Finding finding) {
    finding.evidence.push_back(Evidence(c_, Strength::kStrong, WaitOf(c_, who_)));
    AddStages(c_, finding);
    finding.explains = c_.graph.waiting;
    if (finding.why.empty()) finding.why = finding.culprits.front().why;
    out_.Add(std::move(finding));
  }

  // A known obstacle of a worker explains more than the absence of another worker; settings explain
  // only a start-up that no other finding explains.
  void NotStarted() {
    if (!kept_.empty() && !who_.SomethingElseFailed()) {
      Conclude(Kept(c_, kept_));
      return;
    }
    NotCome();
    const bool absent =
        !who_.never_came.empty() || !who_.without_process.empty() || !who_.left.empty();
    if (absent || who_.SomethingElseFailed()) return;
    const std::vector<SettingDifference> differences = DifferentSettings(c_.topology);
    if (!differences.empty()) Conclude(OfSettings(c_, differences));
  }

  void NotCome() {
    std::vector<int> absent = who_.never_came;
    absent.insert(absent.end(), who_.without_process.begin(), who_.without_process.end());
    if (absent.empty()) absent = who_.left;
    if (absent.empty()) {
      if (auto finding = StandBefore(c_, who_)) return Conclude(*std::move(finding));
      out_.Note(c_, AllHaveCome{WaitOf(c_, who_)});
      return;
    }
    if (who_.SomethingElseFailed()) {
      out_.RuleOut(c_, FailedInsteadOfWaiting{&absent});
      return;
    }
    std::sort(absent.begin(), absent.end());
    Finding finding = Unstarted(Detail::kNotStarted, kConfidenceNotStarted);
    // Agents of all of these came once. It is not known which of several workers lost the agent
    // alone, and which the training process: then all are listed, and nobody is accused.
    bool any_of_them = absent == who_.left && absent.size() > 1;
    if (c_.logs != nullptr) any_of_them |= MayHaveCome(c_, absent);
    if (std::vector<int> named = OfTheseNamed(c_, absent); !named.empty()) {
      absent = std::move(named);
      any_of_them = false;
    }
    for (int worker : absent) {
      const WorkerAbsent fact{worker, HowAbsent(c_, worker)};
      AddHalf(c_, fact, finding);
      std::string text = FactText(c_, fact);
      if (finding.why.empty()) finding.why = text;
      if (!any_of_them) finding.culprits.push_back(CulpritWorker(c_, worker, std::move(text)));
    }
    Conclude(std::move(finding));
  }

  // An alarm about a job that may or may not advance, as a worker has not come: if no worker is
  // seen to wait, the job may as well be at work.
  void NothingSaysThatItStands() {
    if (!who_.in_start_up.empty() || who_.AnybodyEnded() || !c_.timeline.roots.empty()) return;
    if (who_.never_came.empty() && who_.without_process.empty()) return;
    out_.Add(Whereabout(c_, who_, kept_, NoneSeenToWait()));
  }

  void Starting() {
    const CaptureHeader& header = c_.capture.header;
    const bool failed =
        !c_.timeline.roots.empty() || c_.timeline.hang_declared || who_.AnybodyEnded();
    // An alarm is raised because of evidence that a mere start does not explain.
    if (header.trigger.value_or("operator") != "operator" || failed || !who_.left.empty()) return;
    for (const Snapshot& snapshot : c_.capture.snapshots) {
      // Other rules judge a loop whose page says that it waits for input.
      if (snapshot.progress.has_value() && snapshot.progress->phase == Phase::kInput) return;
    }
    out_.Add(Whereabout(c_, who_, kept_, NothingBegun()));
  }

  const Case& c_;
  Findings& out_;
  const Whereabouts who_;
  std::vector<int> kept_;  // workers that an obstacle keeps, by their hosts
};

}  // namespace

void FindStartUp(const Case& c, Findings& out) {
  if (!HasBegun(c)) StartUpRule(c, out).Apply();
}

}  // namespace rapideye::classifier
