// Waits for others that a time-out ended, where nothing failed outright. Whoever is alive and
// seen to be busy is what those waited for: a compilation that takes longer than the others'
// time-out, a save, a restore.
//
// A worker that the coordination service declared dead for want of heartbeats, and that lived to
// hear so, was no fault of anybody: its time-out is too short for what the host was in.
//
// Facts: lines of the coordination service, ends of processes, stacks and pages of those alive.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/coordination.h"
#include "classifier/host_place.h"
#include "classifier/phrases.h"
#include "classifier/rules/rules.h"
#include "classifier/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

constexpr char kRule[] = "timed_out";

// A key of another slice that never came is filed under the network.
bool SaysWaitTimedOut(const LogEvent& log) {
  return log.kind == LogKind::kCoordinationTimeout ||
         (log.kind == LogKind::kNetwork && text::Contains(log.text, "GetKeyValue() timed out"));
}

// Its end, if it followed something; null: it has not ended, or by its own hand.
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

// It is in something that takes its time, and waits for nobody.
std::optional<HostPlace> BusyWith(const Snapshot& snapshot) {
  std::optional<HostPlace> place = PlaceOfHost(snapshot);
  const bool busy = place.has_value() && place->wait == HostWait::kNone &&
                    place->activity != HostActivity::kOther;
  return busy ? place : std::nullopt;
}

void AwaitedInVain(const Case& c, Findings& out) {
  std::vector<int> timed_out;
  std::vector<std::pair<int, HostPlace>> busy;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    // Whoever is missing is the first candidate of those who waited.
    if (snapshot == nullptr) return;
    if (TimedOut(c, i)) {
      timed_out.push_back(i);
    } else if (auto place = BusyWith(*snapshot)) {
      busy.emplace_back(i, *std::move(place));
    }
  }
  if (timed_out.empty() || busy.empty()) return;
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kDataInputStall;
  finding.detail = Detail::kInputPipeline;
  finding.confidence = kConfidenceAwaitedInVain;
  for (auto& [worker, place] : busy) {
    std::string text = absl::StrCat(Who(c.worker(worker)), " ", place.text, ", while ",
                                    WhoAll(c.topology, timed_out), " waited in vain for others");
    if (finding.evidence.size() < kMaxEvidence) {
      finding.evidence.push_back(Evidence(c, Strength::kStrong, {worker}, text));
    }
    Culprit culprit = CulpritWorker(c, worker, std::move(text));
    culprit.host_activity = place.activity;
    if (place.activity != HostActivity::kInput) finding.detail = Detail::kProgramNotQueued;
    finding.culprits.push_back(std::move(culprit));
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(kRule, std::move(finding));
}

// Its own log tells what the service told it of itself or others: they were in touch.
bool HeardOfIt(const Snapshot& snapshot) {
  return std::any_of(snapshot.log_events.begin(), snapshot.log_events.end(),
                     [](const LogEvent& log) {
                       return text::Contains(log.text, "unhealthy (stopped sending heartbeats)") ||
                              text::Contains(log.text, "heartbeat timeout");
                     });
}

void DeclaredDeadAlive(const Case& c, Findings& out) {
  const std::vector<int> dead = WithoutHeartbeats(c.topology);
  if (dead.empty()) return;
  for (int worker : dead) {
    const Snapshot* snapshot = c.worker(worker).snapshot;
    if (snapshot == nullptr || EndAsVictim(c, worker) == nullptr || !HeardOfIt(*snapshot)) return;
  }
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kUnrecoverableError;
  finding.detail = Detail::kCoordinationService;
  finding.confidence = kConfidenceDeclaredAlive;
  finding.why = absl::StrCat("the coordination service declared ", WhoAll(c.topology, dead),
                             " dead for want of heartbeats, though its process lived to hear so");
  finding.evidence.push_back(Evidence(c, Strength::kStrong, dead, finding.why));
  finding.explains = c.graph.waiting;
  out.Add(kRule, std::move(finding));
}

}  // namespace

void FindTimedOut(const Case& c, Findings& out) {
  if (!c.timeline.roots.empty() || c.timeline.hang_declared) return;
  AwaitedInVain(c, out);
  DeclaredDeadAlive(c, out);
}

}  // namespace rapideye::classifier
