// RestartRecovery decides which incident of an earlier coordinator still lasts, by the memory of
// agents and by the files on disk.
//
// After a restart the coordinator knows only the files on disk. Its agents, which
// are untrusted, report whether the present hang was already collected, or its
// digest already written.
#ifndef RAPIDEYE_COORDINATOR_CORE_RESTART_RECOVERY_H_
#define RAPIDEYE_COORDINATOR_CORE_RESTART_RECOVERY_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/host_votes.h"
#include "coordinator/core/job_status.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// One vote per connected worker, cast by its Hello. It counts once a heartbeat
// has shown that the worker still runs the process which the memory is about, and
// is void as soon as a launch completes there.
//
// The rule: the memory of more than half of all connected workers decides, where the workers of
// one host count as one together (HostVotes). One host that lies, or a few that were away while the
// others saw an incident, can neither suppress a digest nor double it. A worker that has just left
// counts as connected for kSettleTime, with its vote: otherwise whoever is connected while the
// others come back would decide alone. Agents that cannot remember (protocol 1) count as agents
// without a memory: at worst a hang gets two digests.
class RestartRecovery {
 public:
  // The worker's agent said Hello on a new stream.
  void OnHello(const WorkerId& worker, const std::optional<wire::IncidentMemory>& memory,
               const std::string& host);
  // `advanced`: launches have completed on it since its last heartbeat.
  void OnHeartbeat(const WorkerId& worker, const wire::Heartbeat& heartbeat, bool advanced);
  void OnLeave(const WorkerId& worker, absl::Duration now);
  // Forgets the workers that left too long ago to count. `now` is monotonic time.
  void Follow(absl::Duration now);
  // Forgets what agents remember.
  void Clear() { votes_.clear(); }

  // Sets the incidents that earlier coordinators have left on disk.
  // `unknown`: those whose digest says UNKNOWN; `verdicts`: what the digests of the newest say.
  void OnDisk(std::vector<std::string> incidents, std::vector<std::string> unknown,
              std::map<std::string, ToldVerdict> verdicts = {});
  // The verdict of the digest on disk; nullopt: not known.
  std::optional<ToldVerdict> VerdictOn(const std::string& incident) const;
  // True if the digest on disk says UNKNOWN.
  bool IsUnknown(const std::string& incident) const { return unknown_.contains(incident); }
  // The incident's digest could not be read: it counts as not written.
  void OnUnreadable(const std::string& incident) { on_disk_.erase(incident); }

  // True if at least one agent remembers an incident; false: there is nothing to wait for.
  bool Any() const { return !votes_.empty(); }

  struct Decision {
    std::string incident;
    // False: heartbeats are yet to show that these memories still hold.
    bool confirmed = false;
    // True: most agents remember the incident as concluded; false: as begun.
    bool concluded = false;
    bool written = false;  // it is on disk
  };
  // The incident that more than half of the connected workers remember; nullopt if there is none.
  std::optional<Decision> Decide() const;
  // True while agents may yet report that an alarm belongs to an earlier coordinator's incident.
  // `settled`: all agents have been there once, or had the time to come.
  bool MayDecide(bool settled) const;

 private:
  struct Vote {
    wire::IncidentMemory memory;
    bool confirmed = false;  // by a heartbeat
  };
  std::map<WorkerId, Vote> votes_;
  HostVotes hosts_;                          // of those that count as connected
  std::map<WorkerId, absl::Duration> left_;  // those of them that are not, and since when
  std::set<std::string> on_disk_;
  std::set<std::string> unknown_;
  std::map<std::string, ToldVerdict> verdicts_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_RESTART_RECOVERY_H_
