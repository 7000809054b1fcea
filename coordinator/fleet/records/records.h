// Records of the fleet history are plain values.
//
// Times are the history's own (fleet_clock.h) unless a member says otherwise.
// Every string may come from a peer; the history bounds it when it stores it.
#ifndef RAPIDEYE_COORDINATOR_FLEET_RECORDS_RECORDS_H_
#define RAPIDEYE_COORDINATOR_FLEET_RECORDS_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// The removal that a finding allows by itself, without any history.
enum class Grounds {
  kNever,       // software, input, a link whose bad end is not known: only watched
  kRepetition,  // eligible if it repeats on the same machine
  kDirect,      // evidence from beyond the job's reach: eligible at once
};
std::string_view GroundsName(Grounds grounds);  // "never" "repetition" "direct"
// An unknown name, written by a newer program, is the weakest: kNever.
Grounds GroundsNamed(std::string_view name);
// The strongest part of `claimed` that a cause (CauseName) and its detail (DetailName) allow
// (classifier/CAUSES.md, "Removal"). An unknown cause allows nothing.
Grounds GroundsAllowed(std::string_view cause, std::string_view detail, Grounds claimed);

enum class RemovalMode { kOff, kDryRun, kEnforce };
std::string_view RemovalModeName(RemovalMode mode);  // "off" "dry-run" "enforce"
std::optional<RemovalMode> RemovalModeNamed(std::string_view name);

// The key of a machine in the history: its hardware; if the hardware is not known, or is a
// placeholder that many machines share ("0", "unknown"), the host name, which a replacement may
// bear, too.
std::string MachineKey(const std::optional<std::string>& hardware, const std::string& host);
bool KnownByNameOnly(std::string_view machine_key);

// The key of one digest of an incident in histories and journals: the incident's id, for a later
// digest with its number ("20261120T124419Z-5dc4d1c8-r2"), because rows of a history are only ever
// added, and because hooks run again.
std::string IncidentKey(const std::string& id, int64_t revision);
struct IncidentOfKey {
  std::string id;
  int64_t revision = 1;
};
// Takes a text that is no such key for an id.
IncidentOfKey ParseIncidentKey(const std::string& key);

// One culprit of an incident.
struct CulpritRecord {
  std::string machine;  // MachineKey
  std::optional<std::string> hardware;
  std::string host;
  std::optional<std::string> node;
  std::optional<int64_t> chip;
  std::string core_type;  // as in the capture; empty: no core
  std::optional<int64_t> core_index;
  std::optional<std::string> nic;
  Grounds grounds = Grounds::kNever;
  int64_t slice = 0;
  int64_t task = 0;
  // The place of the culprit's machine: the coordinate of the first worker there, of which a host
  // may have several. Absent: the machine has only this worker.
  std::optional<int64_t> home_slice = {};
  std::optional<int64_t> home_task = {};
  // The program that the culprit ran; absent if not known.
  std::optional<std::string> module;
  std::optional<std::string> fingerprint;
};

// One incident: a verdict as the fleet remembers it.
struct IncidentRecord {
  std::string id;  // IncidentKey
  std::string job;
  std::string incarnation;  // of the job; empty: not known
  std::string cause;        // CauseName
  std::string detail;       // DetailName, may be empty
  double confidence = 0;
  absl::Time detected;  // by the coordinator's clock
  int64_t hosts = 0;    // machines of the job
  int64_t slices = 0;
  std::vector<CulpritRecord> culprits;
  std::string digest;  // JSON for hooks; may be empty
};

// A culprit as policy sees it: one machine in one incident at one coordinate.
struct HangEvent {
  std::string incident;
  std::string machine;
  Grounds grounds = Grounds::kNever;
  std::string cause;
  std::string detail;
  std::string job;
  int64_t slice = 0;
  int64_t task = 0;
  std::optional<int64_t> home_slice = {};  // as in CulpritRecord
  std::optional<int64_t> home_task = {};
  std::optional<std::string> fingerprint;
  absl::Time at;

  friend bool operator==(const HangEvent&, const HangEvent&) = default;
};

// All culprits of one incident on one machine: the subject of a decision.
struct Finding {
  std::string incident;
  std::string job;
  std::string cause;
  std::string detail;
  absl::Time at;
  // The role of the database that recorded the finding; empty: the history's owner, the only role
  // whose claims are believed as they are.
  std::string recorded_by = {};
  int64_t job_hosts = 0;
  std::string machine;
  std::string host;
  std::optional<std::string> node;
  // Every host, node and hardware name that its culprits give the machine; ascending.
  std::vector<std::string> names = {};
  bool key_fits = true;               // the machine is the MachineKey of each of its culprits
  Grounds grounds = Grounds::kNever;  // the strongest of its culprits'
  std::vector<int64_t> chips;         // ascending
  std::vector<std::string> nics;      // ascending
  std::vector<int64_t> slices;        // that stand because of the machine; ascending
};

enum class Action { kRemove, kWatch, kRefuse };
std::string_view ActionName(Action action);  // "remove" "watch" "refuse"

// The decision of the policy about a finding.
struct Decision {
  Action action = Action::kWatch;
  // For programs: the part of the policy that decided, such as "repetition".
  std::string rule;
  std::string reason;       // one sentence for people
  absl::Time expires;       // a removal not begun by then is not carried out
  bool budget_hit = false;  // stops all removals until an operator allows them again
};

// The decision about one machine of an incident.
struct MachineDecision {
  std::string machine;
  std::string host;
  std::string action;  // ActionName
  std::string rule;
  std::string reason;
};

// A removal that was decided on, in the same mode or a stricter one.
struct PastRemoval {
  std::string incident;
  std::string machine;
  std::string job;
  std::vector<int64_t> slices;
  absl::Time decided;
  // False once the machine is back (repaired and forgotten), or if no hook ever began: such a
  // removal costs the fleet nothing any more, but was a removal.
  bool standing = true;
  // No hook succeeded, and none is tried any more: the removal may be decided on anew. The machine
  // may be out all the same.
  bool given_up = false;
  // The time when its first hook began, perhaps hours after the decision; InfiniteFuture: no hook
  // has begun yet. Absent: a dry run, or no hook ever began.
  std::optional<absl::Time> begun = {};
  std::string recorded_by = {};  // as in Finding
};

struct Breaker {
  bool open = false;  // no removals
  std::string reason;
  absl::Time since;
  std::string who;  // the operator who closed it
};

// All facts in the history that bear on one finding. Events, names and the size of a job come from
// rows that the finding's own role or the history's owner recorded.
struct Facts {
  // Events of the machine since it was last forgotten; those of other machines at the coordinates
  // where it failed, and in the incidents in which it did.
  std::vector<HangEvent> events;
  bool all_events = true;  // false: there are more than kMaxEventsPerDecision
  std::vector<PastRemoval> removals;
  // The time of the machine's last repair; earlier findings say nothing of it.
  std::optional<absl::Time> forgotten;
  // Another machine that a later incident found under this machine's name.
  std::optional<std::string> name_taken_by;
  Breaker breaker;                // of the fleet if it is open, otherwise of the finding's role
  int64_t largest_job_hosts = 0;  // the fleet has at least so many
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_RECORDS_RECORDS_H_
