// What the training loop last said of itself.
#ifndef RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_STATE_H_

#include <optional>

#include "absl/time/time.h"
#include "agent/core/host_sample.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// It is in a phase in which a loop may rightly launch nothing for long.
bool AnnouncesPause(const std::optional<Progress>& progress);

class ProgressPageState {
 public:
  // What a reading without progress said before holds no longer: whoever wrote it is
  // gone, or cannot be understood.
  void Observe(const ProgressReading& reading, absl::Duration now);

  // As above, of what it last said.
  bool AnnouncesPause() const;

  // As it is now: ages have grown since the look.
  std::optional<Progress> Describe(absl::Duration now) const;

 private:
  std::optional<ProgressSample> last_;
  absl::Duration seen_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_STATE_H_
