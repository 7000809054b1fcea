// StateFile stores the state of an agent for the next one of the same worker. May block.
//
//   <state-dir>/<job>-<slice>-<task>/state
//
// The file is a line with its format, then messages as they would have gone to the
// coordinator: a Hello, a snapshot, alarms. They are read with the same checks: the writer of
// the file is no more trusted than a peer. File and directory are used only if no other user can
// have written them (proto/common/file/trusted_directory.h).
#ifndef RAPIDEYE_AGENT_DAEMON_STATE_FILE_H_
#define RAPIDEYE_AGENT_DAEMON_STATE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/core/restored_state.h"
#include "proto/common/secrets/redactor.h"

namespace rapideye::agent {

// `boot` identifies the host's present boot: times are not comparable with another one.
std::string EncodeState(const SavedState& state, const std::string& boot,
                        const secrets::Redactor& redactor = {});
// INVALID_ARGUMENT if it is not what EncodeState writes, whole and unchanged;
// FAILED_PRECONDITION if it is of another boot or version, which is no fault.
absl::StatusOr<SavedState> DecodeState(std::string_view bytes, const std::string& boot);

// The number of the present boot; empty if the host does not show it.
std::string BootId();

class StateFile {
 public:
  // In a directory of its own below `state_dir`, for this worker.
  // Its texts are redacted.
  StateFile(const std::string& state_dir, const wire::Hello& hello,
            secrets::Redactor redactor = {});

  const std::string& path() const { return path_; }

  // The state; absent if there is no file, or none for this boot. INVALID_ARGUMENT names the
  // problem of a file, PERMISSION_DENIED who else may have written it.
  absl::StatusOr<std::optional<SavedState>> Load() const;
  // Replaces the file as a whole, synced; or removes it if there is nothing to keep.
  absl::Status Save(const SavedState& state) const;

 private:
  std::string directory_;
  std::string path_;
  std::string boot_;
  secrets::Redactor redactor_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_STATE_FILE_H_
