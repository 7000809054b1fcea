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

// One machine (or several, by patterns) on which the platform runs jobs of a tenant.
struct TenantMachine {
  std::string role;                // of the tenant's coordinators, in the fleet history
  std::vector<std::string> names;  // its host, node, hardware; any case, with * and ?
};

// Limits set by the operator. The defaults prefer keeping a bad machine to removing a
// good one.
struct Policy {
  RemovalMode mode = RemovalMode::kDryRun;

  // Repetition: more hang events than this on the same hardware in the window.
  int64_t repetitions = 3;
  absl::Duration window = absl::Hours(30 * 24);
  // True: host names are never reused, and so identify a machine of unknown hardware.
  bool stable_names = false;

  // Budgets. A share of the fleet allows one machine at least.
  int64_t max_hosts_an_hour = 2;
  int64_t max_slices_a_day = 2;  // a removal costs the slices that stand on its machine
  double max_share_of_job = 0.05;
  double max_share_of_fleet = 0.02;
  // Machines in the fleet; absent: as many as the largest job in the window had.
  std::optional<int64_t> fleet_hosts;

  // The history keeps rows that are younger than this. Longer than the window.
  absl::Duration retention = absl::Hours(400 * 24);

  // A removal that has not begun this long after its incident expires.
  absl::Duration decision_lifetime = absl::Hours(6);

  // Hosts (with or without their domain), nodes or hardware, in any case; * stands for any text,
  // ? for a character. A machine that `deny` names is never removed; unless `allow` is empty,
  // only machines that it names are.
  std::vector<std::string> allow;
  std::vector<std::string> deny;

  // Machines about which a role that does not own the history is believed; its findings about
  // others do not count. Only the owner's word removes a machine at once.
  std::vector<TenantMachine> tenant_machines;
};

// True if the role that recorded the finding may accuse its machine: the history's owner, or a role
// for which one line of `tenant_machines` has every name that the finding gives to the machine.
bool MayAccuse(const Finding& finding, const Policy& policy);

// The earliest time that `facts` must cover for a decision at `now`.
absl::Time FactsSince(const Policy& policy, absl::Time now);

// The reason why a machine must not be removed, whatever the evidence: its name cannot belong to
// one machine only, or the lists do not allow the removal.
struct Objection {
  std::string rule;
  std::string reason;  // for people, after "but"
};
std::optional<Objection> ObjectionTo(const Finding& finding, const Policy& policy);

// Pure: the same arguments give the same decision, in whatever order `facts` lists them. Watch:
// the evidence does not suffice. Refuse: the evidence suffices, but a rule stands against the
// removal. A finding whose own removal is among `facts` is not decided about again: the
// caller knows which findings were.
Decision Decide(const Finding& finding, const Facts& facts, const Policy& policy, absl::Time now);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_POLICY_POLICY_H_
