// Causes that only the logs of a job can show, where logs are all the evidence: a worker fell
// silent while the others complain of it or name it, a worker repeats a failing try, its loader of
// data failed, it begins what all others finished or alone ends with an error, steps go on to the
// end, or the run has ended.
//
// A waiting worker is not at fault: a broken connection, a time-out, the service's word that a
// worker failed are the words of live workers. The others wait for a worker that has none of these
// words and then falls silent; but only if such workers are few, and no other log is missing. A
// network adapter's word on its own port comes before all of that.
// A process that failed outright by itself explains more, and is found by other rules.
//
// Facts: LogEvidence; lines of the coordination service.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/errors/coordination.h"
#include "classifier/findings/facts.h"
#include "classifier/findings/log_words.h"
#include "classifier/host/frame.h"
#include "classifier/host/frame_match.h"
#include "classifier/host/stacks.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// The logs are a sample of the job's if the numbers of their tasks span more than so many times as
// many tasks: hosts of one job are numbered with gaps, too, but most numbers are taken.
constexpr int64_t kSampleFactor = 2;

// The workers, grouped by the words of their logs. Indexes of workers.
class Voices {
 public:
  explicit Voices(const Case& c) : logs_(c.topology.workers().size(), nullptr) {
    for (const WorkerLog& log : c.logs->workers) {
      const int worker = c.topology.Find(log.worker);
      if (worker >= 0) logs_[static_cast<size_t>(worker)] = &log;
    }
    for (int i = 0; i < static_cast<int>(logs_.size()); ++i) {
      const WorkerLog* log = Log(i);
      if (log == nullptr) {
        without_log.push_back(i);
        continue;
      }
      const LogComplaints& of = log->complaints;
      if (of.OfOwn()) {
        complaining.push_back(i);
      } else {
        (of.Any() ? told : silent).push_back(i);
      }
      if (!of.peer_gone.empty()) peer_gone.push_back(i);
      if (of.OfLeader()) leader_gone.push_back(i);
      if (!log->said_end.empty()) ended.push_back(i);
      if (log->told_to_stop) stopped.push_back(i);
      if (!log->thread_died.empty()) thread_died.push_back(i);
    }
  }

  const WorkerLog* Log(int worker) const { return logs_[static_cast<size_t>(worker)]; }
  int with_log() const { return static_cast<int>(logs_.size() - without_log.size()); }
  bool AnyComplains() const { return !complaining.empty() || !told.empty(); }
  bool IsSilent(int worker) const {
    return Log(worker) != nullptr && !Log(worker)->complaints.Any();
  }

  std::vector<int> without_log;
  std::vector<int> complaining;  // of a wait or a connection of their own
  std::vector<int> told;         // only words of the coordination service
  std::vector<int> silent;       // neither
  std::vector<int> peer_gone;
  std::vector<int> leader_gone;  // or silent
  std::vector<int> ended;
  std::vector<int> stopped;
  std::vector<int> thread_died;

 private:
  std::vector<const WorkerLog*> logs_;
};

// True if by the numbers of the tasks most logs of the job are not among those given: a silent
// worker in a sample is one of many.
bool IsSample(const Topology& topology) {
  std::map<int32_t, std::pair<int32_t, int32_t>> of_slice;  // lowest and highest task
  for (const WorkerInfo& worker : topology.workers()) {
    const int32_t task = worker.id.task;
    auto& [low, high] = of_slice.try_emplace(worker.id.slice, task, task).first->second;
    low = std::min(low, task);
    high = std::max(high, task);
  }
  int64_t tasks = 0;
  for (const auto& [slice, range] : of_slice) tasks += int64_t{range.second} - range.first + 1;
  return tasks > kSampleFactor * static_cast<int64_t>(topology.workers().size());
}

bool AreFew(const std::vector<int>& some, size_t all) {
  return !some.empty() && all > some.size() &&
         (some.size() == 1 ||
          static_cast<double>(some.size()) <= kFewShare * static_cast<double>(all));
}

struct Look {
  const Case& c;
  Findings& out;
  const Voices voices;

  size_t all() const { return c.topology.workers().size(); }
};

