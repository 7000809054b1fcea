// A worker is lost if it sent no snapshot and no peer reaches it either (probes fail,
// or bytes that peers sent stay unacknowledged), or if it sent none and all others wait
// for its slice. A missing snapshot alone is weak, because
// agents crash, too. It is stronger if all other workers have ended as victims do: then the
// missing worker was first.
//
// Facts: the expected workers against the snapshots that came; probes by peers.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classifier/errors/coordination.h"
#include "classifier/findings/facts.h"
#include "classifier/host/host_place.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wait/link_evidence.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// A single worker that ended may have been the first itself.
constexpr int kLeastFollowers = 2;

// Cores of the missing worker's slice that stand apart by their place alone: if these are fewer
// than a worker has, at no known collective, they are no mates of a whole worker.
bool AreTooFewForMates(const Case& c, int missing) {
  size_t loose = 0;
  bool known_to_wait = false;
  for (const Head& head : c.graph.heads) {
    if (c.worker(head.worker).slice != c.worker(missing).slice) continue;
    if (head.kind != HeadKind::kLaggard && head.kind != HeadKind::kElsewhere) continue;
    loose += head.units.size();
    const Place* place = c.PlaceOf(head);
    known_to_wait =
        known_to_wait || (place != nullptr && place->hlo_class == HloClass::kInSliceWait);
  }
  if (loose == 0 || known_to_wait) return false;
  size_t of_worker = 0;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const auto [first, last] = c.positions.UnitsOf(i);
    of_worker = std::max(of_worker, static_cast<size_t>(last - first));
  }
  return loose < of_worker;
}

// True if the head's place shows that it waits for no core, or for a worker that is there.
bool IsProven(const Case& c, const Head& head, int missing) {
  switch (head.kind) {
    case HeadKind::kCrossWait:
      return c.worker(head.worker).slice == c.worker(missing).slice;
    case HeadKind::kLaggard:
    case HeadKind::kElsewhere:
      // A core that shares a collective with the missing worker has not come as far as the rest of
      // the slice.
      return c.worker(head.worker).slice != c.worker(missing).slice;
    case HeadKind::kCompute:
    case HeadKind::kSparse:
    case HeadKind::kInput:
    case HeadKind::kIdle:
      return true;
  }
  return true;
}

// Where no instruction is known: true for the only slice; or if the others, at least two, stand
// together elsewhere, so that this slice is the one in the wrong place.
bool StandsApart(const Case& c, size_t own) {
  std::set<int> places;
  for (size_t s = 0; s < c.graph.slices.size(); ++s) {
    if (s != own) places.insert(c.graph.slices[s].crowd_place);
  }
  if (places.empty()) return true;
  return c.graph.slices.size() > 2 && places.size() == 1 &&
         !places.contains(c.graph.slices[own].crowd_place);
}

// True if its slice waits inside, for no core that reported, and every other slice waits
// for another slice.
bool IsAwaited(const Case& c, int worker) {
  if (std::any_of(c.graph.heads.begin(), c.graph.heads.end(),
                  [&](const Head& head) { return IsProven(c, head, worker); })) {
    return false;
  }
  if (AreTooFewForMates(c, worker)) return false;
  if (!c.divergence.foreign.empty() || !c.divergence.misordered.empty()) return false;
  const auto own = static_cast<size_t>(c.worker(worker).slice);
  const auto outside = [&](const SliceView& view) {
    return &view == &c.graph.slices[own] || view.state == SliceState::kWaitsOutside;
  };
  const bool others_wait_outside =
      std::all_of(c.graph.slices.begin(), c.graph.slices.end(), outside);
  switch (c.graph.slices[own].state) {
    case SliceState::kWaitsInside:
    case SliceState::kHeaded:
      return std::none_of(c.graph.slices.begin(), c.graph.slices.end(), [&](const SliceView& view) {
        if (&view == &c.graph.slices[own]) return false;
        return view.state == SliceState::kWaitsInside || view.state == SliceState::kHeaded ||
               view.state == SliceState::kIdle;
      });
    case SliceState::kUnclear:
      return others_wait_outside || StandsApart(c, own);
    case SliceState::kEmpty:
      return others_wait_outside && c.graph.slices.size() > 1;
    case SliceState::kWaitsOutside:
    case SliceState::kIdle:
      return false;
  }
  return false;
}

