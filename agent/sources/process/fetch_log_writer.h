// Finds the training process by its log, which is its standard output or standard error.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_LOG_WRITER_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_LOG_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/sources/process/parse.h"

namespace rapideye::agent {

// A process that has the log as descriptor 1 or 2, itself or through a pipe to `tee`.
struct LogWriter {
  ProcessStat stat;
  int64_t threads = 0;
  bool has_chips = false;
};

// Chooses the writer that trains: children inherit a log, and launchers have it, too. Processes
// with open chips come first, shells and launchers last. A process comes before its children,
// unless a child has far more threads and has used more CPU time: then the process is a launcher
// that is a Python program. Of several ranks of one log, the rank that has used most CPU time.
// Absent: there are no writers.
std::optional<ProcessStat> ChooseTraining(const std::vector<LogWriter>& writers);

// Searches all processes, within a deadline. `logs`: paths or shell patterns. Other
// descriptors do not count: a launcher that collects the logs of its ranks has them open.
std::vector<LogWriter> FindLogWriters(const std::string& proc_root, const std::string& dev_root,
                                      const std::vector<std::string>& logs);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_LOG_WRITER_H_