void Report(const Look& look, Detail detail, double confidence, const Fact& fact) {
  Finding finding;
  finding.basis = Basis::kPause;
  finding.cause = Cause::kNoHang;
  finding.detail = detail;
  finding.confidence = confidence;
  finding.evidence.push_back(Evidence(look.c, Strength::kStrong, fact));
  for (int worker : look.voices.stopped) {
    if (detail != Detail::kRunning || finding.evidence.size() >= kMaxEvidence) break;
    finding.evidence.push_back(Evidence(look.c, Strength::kWeak, CaughtSigterm{worker}));
  }
  finding.why = FactText(look.c, fact);
  look.out.Add(std::move(finding));
}

Finding Begin(Detail detail, double confidence) {
  Finding finding;
  const bool stalls = detail == Detail::kProgramNotQueued || detail == Detail::kInputPipeline;
  finding.basis = stalls ? Basis::kPosition : Basis::kAbsence;
  finding.cause = stalls ? Cause::kDataInputStall : Cause::kUnrecoverableError;
  finding.detail = detail;
  finding.confidence = confidence;
  return finding;
}

// Adds a culprit with the fact as its reason, and leaves room for what the others say of it.
Culprit& AddCulprit(const Look& look, const Fact& fact, Finding& finding) {
  if (finding.evidence.size() < kMaxEvidence / 2) {
    return Accuse(look.c, Strength::kStrong, fact, finding);
  }
  return finding.culprits.emplace_back(
      CulpritWorker(look.c, WorkersOf(fact).front(), FactText(look.c, fact)));
}

// Adds the complaints of workers about others, as far as there is room.
void AddComplaints(const Case& c, const Voices& voices, std::vector<EvidenceItem>& evidence) {
  for (const std::vector<int>* workers : {&voices.complaining, &voices.told}) {
    for (int worker : *workers) {
      if (evidence.size() >= kMaxEvidence) return;
      const LogComplaints& of = voices.Log(worker)->complaints;
      const std::string& words = !of.peer_gone.empty()       ? of.peer_gone
                                 : !of.leader_gone.empty()   ? of.leader_gone
                                 : !of.leader_silent.empty() ? of.leader_silent
                                 : !of.timed_out.empty()     ? of.timed_out
                                                             : of.by_service;
      evidence.push_back(Evidence(c, Strength::kWeak, Words{worker, words, Said::kLine}));
    }
  }
  for (int worker : voices.thread_died) {
    if (evidence.size() >= kMaxEvidence) return;
    evidence.push_back(
        Evidence(c, Strength::kWeak, Words{worker, voices.Log(worker)->thread_died, Said::kLine}));
  }
}

// Adds the finding with the complaints of the others.
void Add(const Look& look, Finding finding) {
  AddComplaints(look.c, look.voices, finding.evidence);
  finding.why = finding.culprits.front().why;
  look.out.Add(std::move(finding));
}

// Accuses workers whose logs end, as `fact` says of each.
void AccuseAll(const Look& look, const std::vector<int>& workers, Detail detail, double confidence,
               LogEnds fact) {
  const bool told_to_stop = std::all_of(workers.begin(), workers.end(), [&](int worker) {
    return look.voices.Log(worker) != nullptr && look.voices.Log(worker)->told_to_stop;
  });
  if (told_to_stop && detail != Detail::kProgramNotQueued) detail = Detail::kPreempted;
  Finding finding = Begin(detail, confidence);
  for (int worker : workers) {
    fact.worker = worker;
    fact.log = look.voices.Log(worker);
    AddCulprit(look, fact, finding);
  }
  Add(look, std::move(finding));
}

// All workers were told to stop, by a platform that takes a machine back. The words may be of
// another machine of the job: its only worker is named.
bool Preempted(const Look& look) {
  const auto& stopped = look.voices.stopped;
  const auto one = std::find_if(stopped.begin(), stopped.end(), [&](int worker) {
    return !look.voices.Log(worker)->preempted.empty();
  });
  if (one == stopped.end()) return false;
  Finding finding = Begin(Detail::kPreempted, kConfidencePreemptedByLog);
  const MachineTaken fact{*one, look.voices.Log(*one)->preempted};
  finding.why = FactText(look.c, fact);
  finding.evidence.push_back(Evidence(look.c, Strength::kStrong, fact));
  if (look.all() == 1) finding.culprits.push_back(CulpritWorker(look.c, *one, finding.why));
  look.out.Add(std::move(finding));
  return true;
}