// True if no core runs a launch, and every host that reported waits in the same way: then the
// missing worker is all that they can wait for.
bool AllHostsWait(const Case& c) {
  if (!c.JobStands()) return false;
  for (const SliceView& view : c.graph.slices) {
    if (view.running > 0) return false;
  }
  std::set<HostWait> waits;
  for (const WorkerInfo& worker : c.topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    const std::optional<HostPlace> place = PlaceOfHost(*worker.snapshot);
    waits.insert(place.has_value() ? place->wait : HostWait::kNone);
  }
  return waits.size() == 1 && *waits.begin() != HostWait::kNone;
}

bool Lives(const Snapshot& snapshot) {
  return std::any_of(snapshot.processes.begin(), snapshot.processes.end(), [](const Process& one) {
    return one.state != ProcessState::kExited && one.state != ProcessState::kZombie;
  });
}

bool SaysPeerClosed(const LogEvent& log) {
  return text::Contains(log.text, "onnection closed by peer") ||
         text::Contains(log.text, "onnection reset by peer");
}

// The only missing worker, if a log says that the process of a peer has closed its connection,
// and the processes of all other workers live: then it was the missing worker's process.
std::optional<int> WhoClosedItsConnections(const Topology& topology) {
  std::optional<int> missing;
  bool said = false;
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    const Snapshot* snapshot = topology.worker(i).snapshot;
    if (snapshot == nullptr && std::exchange(missing, i).has_value()) return std::nullopt;
    if (snapshot == nullptr) continue;
    if (!Lives(*snapshot)) return std::nullopt;
    said = said ||
           std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(), SaysPeerClosed);
  }
  return said ? missing : std::nullopt;
}

// The only missing worker, if the processes of all others have ended, and each log says that
// something else was gone before: only the missing worker can have been the first.
std::optional<int> WhomTheOthersFollowed(const Case& c) {
  if (!c.timeline.roots.empty()) return std::nullopt;
  const auto follows = [](const LogEvent& log) {
    return SaysAnotherFailed(log) || log.kind == LogKind::kMissedHealthChecks ||
           log.kind == LogKind::kCoordinationTimeout;
  };
  std::optional<int> missing;
  int ended = 0;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot == nullptr) {
      if (std::exchange(missing, i).has_value()) return std::nullopt;
      continue;
    }
    const bool followed =
        std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(), follows);
    if (snapshot->processes.empty() || Lives(*snapshot) || !followed) return std::nullopt;
    ++ended;
  }
  return ended >= kLeastFollowers ? missing : std::nullopt;
}

// The connections of peers to a worker's process: when the process ends, the kernel of its host
// closes them.
struct Connections {
  int closed = 0;
  int open = 0;
};

// By worker.
std::vector<Connections> ConnectionsOfAll(const Case& c) {
  std::vector<Connections> found(c.topology.workers().size());
  for (const WorkerInfo& one : c.topology.workers()) {
    if (one.snapshot == nullptr) continue;
    for (const Socket& socket : one.snapshot->sockets) {
      const int peer = c.topology.Find(socket.peer);
      if (peer < 0) continue;
      const bool closed =
          socket.state == SocketState::kGone || socket.state == SocketState::kCloseWait;
      Connections& connections = found[static_cast<size_t>(peer)];
      ++(closed ? connections.closed : connections.open);
    }
  }
  return found;
}

// True for each worker that does not acknowledge bytes for as long as the job stands, or to which
// that happens.
std::vector<bool> AtConnectionsThatTakeNoBytes(const Case& c) {
  std::vector<bool> ends(c.topology.workers().size());
  for (const auto& [pair, evidence] : c.links.pairs) {
    if (evidence.unacked.empty()) continue;
    ends[static_cast<size_t>(pair.first)] = true;
    ends[static_cast<size_t>(pair.second)] = true;
  }
  return ends;
}

// The workers without a snapshot, by the results of probes.
struct Missing {
  std::vector<int> unreachable;
  std::vector<int> silent;  // no peer probed them
  std::vector<int> reachable;
};

