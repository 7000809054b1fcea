// Waits for others that ended by a time-out, where nothing failed outright. A live worker that is
// seen to be busy is the one that those waited for: a compilation that takes longer than the
// others' time-out, a save, a restore.
//
// A worker that the coordination service declared dead for want of heartbeats is not at fault if it
// lived to hear so, if it ended only because the service did not answer it, or if its device was
// advancing then: the time-out is too short for the activity of its host, or the two are cut off
// from each other.
//
// Facts: lines of the coordination service, ends of processes, stacks and pages of those alive.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/errors/coordination.h"
#include "classifier/findings/facts.h"
#include "classifier/host/host_place.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// A missing key of another slice is filed under the network.
bool SaysWaitTimedOut(const LogEvent& log) {
  return log.kind == LogKind::kCoordinationTimeout ||
         (log.kind == LogKind::kNetwork && text::Contains(log.text, "GetKeyValue() timed out"));
}

// The worker's end, if it followed another failure; null: the process lives, or failed by itself.
const ErrorEvent* EndAsVictim(const Case& c, int worker) {
  for (const ErrorEvent& event : c.timeline.errors) {
    if (event.worker == worker && event.kind == ErrorKind::kExit && event.of_victim) return &event;
  }
  return nullptr;
}

bool TimedOut(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  return snapshot != nullptr && EndAsVictim(c, worker) != nullptr &&
         std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(), SaysWaitTimedOut);
}

// The place of the host if it is in a known activity, and waits for no other worker.
std::optional<HostPlace> BusyWith(const Snapshot& snapshot) {
  std::optional<HostPlace> place = PlaceOfHost(snapshot);
  const bool busy = place.has_value() && place->wait == HostWait::kNone &&
                    place->activity != HostActivity::kOther;
  return busy ? place : std::nullopt;
}

void AwaitedInVain(const Case& c, Findings& out) {
  std::vector<int> timed_out;
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    // A missing worker is the first candidate for whom the others waited.
    if (c.worker(i).snapshot == nullptr) return;
    (TimedOut(c, i) ? timed_out : others).push_back(i);
  }
  if (timed_out.empty()) return;
  std::vector<std::pair<int, HostPlace>> busy;
  for (const int i : others) {
    if (auto place = BusyWith(*c.worker(i).snapshot)) busy.emplace_back(i, *std::move(place));
  }
  if (busy.empty()) return;
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kDataInputStall;
  finding.detail = Detail::kInputPipeline;
  finding.confidence = kConfidenceAwaitedInVain;
  for (const auto& [worker, place] : busy) {
    const BusyWhileAwaited fact{worker, &place, &timed_out};
    Accuse(c, Strength::kStrong, fact, finding).host_activity = place.activity;
    if (place.activity != HostActivity::kInput) finding.detail = Detail::kProgramNotQueued;
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

// True if its own log repeats the service's words on missing heartbeats: it was in touch then.
bool HeardOfIt(const Snapshot& snapshot) {
  return std::any_of(snapshot.log_events.begin(), snapshot.log_events.end(),
                     [](const LogEvent& log) {
                       return text::Contains(log.text, "unhealthy (stopped sending heartbeats)") ||
                              text::Contains(log.text, "heartbeat timeout");
                     });
}

// True if it ended when or after it was declared dead, as its own calls to the service had timed
// out: whoever is dead or stands still calls nobody.
bool EndedUnanswered(const Case& c, int worker, int64_t declared_ms) {
  const ErrorEvent* end = EndAsVictim(c, worker);
  const std::vector<LogEvent>& lines = c.worker(worker).snapshot->log_events;
  return end != nullptr && end->age_ms.has_value() && *end->age_ms - kAgeErrorMs <= declared_ms &&
         std::any_of(lines.begin(), lines.end(), [](const LogEvent& log) {
           return text::Contains(log.text, "distributed service detected fatal errors") &&
                  text::Contains(log.text, "DEADLINE_EXCEEDED");
         });
}

// For how long the service has known that a worker sends no heartbeats.
std::optional<int64_t> DeclaredMs(const Case& c) {
  std::optional<int64_t> oldest;
  for (const WorkerInfo& worker : c.topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kMissedHealthChecks || !log.age_ms.has_value()) continue;
      oldest = std::max(oldest.value_or(0), *log.age_ms);
    }
  }
  return oldest;
}

// True if its device completed a launch, or its loop made a step, about when it was declared dead:
// the service waits for heartbeats for ten times as long as ages err.
bool AdvancedWhenDeclared(const Case& c, int worker, int64_t declared_ms) {
  const auto recent = [&](const std::optional<int64_t>& stood) {
    return stood.has_value() && *stood - kAgeErrorMs <= declared_ms;
  };
  const auto [first, last] = c.positions.UnitsOf(worker);
  for (int u = first; u < last; ++u) {
    if (recent(c.positions.unit(u).stuck_ms)) return true;
  }
  const std::optional<Progress>& page = c.worker(worker).snapshot->progress;
  if (first != last || !page.has_value()) return false;
  const bool steps = page->phase == Phase::kStep || page->phase == Phase::kInput;
  return (steps && recent(page->phase_ms)) || recent(page->step_ms);
}

// True if it lives, or has ended because the service declared it dead.
bool EndedByNothingElse(const Case& c, int worker) {
  return EndAsVictim(c, worker) != nullptr ||
         std::none_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                      [worker](const ErrorEvent& event) {
                        return event.worker == worker && event.kind == ErrorKind::kExit;
                      });
}

// Absent: nothing proves that a worker was alive when it was declared dead.
std::optional<DeclaredDead::Life> LifeOf(const Case& c, int worker,
                                         const std::optional<int64_t>& declared_ms) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot == nullptr) return std::nullopt;
  if (EndAsVictim(c, worker) != nullptr && HeardOfIt(*snapshot)) return DeclaredDead::Life::kHeard;
  if (!declared_ms.has_value() || !EndedByNothingElse(c, worker)) return std::nullopt;
  if (EndedUnanswered(c, worker, *declared_ms)) return DeclaredDead::Life::kUnanswered;
  if (AdvancedWhenDeclared(c, worker, *declared_ms)) return DeclaredDead::Life::kAdvanced;
  return std::nullopt;
}

void DeclaredDeadAlive(const Case& c, Findings& out) {
  const std::vector<int> dead = WithoutHeartbeats(c.topology);
  if (dead.empty()) return;
  const std::optional<int64_t> declared_ms = DeclaredMs(c);
  DeclaredDead fact{&dead};
  for (int worker : dead) {
    const auto life = LifeOf(c, worker, declared_ms);
    if (!life.has_value()) return;
    fact.life = std::max(fact.life, *life);
  }
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kUnrecoverableError;
  finding.detail = Detail::kCoordinationService;
  finding.confidence = kConfidenceDeclaredAlive;
  finding.evidence.push_back(Evidence(c, Strength::kStrong, fact));
  finding.why = finding.evidence.front().statement;
  finding.explains = c.graph.waiting;
  out.Add(std::move(finding));
}

}  // namespace

void FindTimedOut(const Case& c, Findings& out) {
  if (!c.timeline.roots.empty() || c.timeline.hang_declared) return;
  AwaitedInVain(c, out);
  DeclaredDeadAlive(c, out);
}

}  // namespace rapideye::classifier
