// Processes of which one may be the training process, and which of them trains.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_CANDIDATES_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_CANDIDATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/sources/process/parse.h"

namespace rapideye::agent {

struct Candidate {
  ProcessStat stat;
  int64_t threads = 0;  // those that have used CPU time
  bool has_chips = false;
};

// The candidate with this number and state, with its threads and chips.
Candidate LookAtCandidate(const std::string& proc_root, const std::string& dev_root,
                          const ProcessStat& stat);

// True for programs that start another one and wait for it: shells, launchers of ranks, tools that
// prepare an environment. `command`: the name that the kernel shows.
bool IsLauncher(absl::string_view command);

// Chooses the one that trains: children inherit a log, and launchers have it, too. Processes with
// open chips come first, shells and launchers last. A process comes before its children, unless a
// child has far more threads and has used more CPU time: then the process is a launcher that is a
// Python program. Of several ranks, the rank that has used most CPU time. Absent: there are none.
std::optional<ProcessStat> ChooseTraining(const std::vector<Candidate>& candidates);

// The processes that a process has started, and those that these have started, as far as they have
// done work: `sleep` in a script has not. Launchers among them are left out: their children count
// as their parents'.
std::vector<Candidate> FindStarted(const std::string& proc_root, const std::string& dev_root,
                                   int64_t pid);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_CANDIDATES_H_