Missing FindMissing(const Case& c, const LinkEvidence& links) {
  Missing missing;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    if (c.worker(i).snapshot != nullptr || !c.worker(i).in_named_cohort) continue;
    const auto n = static_cast<size_t>(i);
    if (links.probed[n] > 0 && links.probed_failed[n] == links.probed[n]) {
      missing.unreachable.push_back(i);
    } else if (links.probed[n] > 0) {
      missing.reachable.push_back(i);
    } else {
      missing.silent.push_back(i);
    }
  }
  return missing;
}

// True if some peer without answers from the worker gets through to all that are there. If all
// such peers are cut off from others, too, the path between may be broken.
bool SaidByTheConnected(const Case& c, const LinkEvidence& links, int worker) {
  const auto n = static_cast<size_t>(worker);
  return std::any_of(links.broken_peers[n].begin(), links.broken_peers[n].end(), [&](int peer) {
    const std::vector<int>& broken = links.broken_peers[static_cast<size_t>(peer)];
    return c.worker(peer).snapshot != nullptr &&
           std::all_of(broken.begin(), broken.end(),
                       [&](int other) { return c.worker(other).snapshot == nullptr; });
  });
}

class LostWorkerRule {
 public:
  LostWorkerRule(const Case& c, Findings& out) : c_(c), out_(out), links_(c.links) {}

  void Apply();

 private:
  // The hosts answer, but the service or the peers miss the worker's process: so the process has
  // ended, and the agent with it.
  template <typename IsDead>
  bool HaveEnded(std::vector<int>& reachable, const IsDead& is_dead);

  // Of several missing workers any may be at fault, and a worker with open connections lives at an
  // unknown place: then neither these workers nor those that wait for them are accused.
  bool NameAwaited(const std::vector<int>& silent, const std::vector<int>& reachable);

  // The connections of peers were closed from the worker's end, and none is open: its process has
  // ended, even if its host answers probes.
  bool HaveClosed(const std::vector<int>& reachable, const std::vector<int>& silent);
  bool WasFollowed(const std::vector<int>& silent);

  void Report(const std::vector<int>& workers, double confidence, Silence silence,
              Strength strength, Detail detail = Detail::kWorkerLost);

  const Case& c_;
  Findings& out_;
  const LinkEvidence& links_;
};

void LostWorkerRule::Apply() {
  auto [unreachable, silent, reachable] = FindMissing(c_, links_);
  const std::vector<int> dead = WithoutHeartbeats(c_.topology);
  const auto is_dead = [&dead](int worker) {
    return std::binary_search(dead.begin(), dead.end(), worker);
  };
  if (HaveEnded(reachable, is_dead)) return;
  if (HaveClosed(reachable, silent)) return;
  if (!reachable.empty()) {
    out_.Note(c_, NotLost{&reachable, true});
  }
  if (!unreachable.empty()) {
    Report(unreachable, kConfidenceLostUnreachable, Silence::kProbesFail, Strength::kDirect);
    return;
  }
  const std::vector<int> missed = MissedByServices(c_.topology);
  std::vector<int> declared;
  std::vector<int> unanswering;  // no peer probed them
  const std::vector<bool> take_no_bytes = AtConnectionsThatTakeNoBytes(c_);
  for (int worker : silent) {
    if (std::binary_search(missed.begin(), missed.end(), worker)) declared.push_back(worker);
    if (take_no_bytes[static_cast<size_t>(worker)]) unanswering.push_back(worker);
  }
  if (!unanswering.empty()) {
    Report(unanswering, kConfidenceLostTakesNoBytes, Silence::kTakesNoBytes, Strength::kStrong);
    return;
  }
  if (!declared.empty() && c_.timeline.roots.empty()) {
    // Where logs are all there is, nobody else looked for the worker.
    const double confidence =
        c_.logs == nullptr ? kConfidenceLostDeclared : kConfidenceDeclaredUnheard;
    Report(declared, confidence, Silence::kNoHeartbeats, Strength::kStrong);
    return;
  }
  if (WasFollowed(silent)) return;
  if (!NameAwaited(silent, reachable) && !silent.empty()) {
    out_.Note(c_, NotLost{&silent});
  }
}

