// LearntFile keeps the learnt pauses of the job for the next coordinator.
#ifndef RAPIDEYE_COORDINATOR_STORE_LEARNT_FILE_H_
#define RAPIDEYE_COORDINATOR_STORE_LEARNT_FILE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/core/learning.h"
#include "coordinator/store/disk.h"
#include "proto/common/worker/worker.h"

namespace rapideye::coordinator {

// The file's text and back. ParseLearnt: INVALID_ARGUMENT if another program wrote it, or a
// length is none of a pause.
std::string LearntText(const KeptPauses& pauses);
absl::StatusOr<KeptPauses> ParseLearnt(const std::string& text);

// The pauses that the state directory holds; nullopt if there are none. A file that cannot be
// read is logged, and counts as none.
std::optional<KeptPauses> ReadLearnt(const std::string& state_dir, Disk& disk);

// Writes on a thread of its own: a disk that hangs delays no caller. A write that fails is
// logged.
class LearntFile {
 public:
  // `disk` outlives the process.
  LearntFile(const std::string& state_dir, Disk* disk);
  ~LearntFile();

  // Replaces the content of the file.
  void Write(KeptPauses pauses);

 private:
  const std::string state_dir_;
  Disk* const disk_;
  Worker worker_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_LEARNT_FILE_H_
