// What an agent leaves on disk for the next one, as bytes and as a file.
//
//   <state-dir>/<job>-<slice>-<task>/state
//
// One line that says what follows, then messages as they would have gone to the
// coordinator: a Hello, error counters of the chips, a snapshot, alarms. They are read
// with the same checks: whoever can write here is no more trusted than a peer.
#ifndef RAPIDEYE_AGENT_DAEMON_STATE_FILE_H_
#define RAPIDEYE_AGENT_DAEMON_STATE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/core/restored_state.h"

namespace rapideye::agent {

// `boot` is of the host's present boot: times mean nothing in another one.
std::string EncodeState(const SavedState& state, const std::string& boot);
// INVALID_ARGUMENT if it is not what EncodeState writes, whole and unchanged;
// FAILED_PRECONDITION if it is of another boot or version: no fault of anybody's.
absl::StatusOr<SavedState> DecodeState(std::string_view bytes, const std::string& boot);

// The number of the present boot; empty if the host does not show it.
std::string BootId();

class StateFile {
 public:
  // In a directory of its own below `state_dir`, for this worker.
  StateFile(const std::string& state_dir, const wire::Hello& hello);

  const std::string& path() const { return path_; }

  // Nothing if there is no file, or none for this boot. INVALID_ARGUMENT names what
  // is wrong with one.
  absl::StatusOr<std::optional<SavedState>> Load() const;
  // Replaces the file as a whole, synced; or removes it if there is nothing to keep.
  absl::Status Save(const SavedState& state) const;

 private:
  std::string directory_;
  std::string path_;
  std::string boot_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_STATE_FILE_H_