template <typename IsDead>
bool LostWorkerRule::HaveEnded(std::vector<int>& reachable, const IsDead& is_dead) {
  const std::optional<int> closed = WhoClosedItsConnections(c_.topology);
  const auto living = std::stable_partition(reachable.begin(), reachable.end(), [&](int worker) {
    return is_dead(worker) || worker == closed;
  });
  const std::vector<int> ended(reachable.begin(), living);
  reachable.erase(reachable.begin(), living);
  if (ended.empty() || !c_.timeline.roots.empty()) return false;
  Report(ended, kConfidenceLostDeclared, Silence::kProcessMissed, Strength::kStrong,
         Detail::kProcessExit);
  return true;
}

bool LostWorkerRule::NameAwaited(const std::vector<int>& silent,
                                 const std::vector<int>& reachable) {
  std::vector<int> awaited;
  const bool all_wait = AllHostsWait(c_);
  for (const std::vector<int>* group : {&silent, &reachable}) {
    for (int worker : *group) {
      if (!all_wait && !IsAwaited(c_, worker)) continue;
      awaited.push_back(worker);
    }
  }
  if (awaited.empty()) return false;
  const std::vector<Connections> connections = ConnectionsOfAll(c_);
  const bool open = std::any_of(awaited.begin(), awaited.end(), [&](int worker) {
    return connections[static_cast<size_t>(worker)].open > 0;
  });
  std::sort(awaited.begin(), awaited.end());
  Report(awaited, awaited.size() == 1 && !open ? kConfidenceLostAwaited : kConfidenceLostMaybe,
         all_wait ? Silence::kAwaitedByHosts : Silence::kAwaitedByCores, Strength::kStrong);
  return true;
}

bool LostWorkerRule::HaveClosed(const std::vector<int>& reachable, const std::vector<int>& silent) {
  // If others have ended, too, this worker may have followed them, or the cause of their end.
  const bool others =
      std::any_of(c_.timeline.errors.begin(), c_.timeline.errors.end(),
                  [](const ErrorEvent& event) { return event.kind == ErrorKind::kExit; });
  if (!c_.timeline.roots.empty() || others || c_.timeline.hang_declared) return false;
  if (reachable.empty() && silent.empty()) return false;
  const std::vector<Connections> connections = ConnectionsOfAll(c_);
  std::vector<int> closed;
  for (const std::vector<int>* group : {&reachable, &silent}) {
    for (int worker : *group) {
      const Connections& found = connections[static_cast<size_t>(worker)];
      if (found.closed > 0 && found.open == 0) closed.push_back(worker);
    }
  }
  if (closed.empty()) return false;
  std::sort(closed.begin(), closed.end());
  Report(closed, kConfidenceLostClosed, Silence::kConnectionsClosed, Strength::kStrong);
  return true;
}

bool LostWorkerRule::WasFollowed(const std::vector<int>& silent) {
  const std::optional<int> followed = WhomTheOthersFollowed(c_);
  if (!followed.has_value() || silent != std::vector{*followed}) return false;
  Report(silent, kConfidenceLostDeclared, Silence::kOthersFollowed, Strength::kStrong,
         Detail::kProcessExit);
  return true;
}

void LostWorkerRule::Report(const std::vector<int>& workers, double confidence, Silence silence,
                            Strength strength, Detail detail) {
  Finding finding;
  finding.basis = Basis::kAbsence;
  finding.cause = Cause::kUnrecoverableError;
  finding.detail = detail;
  finding.confidence = confidence;
  finding.own = confidence >= kConfidenceLostDeclared &&
                (silence != Silence::kTakesNoBytes ||
                 std::all_of(workers.begin(), workers.end(), [this](int worker) {
                   return SaidByTheConnected(c_, links_, worker);
                 }));
  for (int worker : workers) {
    Accuse(c_, strength, WorkerSilent{worker, silence}, finding);
  }
  finding.explains = c_.graph.waiting;
  finding.why = finding.culprits.front().why;
  out_.Add(std::move(finding));
}

}  // namespace

void FindLostWorker(const Case& c, Findings& out) { LostWorkerRule(c, out).Apply(); }

}  // namespace rapideye::classifier
