// JobIncarnation distinguishes a job that restarted from one that goes on.
//
// Each worker shows a key: the job incarnation that its platform states (the
// same on all workers), otherwise the incarnation of its training process. The
// job has restarted once more than half of its workers show another key than
// before: a single process that came back, or a single agent that lies, does not
// restart the job.
#ifndef RAPIDEYE_COORDINATOR_CORE_JOB_INCARNATION_H_
#define RAPIDEYE_COORDINATOR_CORE_JOB_INCARNATION_H_

#include <map>
#include <optional>
#include <string>

#include "coordinator/core/host_votes.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

class JobIncarnation {
 public:
  // A worker showed its key. True if the job has thereby restarted, since most workers, and
  // workers of most hosts, have another key: then nothing learnt or pending from before counts
  // any more.
  bool Observe(const WorkerId& worker, const std::string& key, bool given,
               const HostVotes& hosts = HostVotes());

  // True if the worker belongs to an earlier incarnation: it has not restarted
  // while most others have. Rejoin takes it back once it completes launches.
  bool Left(const WorkerId& worker) const { return left_.contains(worker); }
  void Rejoin(const WorkerId& worker);
  // The job goes on without this worker: its key no longer counts among those of the job.
  void Forget(const WorkerId& worker);

  // The platform's job incarnation that the worker last stated, in any incarnation;
  // absent if it stated none.
  std::optional<std::string> LastGiven(const WorkerId& worker) const;

  // The key of a worker in this incarnation; absent for a worker of an earlier one.
  std::optional<std::string> KeyOf(const WorkerId& worker) const;

  // The id that the platform states, otherwise one derived from the lowest worker's
  // process, so that a coordinator that restarts finds the same. Absent while no
  // worker has shown a key.
  std::optional<std::string> Id() const;

 private:
  struct Key {
    std::string text;
    bool given = false;
  };
  static double VotesOf(const std::map<WorkerId, Key>& keys, const HostVotes& hosts);

  std::map<WorkerId, Key> current_;  // of this incarnation
  std::map<WorkerId, Key> ahead_;    // changed since, not yet the majority
  std::map<WorkerId, Key> left_;     // still with the key of an earlier one
  // True once any worker stated the platform's incarnation: until then Id need not search
  // a thousand workers for it.
  bool ever_given_ = false;
};

// 64 bits of `text`, the same in every process and release (FNV-1a): for names
// of incidents and incarnations, never for security.
uint64_t StableHash(const std::string& text);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_JOB_INCARNATION_H_
