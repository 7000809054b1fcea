// A worker is lost if it sent no snapshot and nobody reaches it either (probes fail,
// or what peers sent it stays unacknowledged), or if it sent none and everyone waits
// for its slice. A missing snapshot alone is weak:
// agents crash, too. With the others it says more: if all of them have ended as victims do, it
// was first.
//
// Facts: the expected workers against the snapshots that came; probes by peers.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/coordination.h"
#include "classifier/link_evidence.h"
#include "classifier/phrases.h"
#include "classifier/rules/rules.h"
#include "classifier/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

constexpr char kRule[] = "lost_worker";
// One that ended may have been the first itself.
constexpr int kLeastFollowers = 2;

// Its slice waits inside, for nobody that reported, and every other slice waits
// for another slice.
bool IsAwaited(const Case& c, int worker) {
  if (std::any_of(c.graph.heads.begin(), c.graph.heads.end(), [&](const Head& head) {
        return head.kind != HeadKind::kCrossWait ||
               c.worker(head.worker).slice == c.worker(worker).slice;
      })) {
    return false;
  }
  if (!c.divergence.foreign.empty() || !c.divergence.misordered.empty()) return false;
  const auto own = static_cast<size_t>(c.worker(worker).slice);
  for (size_t s = 0; s < c.graph.slices.size(); ++s) {
    const SliceView& view = c.graph.slices[s];
    if (s == own) {
      const bool waits = view.state == SliceState::kWaitsInside;
      // With one slice there is nobody else to wait for.
      const bool must = view.state == SliceState::kUnclear && c.graph.slices.size() == 1;
      if (!waits && !must) return false;
      if (view.cluster < view.running) return false;
    } else if (view.state == SliceState::kWaitsInside ||
               (view.state == SliceState::kUnclear &&
                view.crowd_place == c.graph.slices[own].crowd_place)) {
      return false;
    }
  }
  return true;
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

// The only worker that is missing, if somebody's log says that the process of a peer has closed
// its connection, and those of all others live: then it was that one's.
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

// The only worker that is missing, if the processes of all others have ended, and each says that
// something else was gone before: of all of them only the missing one can have been the first.
std::optional<int> WhomTheOthersFollowed(const Case& c) {
  if (!c.timeline.roots.empty()) return std::nullopt;
  const auto follows = [](const LogEvent& log) {
    return log.kind == LogKind::kFollowOn || log.kind == LogKind::kMissedHealthChecks ||
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

// The workers without a snapshot, by what probes of them say.
struct Missing {
  std::vector<int> unreachable;
  std::vector<int> silent;  // nobody probed them
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

// What of the worker is not there: where logs are all, everything else is missing of everybody.
std::string_view WhatIsMissing(const Case& c) {
  return c.logs == nullptr ? "sent no snapshot" : "has no log here";
}

std::string WhatTheServiceSays(const Case& c) {
  return absl::StrCat(
      std::string(WhatIsMissing(c)), ", and the coordination service misses its heartbeats",
      RestartedTasks(c.topology).empty() ? ""
                                         : ", or has seen it come back as another incarnation");
}

class Rule {
 public:
  Rule(const Case& c, Findings& out) : c_(c), out_(out), links_(CollectLinks(c)) {}

  void Apply() {
    auto [unreachable, silent, reachable] = FindMissing(c_, links_);
    const std::vector<int> dead = WithoutHeartbeats(c_.topology);
    const auto is_dead = [&dead](int worker) {
      return std::binary_search(dead.begin(), dead.end(), worker);
    };
    if (HaveEnded(reachable, is_dead)) return;
    if (!reachable.empty()) {
      out_.Note(kRule, absl::StrCat(WhoAll(c_.topology, reachable),
                                    ": no snapshot, but probes are answered: the agent is gone, "
                                    "not the host"));
    }
    if (!unreachable.empty()) {
      Report(unreachable, kConfidenceLostUnreachable,
             "sent no snapshot, and every probe of it fails", Strength::kDirect);
      return;
    }
    std::vector<int> declared;
    std::vector<int> unanswering;
    std::vector<int> awaited;
    for (int worker : silent) {
      if (is_dead(worker)) declared.push_back(worker);
      if (TakesNoBytes(worker)) unanswering.push_back(worker);
      if (IsAwaited(c_, worker)) awaited.push_back(worker);
    }
    if (!unanswering.empty()) {
      Report(unanswering, kConfidenceLostTakesNoBytes,
             "sent no snapshot, and acknowledges nothing that its peers send", Strength::kStrong);
      return;
    }
    if (!declared.empty() && c_.timeline.roots.empty()) {
      Report(declared, kConfidenceLostDeclared, WhatTheServiceSays(c_), Strength::kStrong);
      return;
    }
    if (WasFollowed(silent)) return;
    // Several silent ones: any of them may be it.
    if (awaited.size() == 1) {
      Report(awaited, kConfidenceLostAwaited,
             "sent no snapshot, and every core that reported waits for its slice",
             Strength::kStrong);
    } else if (!silent.empty()) {
      out_.Note(kRule, absl::StrCat(WhoAll(c_.topology, silent),
                                    ": no snapshot, and nothing else that speaks against it"));
    }
  }

 private:
  // The hosts answer; whose process the service or its peers miss, that has ended as the agent
  // has.
  template <typename IsDead>
  bool HaveEnded(std::vector<int>& reachable, const IsDead& is_dead) {
    const std::optional<int> closed = WhoClosedItsConnections(c_.topology);
    const auto living = std::stable_partition(reachable.begin(), reachable.end(), [&](int worker) {
      return is_dead(worker) || worker == closed;
    });
    const std::vector<int> ended(reachable.begin(), living);
    reachable.erase(reachable.begin(), living);
    if (ended.empty() || !c_.timeline.roots.empty()) return false;
    Report(ended, kConfidenceLostDeclared,
           "sent no snapshot, though its host answers, and the coordination service or its peers "
           "miss its process: both have ended",
           Strength::kStrong, Detail::kProcessExit);
    return true;
  }

  bool WasFollowed(const std::vector<int>& silent) {
    const std::optional<int> followed = WhomTheOthersFollowed(c_);
    if (!followed.has_value() || silent != std::vector{*followed}) return false;
    Report(silent, kConfidenceLostDeclared,
           absl::StrCat(std::string(WhatIsMissing(c_)),
                        ", and the processes of all others ended because somebody else was gone"),
           Strength::kStrong, Detail::kProcessExit);
    return true;
  }

  // For as long as the job stands; nobody probed it.
  bool TakesNoBytes(int worker) const {
    return std::any_of(links_.pairs.begin(), links_.pairs.end(), [&](const auto& entry) {
      const auto& [pair, evidence] = entry;
      return (pair.first == worker || pair.second == worker) && !evidence.unacked.empty();
    });
  }

  void Report(const std::vector<int>& workers, double confidence, std::string_view what,
              Strength strength, Detail detail = Detail::kWorkerLost) {
    Finding finding;
    finding.basis = Basis::kAbsence;
    finding.cause = Cause::kUnrecoverableError;
    finding.detail = detail;
    finding.confidence = confidence;
    for (int worker : workers) {
      std::string text = absl::StrCat(Who(c_.worker(worker)), " ", std::string(what));
      if (finding.evidence.size() < kMaxEvidence) {
        finding.evidence.push_back(Evidence(c_, strength, {worker}, text));
      }
      finding.culprits.push_back(CulpritWorker(c_, worker, std::move(text)));
    }
    finding.explains = c_.graph.waiting;
    finding.why = finding.culprits.front().why;
    out_.Add(kRule, std::move(finding));
  }

  const Case& c_;
  Findings& out_;
  LinkEvidence links_;
};

}  // namespace

void FindLostWorker(const Case& c, Findings& out) { Rule(c, out).Apply(); }

}  // namespace rapideye::classifier