// All logs but a few say that the run has ended, and those few have made the same steps; or all
// workers were told to stop, and no worker complains.
bool Ended(const Look& look) {
  const auto with_log = static_cast<size_t>(look.voices.with_log());
  if (with_log == 0) return false;
  const bool told = look.voices.stopped.size() == with_log && !look.voices.AnyComplains() &&
                    look.c.timeline.roots.empty();
  if (told) {
    if (Preempted(look)) return true;
    Report(look, Detail::kEnded, kConfidenceAdvancing, RunEnded{&look.voices.stopped, ""});
    return true;
  }
  if (2 * look.voices.ended.size() <= with_log) return false;
  const WorkerLog& first = *look.voices.Log(look.voices.ended.front());
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const WorkerLog* log = look.voices.Log(i);
    if (log == nullptr || !log->said_end.empty()) continue;
    if (!log->step || log->step != first.step) return false;
  }
  Report(look, Detail::kEnded, kConfidenceAdvancing, RunEnded{&look.voices.ended, first.said_end});
  return true;
}

void OfNobody(const Look& look) {
  if (look.c.logs->of_nobody.empty() || !look.out.items.empty()) return;
  Finding finding;
  finding.basis = Basis::kError;
  finding.cause = Cause::kUnrecoverableError;
  finding.detail = Detail::kProcessExit;
  finding.confidence = kConfidenceOfNobody;
  const LineOfNobody fact{look.c.logs->of_nobody.front().text};
  finding.why = FactText(look.c, fact);
  finding.evidence.push_back(Evidence(look.c, Strength::kStrong, fact));
  look.out.Add(std::move(finding));
}

// True if each of these logs ends with the line that ends a traceback, as that of a process that an
// exception has ended: "ValueError: shapes do not match".
bool EndInException(const Look& look, const std::vector<int>& workers) {
  return std::all_of(workers.begin(), workers.end(), [&look](int worker) {
    const WorkerLog* log = look.voices.Log(worker);
    if (log == nullptr) return false;
    const std::string_view line = log->last_line;
    const std::string_view name = line.substr(0, line.find(':'));
    // Time-outs and broken connections are those of victims.
    return name.find(' ') == std::string_view::npos && !name.ends_with("TimeoutError") &&
           !text::Contains(name, "Connection") &&
           (name.ends_with("Error") || name.ends_with("Exception"));
  });
}

// The coordination service misses heartbeats, and the workers that it misses fall silent. A
// worker whose log repeats the service's words is alive.
bool Declared(const Look& look) {
  std::vector<int> dead = MissedByServices(look.c.topology);
  const size_t declared = dead.size();
  std::erase_if(dead, [&](int worker) {
    const WorkerLog* log = look.voices.Log(worker);
    return log != nullptr && log->complaints.Any();
  });
  if (!AreFew(dead, look.all())) {
    if (declared > 0) {
      look.out.Note("whom the coordination service misses are many, or speak themselves later");
    }
    return false;
  }
  const bool closed = !look.voices.peer_gone.empty();
  // A task that the service missed may live; only its own log shows that it fell silent.
  const bool heard = std::all_of(
      dead.begin(), dead.end(), [&look](int worker) { return look.voices.Log(worker) != nullptr; });
  const bool ended = closed || EndInException(look, dead);
  AccuseAll(look, dead, ended ? Detail::kProcessExit : Detail::kWorkerLost,
            heard ? kConfidenceSilentAndDeclared : kConfidenceDeclaredUnheard,
            {.missing = Missing::kHeartbeats});
  return true;
}

// Most other workers say that the service of worker 0 does not answer.
bool Leader(const Look& look) {
  if (look.voices.leader_gone.empty() || !look.voices.IsSilent(0)) return false;
  if (look.voices.leader_gone.size() == 1 && IsSample(look.c.topology)) return false;
  const size_t others = static_cast<size_t>(look.voices.with_log()) - 1;
  if (look.voices.leader_gone.size() * 2 <= others) return false;
  const bool silent = std::all_of(
      look.voices.leader_gone.begin(), look.voices.leader_gone.end(),
      [&look](int worker) { return look.voices.Log(worker)->complaints.leader_gone.empty(); });
  const bool frozen = silent && look.voices.peer_gone.empty();
  AccuseAll(look, {0}, frozen ? Detail::kWorkerLost : Detail::kProcessExit, kConfidenceSilentLeader,
            {.missing = Missing::kLeader,
             .others = static_cast<int64_t>(look.voices.leader_gone.size())});
  return true;
}

