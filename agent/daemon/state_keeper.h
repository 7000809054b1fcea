// StateKeeper writes the state that the agent leaves for the next one, off the agent's own thread.
#ifndef RAPIDEYE_AGENT_DAEMON_STATE_KEEPER_H_
#define RAPIDEYE_AGENT_DAEMON_STATE_KEEPER_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "agent/core/restored_state.h"
#include "agent/daemon/state_file.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

// Owned and called by one thread. A disk that fails is logged once, and tried
// again with the next state; one that hangs delays its caller by at most
// kStatePatience.
class StateKeeper {
 public:
  explicit StateKeeper(StateFile file);
  // Waits until the last state is written.
  ~StateKeeper();
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // The state that an earlier agent left; absent if it cannot be used, with a
  // line in the log that says why.
  static std::optional<SavedState> Load(const StateFile& file);

  // Writes this state; it replaces one that still waits.
  void Keep(SavedState state);

 private:
  struct Writer;
  const std::shared_ptr<Writer> writer_;  // with the thread, which may outlive this
  Worker worker_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_STATE_KEEPER_H_
