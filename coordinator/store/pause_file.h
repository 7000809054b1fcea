// PauseFile keeps an announced pause of the watch for the coordinator that comes next.
#ifndef RAPIDEYE_COORDINATOR_STORE_PAUSE_FILE_H_
#define RAPIDEYE_COORDINATOR_STORE_PAUSE_FILE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/core/job_status.h"
#include "coordinator/store/disk.h"
#include "proto/common/worker/worker.h"

namespace rapideye::coordinator {

// The file's text and back. ParsePause: INVALID_ARGUMENT if another program wrote it.
std::string PauseText(const KeptPause& pause);
absl::StatusOr<KeptPause> ParsePause(const std::string& text);

// The pause that the state directory holds; nullopt if there is none. A file that cannot be
// read is logged, and counts as none.
std::optional<KeptPause> ReadPause(const std::string& state_dir, Disk& disk);

// Writes on a thread of its own: a disk that hangs delays no caller. A write that fails is
// logged.
class PauseFile {
 public:
  // `disk` outlives the process.
  PauseFile(const std::string& state_dir, Disk* disk);
  ~PauseFile();

  // Replaces the content of the file; nullopt removes it.
  void Write(std::optional<KeptPause> pause);

 private:
  const std::string state_dir_;
  Disk* const disk_;
  Worker worker_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_PAUSE_FILE_H_