// A rank that reaches PyTorch's monitored barrier after that has failed says that it waited there.
bool CameTooLate(const WorkerLog& log, const LogEvent& report) {
  return text::Contains(report.text, " failed to pass monitoredBarrier") &&
         text::Contains(log.complaints.peer_gone, "successfully reached monitoredBarrier");
}

// Workers that wait name those for whom they wait. A worker that complains of a wait of its own is
// a victim.
bool Named(const Look& look) {
  std::map<int, AwaitedByName> named;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const Snapshot* snapshot = look.c.worker(i).snapshot;
    if (snapshot == nullptr) continue;
    for (const LogEvent& event : snapshot->log_events) {
      if (!NamesAwaited(event)) continue;
      for (int32_t task : event.peer_tasks) {
        if (task < 0 || task >= static_cast<int>(look.all()) || task == i) continue;
        const WorkerLog* log = look.voices.Log(task);
        if (log != nullptr && log->complaints.OfOwn() && !CameTooLate(*log, event)) continue;
        named.try_emplace(task, AwaitedByName{task, i, event.text});
      }
    }
  }
  // If most are missing, they may wait elsewhere for those who came.
  if (named.empty() || 2 * named.size() > look.all()) return false;
  Finding finding = Begin(Detail::kProgramNotQueued, kConfidenceAwaitedByName);
  for (const auto& [worker, fact] : named) AddCulprit(look, fact, finding);
  Add(look, std::move(finding));
  return true;
}

// Everybody who has a line in the log that all share waited in vain; a few have no line at all.
bool NeverSpoke(const Look& look) {
  const auto waited = [&look](int worker) {
    return !look.voices.Log(worker)->complaints.timed_out.empty();
  };
  const std::vector<int>& complaining = look.voices.complaining;
  const auto with_log = static_cast<size_t>(look.voices.with_log());
  if (!look.c.logs->shared || with_log < kLeastLogsToCompare || complaining.size() != with_log ||
      !look.voices.peer_gone.empty() || !AreFew(look.voices.without_log, look.all()) ||
      !std::all_of(complaining.begin(), complaining.end(), waited)) {
    return false;
  }
  AccuseAll(look, look.voices.without_log, Detail::kProgramNotQueued, kConfidenceSilentInWait,
            {.missing = Missing::kWaits, .others = static_cast<int64_t>(complaining.size())});
  return true;
}

// True if all who complain could not register with the coordination service.
bool OfRegistration(const Look& look) {
  return std::all_of(look.voices.complaining.begin(), look.voices.complaining.end(),
                     [&look](int worker) {
                       return text::Contains(look.voices.Log(worker)->complaints.timed_out,
                                             "CoordinationService/RegisterTask");
                     });
}

// True if connections were closed while workers joined the job: before any step, and by no
// transport of a collective. Then an address, or a proxy between them, may be at fault as well as
// the worker that serves the others.
bool AsTheyJoin(const Look& look) {
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const WorkerLog* log = look.voices.Log(i);
    if (log != nullptr && log->step) return false;
  }
  const std::vector<int>& gone = look.voices.peer_gone;
  return !gone.empty() && std::all_of(gone.begin(), gone.end(), [&look](int worker) {
    return !HoldsAny(look.voices.Log(worker)->complaints.peer_gone,
                     {"gloo", "nccl", "pair.cc", "remote process"});
  });
}

// Silent workers (`silent` ascends) that did not write the last step, which all others completed:
// they ended first. Empty: not all workers tell their steps, others are behind, too, or these are
// not few.
std::vector<int> Behind(const Look& look, const std::vector<int>& silent) {
  std::optional<int64_t> furthest;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const WorkerLog* log = look.voices.Log(i);
    if (log == nullptr || !log->step) return {};
    furthest = std::max(furthest.value_or(*log->step), *log->step);
  }
  std::vector<int> behind;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    if (look.voices.Log(i)->step == furthest) continue;
    if (!std::binary_search(silent.begin(), silent.end(), i)) return {};
    behind.push_back(i);
  }
  return AreFew(behind, look.all()) ? behind : std::vector<int>();
}

