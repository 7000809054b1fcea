// Decide decides whether a machine that an incident named is removed from the fleet. Pure.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_POLICY_POLICY_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_POLICY_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

// Limits set by the operator. The defaults prefer keeping a bad machine to removing a
// good one.
struct Policy {
  RemovalMode mode = RemovalMode::kDryRun;

  // Repetition: more than so many hang events on the same hardware in the window.
  int64_t repetitions = 3;
  absl::Duration window = absl::Hours(30 * 24);
  // Host names are never reused: they then identify a machine of unknown hardware.
  bool stable_names = false;

  // Budgets. A share allows one machine at least.
  int64_t max_hosts_an_hour = 2;
  int64_t max_slices_a_day = 2;  // a removal costs the slices that stand on its machine
  double max_share_of_job = 0.05;
  double max_share_of_fleet = 0.02;
  // Machines in the fleet; absent: as many as the largest job in the window had.
  std::optional<int64_t> fleet_hosts;

  // A removal that has not begun this long after its incident expires.
  absl::Duration decision_lifetime = absl::Hours(6);

  // Hosts (with or without their domain), nodes or hardware, whatever their case; * stands
  // for any text, ? for a character. What is denied is never removed; unless `allow` is
  // empty, nothing else than what it names is.
  std::vector<std::string> allow;
  std::vector<std::string> deny;
};

// The earliest time that `facts` must cover for a decision at `now`.
absl::Time FactsSince(const Policy& policy, absl::Time now);

// Why a machine must not be removed, whatever the evidence: its name cannot belong to one
// machine only, or the lists do not allow it.
struct Objection {
  std::string rule;
  std::string reason;  // for people, after "but"
};
std::optional<Objection> ObjectionTo(const Finding& finding, const Policy& policy);

// Pure: the same arguments give the same decision, whatever the order of what is in
// `facts`. Watch: the evidence does not suffice. Refuse: it does, and something stands
// against removing. A finding that its own removal is among `facts` is not decided
// about again: the caller knows which were.
Decision Decide(const Finding& finding, const Facts& facts, const Policy& policy, absl::Time now);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_POLICY_POLICY_H_
