// Reads the progress page that the training loop writes (agent/progress).
#ifndef RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_FETCH_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "agent/sources/progress_page/parse.h"
#include "agent/sources/progress_page/state.h"

namespace rapideye::agent {

// Not synchronised. Never maps the file: shortening it would end the agent.
class ProgressPageReader {
 public:
  // `proc_root` is normally "/proc".
  ProgressPageReader(std::string path, std::string proc_root);

  // A handful of system calls. A page whose writer has ended is ignored: a writer
  // lives while its lock is held, or while a process has its number and start time.
  ProgressReading Read();

 private:
  // Errors as ParseProgressPage; UNAVAILABLE: the file cannot be read.
  absl::StatusOr<ProgressSample> ReadFile();
  absl::StatusOr<ProgressPage> ReadPage(int descriptor, size_t file_bytes) const;
  // True if the page can be the writer's own, and not another user's trap.
  bool IsOfWriter(uid_t owner, const ProcessId& writer) const;
  bool Lives(int descriptor, const ProcessId& writer) const;

  const std::string path_;
  const std::string proc_root_;
  PageReader reader_;  // without its time
  std::string given_up_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_FETCH_H_