bool Silent(const Look& look) {
  if (look.voices.complaining.empty()) return false;
  if (!look.voices.without_log.empty()) {
    if (NeverSpoke(look)) return true;
    look.out.Note(absl::StrCat("who fell silent is not told: there is no log of ",
                               WhoAll(look.c.topology, look.voices.without_log)));
    return false;
  }
  if (IsSample(look.c.topology)) {
    look.out.Note("who fell silent is not told: by their numbers most tasks have no log here");
    return false;
  }
  // A worker that repeats the service's words lives: it is named only if no worker is silent and
  // all others waited until a time-out. Where connections were closed, others still wait.
  const bool closed = !look.voices.peer_gone.empty() || !look.voices.leader_gone.empty();
  if (look.voices.silent.empty() && closed) {
    look.out.Note("everybody speaks of somebody who is gone: nobody is singled out");
    return false;
  }
  std::vector<int> silent = look.voices.silent.empty() ? look.voices.told : look.voices.silent;
  if (!AreFew(silent, look.all()) && !look.voices.peer_gone.empty()) {
    if (std::vector<int> behind = Behind(look, silent); !behind.empty()) silent = std::move(behind);
  }
  // Worker 0 serves the others, and has nothing to say of those who do not reach it.
  if (silent == std::vector{0} && OfRegistration(look)) {
    look.out.Note("nobody reached the coordination service: who is at fault is not told");
    return false;
  }
  if (silent == std::vector{0} && AsTheyJoin(look)) {
    look.out.Note(
        "connections to worker 0 were closed before any step: who is at fault is "
        "not told");
    return false;
  }
  if (!AreFew(silent, look.all())) {
    look.out.Note(silent.empty()
                      ? "everybody waits for others: nobody is singled out"
                      : absl::StrCat("too many say nothing: ", WhoAll(look.c.topology, silent)));
    return false;
  }
  if (!look.voices.peer_gone.empty() && !look.voices.silent.empty()) {
    AccuseAll(look, silent, Detail::kProcessExit, kConfidenceSilentAndClosed,
              {.missing = Missing::kClosed, .closed = &look.voices.peer_gone});
  } else {
    const bool ended = EndInException(look, silent);
    AccuseAll(look, silent, ended ? Detail::kProcessExit : Detail::kProgramNotQueued,
              kConfidenceSilentInWait,
              {.missing = Missing::kWaits,
               .others = static_cast<int64_t>(look.voices.complaining.size())});
  }
  return true;
}

bool Retries(const Look& look) {
  std::vector<int> trying;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const WorkerLog* log = look.voices.Log(i);
    if (log != nullptr && log->retries >= kLeastRetries && !log->complaints.OfOwn())
      trying.push_back(i);
  }
  if (!AreFew(trying, look.all())) return false;
  Finding finding = Begin(Detail::kProgramNotQueued, kConfidenceRetries);
  for (int worker : trying) {
    AddCulprit(look, LogRepeats{worker, look.voices.Log(worker)}, finding).host_activity =
        HostActivity::kRetry;
  }
  Add(look, std::move(finding));
  return true;
}

// Ports of a few workers fail, and their steps do not go on. If many ports fail, the fault lies
// between the workers.
bool Ports(const Look& look) {
  std::vector<int> failed;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const Snapshot* snapshot = look.c.worker(i).snapshot;
    if (snapshot != nullptr && OwnPort(*snapshot) != nullptr) failed.push_back(i);
  }
  if (!AreFew(failed, look.all())) return false;
  Finding finding;
  finding.basis = Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kDcnHost;
  finding.confidence = kConfidencePortByLog;
  for (int worker : failed) {
    AddCulprit(look, PortFailed{worker, OwnPort(*look.c.worker(worker).snapshot)->text}, finding);
  }
  Add(look, std::move(finding));
  return true;
}

// The loaders of a few workers failed, and these made no step since.
bool Loaders(const Look& look) {
  std::vector<int> failed;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    if (FailedLoader(look.c.worker(i).snapshot) != nullptr) failed.push_back(i);
  }
  if (failed.empty() || (failed.size() < look.all() && !AreFew(failed, look.all()))) return false;
  Finding finding = Begin(Detail::kInputPipeline, kConfidenceLoaderFailed);
  for (int worker : failed) {
    const LogEvent& event = *FailedLoader(look.c.worker(worker).snapshot);
    AddCulprit(look, Words{worker, event.text, Said::kLine}, finding).host_activity =
        HostActivity::kInput;
  }
  Add(look, std::move(finding));
  return true;
}

