// LogEvidence holds the facts that the logs of a job show beyond the recognised lines:
// silent workers, waits for others, repeated tries. Plain values.
#ifndef RAPIDEYE_CLASSIFIER_VERDICT_LOG_EVIDENCE_H_
#define RAPIDEYE_CLASSIFIER_VERDICT_LOG_EVIDENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye {

// The complaints of a log about other workers. Each is the first such line; empty: none. Leaves
// out complaints after which the worker made further steps.
struct LogComplaints {
  std::string peer_gone;    // a connection to a peer was closed or reset
  std::string leader_gone;  // the coordination service cannot be reached
  // A call to the coordination service had no answer in time, although nothing broke its
  // connection: a process that has ended, or its kernel, answers at once.
  std::string leader_silent;
  std::string timed_out;   // a wait for others ended by its time-out
  std::string by_service;  // the coordination service said that a task failed

  bool OfLeader() const { return !leader_gone.empty() || !leader_silent.empty(); }
  bool OfOwn() const { return !peer_gone.empty() || OfLeader() || !timed_out.empty(); }
  bool Any() const { return OfOwn() || !by_service.empty(); }
};

// A collective that a watchdog ended, as its rank counts them. The ranks of one group count alike.
struct NumberedCollective {
  std::string group{};                   // empty: not told
  std::optional<int64_t> number{};       // absent: none has timed out on this rank
  std::string operation{};               // "ALLREDUCE"; empty: not told
  std::optional<int64_t> elements{};     // of its input
  std::optional<int64_t> last_queued{};  // the number of the last collective that the rank queued

  friend bool operator==(const NumberedCollective&, const NumberedCollective&) = default;
};

// The log of one worker, which may be several files.
struct WorkerLog {
  WorkerId worker;
  // Time from the last line to the end of all logs; absent: the log's lines have no times.
  std::optional<int64_t> last_line_ms;
  std::string last_line;
  std::optional<int64_t> step;
  // Time since the line with that step, and the longest time between two such lines.
  std::optional<int64_t> step_ms;
  std::optional<int64_t> longest_step_ms;
  std::vector<int64_t> step_ages_ms;  // of the lines with the last steps, oldest first
  LogComplaints complaints;
  bool told_to_stop = false;  // a SIGTERM was caught, and no step was made after it
  std::string preempted;      // the platform's word that it takes a machine back; empty: none
  std::string said_end;       // a line that says that the run has ended well; empty: none
  // Python's line on a thread that an exception ended, while the process lived on; empty: none, or
  // steps were made after it.
  std::string thread_died;
  Stack dead_thread;  // that thread; without frames: not told
  // The log holds stacks of the process, which are those of the snapshot, and no step was made
  // after them although the next one was due.
  bool stands_in_stacks = false;
  // The failed try with which the log ends, and the number of its lines there.
  std::string retried;
  int64_t retries = 0;
  std::vector<NumberedCollective> collectives;  // of each of its groups the one it stands at
};

// An error of a process's own, in a line that cannot be assigned to a worker.
struct ErrorOfNobody {
  std::string text;
  bool is_first = false;  // in its log nobody had complained of others before
};

struct LogEvidence {
  std::vector<WorkerLog> workers;  // by worker; only those that have a log
  std::vector<ErrorOfNobody> of_nobody;
  // Workers whose logs hold no line: their processes may have started, and said nothing.
  std::vector<WorkerId> without_line;
  // One log holds the labelled lines of all workers: a worker without a line never spoke.
  bool shared = false;
};

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_VERDICT_LOG_EVIDENCE_H_
