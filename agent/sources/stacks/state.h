// Stacks of the training process: when they are taken, and for how long they hold.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/host_sample.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// They are asked for once per incident, when a coordinator first collects for it, and
// not again too soon, whatever it is called. The first look does not wait for them; a
// later one does, no longer than they may take.
class StacksState {
 public:
  // A coordinator collects for this incident.
  void Collected(const std::string& incident, absl::Duration now);
  // True once per incident: the look that begins now is to ask for them.
  bool Ask(absl::Duration now);
  void Observe(const StackReading& reading);
  // A later look of the incident may wait for them.
  bool WorthWaiting(absl::Duration now) const;
  // When that is over. Only if WorthWaiting.
  absl::Duration wait_until() const { return wait_until_; }
  // The job has advanced, or there is another process: they are no more.
  void Forget();

  void Describe(Snapshot& snapshot) const { snapshot.stacks = stacks_; }

 private:
  std::optional<std::string> incident_;
  bool wanted_ = false;      // not asked for yet
  bool coming_ = false;      // asked for, and not there yet
  bool later_look_ = false;  // the incident is collected for again
  absl::Duration wait_until_;
  absl::Duration next_ask_ = -absl::InfiniteDuration();
  std::vector<Stack> stacks_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_