// The work of a thread that an exception ended, for which the loop waits; absent: neither input
// nor a checkpoint.
std::optional<HostActivity> WorkOf(const Stack& dead) {
  if (dead.frames.empty()) return std::nullopt;
  if (!InputFrame(dead).empty()) return HostActivity::kInput;
  const HostActivity activity = MatchLibraries(ParseFrames(dead)).activity;
  const bool checkpoint =
      activity == HostActivity::kCheckpointSave || activity == HostActivity::kCheckpointRestore;
  return checkpoint ? std::optional(activity) : std::nullopt;
}

// An exception ended a thread that loads data, or saves a checkpoint, of a few workers: their
// loops wait for it ever after, and the others for them.
bool DeadThreads(const Look& look) {
  std::vector<int> dead;
  for (int worker : look.voices.thread_died) {
    const WorkerLog& log = *look.voices.Log(worker);
    if (WorkOf(log.dead_thread) && !log.complaints.OfOwn()) dead.push_back(worker);
  }
  if (dead.empty() || (dead.size() < look.all() && !AreFew(dead, look.all()))) return false;
  const HostActivity activity = *WorkOf(look.voices.Log(dead.front())->dead_thread);
  const bool input = activity == HostActivity::kInput;
  Finding finding =
      Begin(input ? Detail::kInputPipeline : Detail::kProgramNotQueued, kConfidenceLoaderFailed);
  for (int worker : dead) {
    const WorkerLog& log = *look.voices.Log(worker);
    AddCulprit(look, Words{worker, log.thread_died, Said::kLine}, finding).host_activity =
        WorkOf(log.dead_thread);
  }
  Add(look, std::move(finding));
  return true;
}

// True if a process of the worker has ended after its last steps, if only because another one had:
// by an exception's line, or by the word of its parent.
bool SaysEnd(const Snapshot* snapshot) {
  if (snapshot == nullptr) return false;
  return std::any_of(
      snapshot->log_events.begin(), snapshot->log_events.end(), [](const LogEvent& event) {
        const std::string_view name = std::string_view(event.text).substr(0, event.text.find(':'));
        return event.kind == LogKind::kFollowOn &&
               (name.ends_with("Error") || name.ends_with("Exception") ||
                text::Contains(event.text, " terminated with signal SIG"));
      });
}

// Steps go on to the end of the logs, and no worker complains.
void Running(const Look& look) {
  if (look.voices.AnyComplains() || look.c.timeline.hang_declared) return;
  if (!look.voices.thread_died.empty()) {
    look.out.Note(absl::StrCat("no step was made after an exception ended a thread of ",
                               WhoAll(look.c.topology, look.voices.thread_died)));
    return;
  }
  std::vector<int> telling;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const WorkerLog* log = look.voices.Log(i);
    if (log != nullptr && log->stands_in_stacks) {
      look.out.Note(
          absl::StrCat("stacks were written after the last step of ", Who(look.c.worker(i))));
      return;
    }
    if (log == nullptr || !log->step) continue;
    if (SaysEnd(look.c.worker(i).snapshot)) {
      look.out.Note(
          absl::StrCat("a process of ", Who(look.c.worker(i)), " has ended after its last step"));
      return;
    }
    const int64_t due =
        std::max(kLoopMovesWithinMs, kStepLineFactor * log->longest_step_ms.value_or(0));
    if (log->step_ms && *log->step_ms > due) {
      look.out.Note(absl::StrCat(Who(look.c.worker(i)), " made its last step ", Span(*log->step_ms),
                                 " before the end of the logs"));
      return;
    }
    telling.push_back(i);
  }
  if (telling.empty()) return;
  Report(look, Detail::kRunning, kConfidencePause,
         StepsGoOn{&telling, *look.voices.Log(telling.front())->step});
}

