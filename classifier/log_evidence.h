// LogEvidence holds what the logs of a job show beyond the lines that are recognised in them:
// who fell silent, who waits for others, who repeats itself. Plain values.
#ifndef RAPIDEYE_CLASSIFIER_LOG_EVIDENCE_H_
#define RAPIDEYE_CLASSIFIER_LOG_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye {

// What a log says of others. Each is the first such line; empty: there is none. What the
// worker made steps after is left out.
struct LogComplaints {
  std::string peer_gone;    // a connection to a peer was closed or reset
  std::string leader_gone;  // the coordination service does not answer
  std::string timed_out;    // a wait for others ended by its time-out
  std::string by_service;   // the coordination service said that somebody failed

  bool OfOwn() const { return !peer_gone.empty() || !leader_gone.empty() || !timed_out.empty(); }
  bool Any() const { return OfOwn() || !by_service.empty(); }
};

// The log of one worker, which may be several files.
struct WorkerLog {
  WorkerId worker;
  // Before the last line of all logs; absent: its lines have no times.
  std::optional<int64_t> last_line_ms;
  std::string last_line;
  std::optional<int64_t> step;
  // Since the line that told it, and the longest time between two such lines.
  std::optional<int64_t> step_ms;
  std::optional<int64_t> longest_step_ms;
  LogComplaints complaints;
  bool told_to_stop = false;  // a SIGTERM was caught, and no step was made after it
  std::string said_end;       // a line that says that the run has ended well; empty: none
  // A line of tries that fail, which ends the log and stands in it so often.
  std::string retried;
  int64_t retries = 0;
};

struct LogEvidence {
  std::vector<WorkerLog> workers;  // by worker; only those that have a log
  // Errors in lines of which nothing tells whose they are, by their own hand.
  std::vector<std::string> of_nobody;
};

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_LOG_EVIDENCE_H_
