// Decides which incident of an earlier coordinator still lasts: by what agents remember of
// it, and by what lies on disk.
//
// A coordinator keeps nothing of a hang but what is on disk. That the hang it
// sees is one that was already collected, or told of, it learns from its agents;
// and agents are untrusted.
#ifndef RAPIDEYE_COORDINATOR_CORE_RESTART_RECOVERY_H_
#define RAPIDEYE_COORDINATOR_CORE_RESTART_RECOVERY_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// One vote per connected worker, cast by its Hello. It counts once a heartbeat
// has shown that the worker still runs the process which the memory is about, and
// is void as soon as a launch completes there.
//
// The rule: what more than half of all connected workers remember is so. One
// agent that lies, or a few that were away while the rest saw an incident, neither
// suppress a digest nor double one. Agents that cannot remember (protocol 1) are
// counted as remembering nothing: at worst a hang is told of twice.
class RestartRecovery {
 public:
  // The worker's agent said Hello on a new stream.
  void OnHello(const WorkerId& worker, const std::optional<wire::IncidentMemory>& memory);
  // `advanced`: launches have completed on it since its last heartbeat.
  void OnHeartbeat(const WorkerId& worker, const wire::Heartbeat& heartbeat, bool advanced);
  void OnLeave(const WorkerId& worker) { votes_.erase(worker); }
  // Forgets what agents remember.
  void Clear() { votes_.clear(); }

  // What earlier coordinators have left on disk.
  void OnDisk(std::vector<std::string> incidents);
  // The incident's digest could not be read: it counts as not written.
  void OnUnreadable(const std::string& incident) { on_disk_.erase(incident); }

  // False: nobody remembers anything, and nothing needs to be waited for.
  bool Any() const { return !votes_.empty(); }

  struct Decision {
    std::string incident;
    // False: heartbeats are yet to show that these memories still hold.
    bool confirmed = false;
    // So say most; otherwise most say that it was begun at least.
    bool concluded = false;
    bool written = false;  // it is on disk
  };
  // What more than half of `connected` workers remember; nullopt if there is
  // nothing of that kind.
  std::optional<Decision> Decide(size_t connected) const;
  // True while agents may yet tell that an alarm belongs to such an incident. `settled`: all
  // agents have been there once, or had the time to come.
  bool MayDecide(bool settled, size_t connected) const;

 private:
  struct Vote {
    wire::IncidentMemory memory;
    bool confirmed = false;  // by a heartbeat
  };
  std::map<WorkerId, Vote> votes_;
  std::set<std::string> on_disk_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_RESTART_RECOVERY_H_