std::string WithoutDigits(std::string_view line) {
  std::string text(line);
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// All logs but one end with the same line, which says that something is finished; the log of the
// odd one has ended long before that, with a line that says that it begins something.
void BeginsAlone(const Look& look) {
  if (look.voices.AnyComplains()) return;
  std::vector<int> told;  // by the length of their silence
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    if (look.voices.Log(i) == nullptr) continue;
    if (!look.voices.Log(i)->last_line_ms) return;
    told.push_back(i);
  }
  if (told.size() < kLeastLogsToCompare) return;
  std::stable_sort(told.begin(), told.end(), [&look](int a, int b) {
    return *look.voices.Log(a)->last_line_ms > *look.voices.Log(b)->last_line_ms;
  });
  const int odd = told[0];
  const WorkerLog& behind = *look.voices.Log(odd);
  const WorkerLog& next = *look.voices.Log(told[1]);
  const std::string& finished = next.last_line;
  const std::optional<HostActivity> activity = Begun(behind.last_line);
  const bool same = std::all_of(told.begin() + 2, told.end(), [&](int worker) {
    return WithoutDigits(look.voices.Log(worker)->last_line) == WithoutDigits(finished);
  });
  if (!activity || !same || *behind.last_line_ms - *next.last_line_ms < kBehindInLogMs ||
      !HoldsAny(finished,
                {"finished", "done", "complete", "loaded", "restored", "saved", "reached"})) {
    return;
  }
  Finding finding = Begin(Detail::kProgramNotQueued, kConfidenceBehindInLog);
  AddCulprit(look, BegunAlone{odd, &behind, finished}, finding).host_activity = activity;
  Add(look, std::move(finding));
}

// A few logs end with an error of their program's own, and the others tell of nothing.
void OnlyError(const Look& look) {
  if (look.voices.AnyComplains() || !look.voices.without_log.empty()) return;
  std::vector<int> erring;
  for (int i = 0; i < static_cast<int>(look.all()); ++i) {
    const LogEvent* event = LastOf(look.c.worker(i).snapshot, LogKind::kProgramRejected);
    const std::optional<int64_t>& last = look.voices.Log(i)->last_line_ms;
    if (event == nullptr) continue;
    if (!event->age_ms || !last || *event->age_ms - *last > kErrorAtEndMs) return;
    erring.push_back(i);
  }
  if (!AreFew(erring, look.all())) return;
  Finding finding = Begin(Detail::kOther, kConfidenceOnlyError);
  finding.basis = Basis::kError;
  for (int worker : erring) {
    const LogEvent& event = *LastOf(look.c.worker(worker).snapshot, LogKind::kProgramRejected);
    AddCulprit(look, Words{worker, event.text, Said::kLine}, finding);
  }
  Add(look, std::move(finding));
}

// The only log ends as the runtime waits for other hosts, of which no log tells.
void Lingers(const Look& look) {
  if (look.all() != 1 || look.voices.AnyComplains() || look.voices.Log(0) == nullptr) return;
  const Snapshot* snapshot = look.c.worker(0).snapshot;
  const LogEvent* event = LastOf(snapshot, LogKind::kDeviceUnavailable);
  if (event == nullptr || event != &snapshot->log_events.back() || look.voices.Log(0)->step ||
      !text::Contains(event->text, "TPU backend initialization is taking more than")) {
    return;
  }
  Finding finding = Begin(Detail::kNotStarted, kConfidenceStartUpLingers);
  const StartUpLingers fact{0, event->text};
  finding.why = FactText(look.c, fact);
  finding.evidence.push_back(Evidence(look.c, Strength::kStrong, fact));
  look.out.Add(std::move(finding));
}

void Apply(const Look& look) {
  if (Ended(look)) return;
  if (!look.c.timeline.roots.empty()) {
    look.out.Note("somebody failed by its own hand: who fell silent is not asked");
    return;
  }
  OfNobody(look);
  if (!look.out.items.empty()) return;
  if (Declared(look) || Ports(look) || Leader(look) || Retries(look) || Named(look) ||
      DeadThreads(look) || Silent(look) || Loaders(look)) {
    return;
  }
  Running(look);
  for (const auto find : {BeginsAlone, OnlyError, Lingers}) {
    if (look.out.items.empty()) find(look);
  }
}

}  // namespace

void FindInLogs(const Case& c, Findings& out) {
  if (c.logs != nullptr) Apply({c, out, Voices(c)});
}

void AddLogEvidence(const Case& c, Verdict& verdict) {
  if (c.logs == nullptr || !verdict.evidence.empty()) return;
  AddComplaints(c, Voices(c), verdict.evidence);
}

}  // namespace rapideye::classifier
