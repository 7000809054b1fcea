// Finds the process that writes the training log.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_WRITER_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rapideye::agent {

// The number of the process that has one of the files open for writing: of a family the first,
// and whoever feeds it where it only passes on its standard input (`train | tee LOG`). Absent:
// nobody writes them, none that may be looked into, or several that have nothing to do with each
// other. `patterns` are paths or shell patterns. Searches all descriptors of all processes that
// may be looked into, within a deadline.
std::optional<int64_t> FindLogWriter(const std::string& proc_root,
                                     const std::vector<std::string>& patterns);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_WRITER_H_
