// The probe plan decides which worker probes which other one during a hang.
#ifndef RAPIDEYE_COORDINATOR_CORE_PROBE_PLAN_H_
#define RAPIDEYE_COORDINATOR_CORE_PROBE_PLAN_H_

#include <map>
#include <vector>

#include "coordinator/core/address_book.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// One probe: one worker knocks at another, by one NIC.
struct PlannedProbe {
  WorkerId prober;
  wire::ProbeTarget target;
  // True for a comparison: neither of the two workers is suspect.
  bool control = false;
  friend bool operator==(const PlannedProbe&, const PlannedProbe&) = default;
};

// The suspects after the first round.
struct Suspects {
  const std::map<WorkerId, Snapshot>& snapshots;  // of the workers that answered
  const std::vector<ExpectedWorker>& expected;
  const AddressBook& addresses;
  // The job stands still: cores may wait for another slice, although no connection
  // looks suspect. False: the job may well be healthy, and is not probed unless something
  // is wrong.
  bool stands_still = true;
};

// Suspect are workers that did not answer, connections that deliver nothing, and, where
// neither is to be seen, a few of the workers at the rarest positions, with their
// neighbours in other slices. Missing workers are probed by three others,
// connections from both ends and by two bystanders, who also probe each other: so a
// host that is unreachable is distinguished from a link, and a network that carries no probes at
// all from both.
//
// At most kMaxProbes probes of kMaxProbers workers, wire::ProbeRequest::kMaxTargets each, however
// large the job and however much of it is suspect: the most telling probes come first. A
// worker is probed only by addresses that its own agent has given, and only by NICs that
// both hosts have.
std::vector<PlannedProbe> PlanProbes(const Suspects& suspects);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_PROBE_PLAN_H_
