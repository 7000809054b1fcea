#include "tests/scenarios/decidability.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace rapideye::scenarios {
namespace {

bool NamedAtCulprit(const Capture& capture, const std::vector<WorkerId>& culprits) {
  for (const Snapshot& snapshot : capture.snapshots) {
    if (std::find(culprits.begin(), culprits.end(), snapshot.worker) == culprits.end()) continue;
    for (const Core& core : snapshot.cores) {
      if (!core.sequencers.empty() && core.sequencers[0].hlo) return true;
    }
  }
  return false;
}

// Number of workers with a failing probe to or from the first culprit, or (with
// `sockets`) with bytes that one of the two never acknowledged.
size_t BrokenPairs(const Capture& capture, const Truth& truth, bool sockets) {
  const WorkerId culprit = CulpritWorkers(truth).front();
  std::set<WorkerId> peers;
  const auto note = [&](const WorkerId& from, const WorkerId& to) {
    if (from == culprit) peers.insert(to);
    if (to == culprit) peers.insert(from);
  };
  for (const Snapshot& snapshot : capture.snapshots) {
    for (const Probe& probe : snapshot.probes) {
      if (!probe.ok) note(snapshot.worker, probe.peer);
    }
    for (const Socket& socket : snapshot.sockets) {
      if (sockets && socket.unacked_bytes > 0) note(snapshot.worker, socket.peer);
    }
  }
  return peers.size();
}

bool IsProbed(const Capture& capture, const WorkerId& worker) {
  return std::any_of(capture.snapshots.begin(), capture.snapshots.end(),
                     [&](const Snapshot& snapshot) {
                       return std::any_of(snapshot.probes.begin(), snapshot.probes.end(),
                                          [&](const Probe& probe) { return probe.peer == worker; });
                     });
}

// A worker that did not diverge runs a program that stands in its own queue again:
// the programs between the two are the step.
bool QueueShowsStep(const Capture& capture, const Truth& truth) {
  const std::vector<WorkerId> diverged = CulpritWorkers(truth);
  for (const Snapshot& snapshot : capture.snapshots) {
    if (std::find(diverged.begin(), diverged.end(), snapshot.worker) != diverged.end()) continue;
    for (const Core& core : snapshot.cores) {
      for (const QueuedProgram& queued : core.queued) {
        if (core.program == queued.program && core.launch_id && queued.launch_id) return true;
      }
    }
  }
  return false;
}

bool CarrierLost(const Plan& plan) {
  return std::any_of(plan.nic_faults.begin(), plan.nic_faults.end(),
                     [](const NicFault& fault) { return fault.carrier_lost; });
}

bool HasModuleNames(const Capture& capture) {
  return std::any_of(
      capture.snapshots.begin(), capture.snapshots.end(), [](const Snapshot& snapshot) {
        return std::any_of(
            snapshot.programs.begin(), snapshot.programs.end(),
            [](const rapideye::Program& program) { return program.module.has_value(); });
      });
}

bool HasSequence(const Capture& capture) {
  return std::any_of(capture.header.cohorts.begin(), capture.header.cohorts.end(),
                     [](const Cohort& cohort) { return !cohort.sequence.empty(); });
}

bool HasIciLinks(const Capture& capture, const std::vector<WorkerId>& culprits) {
  return std::any_of(
      capture.snapshots.begin(), capture.snapshots.end(), [&](const Snapshot& snapshot) {
        return !snapshot.ici_links.empty() &&
               std::find(culprits.begin(), culprits.end(), snapshot.worker) != culprits.end();
      });
}

bool IsMet(Need need, const Plan& plan, const Capture& capture) {
  const std::vector<WorkerId> culprits = CulpritWorkers(plan.truth);
  switch (need) {
    case Need::kHlo:
      return NamedAtCulprit(capture, culprits);
    case Need::kBrokenPair:
      return BrokenPairs(capture, plan.truth, true) >= 1 || CarrierLost(plan);
    case Need::kTwoBrokenPairs:
      return BrokenPairs(capture, plan.truth, true) >= 2;
    case Need::kNicStandsOut:
      return BrokenPairs(capture, plan.truth, false) >= 2 || CarrierLost(plan);
    case Need::kIciLinks:
      return HasIciLinks(capture, culprits);
    case Need::kModuleNames:
      return HasModuleNames(capture);
    case Need::kCohorts:
      return !capture.header.cohorts.empty();
    case Need::kStepKnown:
      return HasSequence(capture) || QueueShowsStep(capture, plan.truth);
    case Need::kLostStandsOut:
      return IsProbed(capture, culprits.front()) ||
             capture.snapshots.size() + 1 == capture.header.expected_workers.size();
    case Need::kUndecidable:
      return false;
  }
  return false;
}

}  // namespace

std::vector<WorkerId> CulpritWorkers(const Truth& truth) {
  std::vector<WorkerId> workers;
  for (const Answer& answer : truth.accepted) {
    for (const TrueCulprit& culprit : answer.culprits) workers.push_back(culprit.worker);
  }
  return workers;
}

void Decide(const Plan& plan, const Capture& capture, Truth& truth) {
  const auto met = [&](const std::vector<Need>& needs) {
    return std::all_of(needs.begin(), needs.end(),
                       [&](Need need) { return IsMet(need, plan, capture); });
  };
  truth.decidable = met(truth.needs);
  if (truth.decidable && met(truth.needs_for_detail)) return;
  truth.accepted.insert(truth.accepted.end(), truth.otherwise.begin(), truth.otherwise.end());
}

}  // namespace rapideye::scenarios
