// Finds the training process by its log, which is its standard output or standard error.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_LOG_WRITER_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_LOG_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/sources/process/fetch_candidates.h"

namespace rapideye::agent {

// The processes that have the log as descriptor 1 or 2, themselves or through a pipe to `tee`:
// searches all processes, within a deadline. `logs`: paths or shell patterns. Other descriptors do
// not count: a launcher that collects the logs of its ranks has them open.
std::vector<Candidate> FindLogWriters(const std::string& proc_root, const std::string& dev_root,
                                      const std::vector<std::string>& logs);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_LOG_WRITER_H_
