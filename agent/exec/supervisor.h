// The supervisor starts the training process, and watches it until it ends.
//
// It consists of two processes:
//
//   supervisor  the one that was called: parent of the others. Forwards signals, reaps,
//               starts the agent again if that dies, and exits as the command did. A thread
//               for each output copies from the command's pipe to where the supervisor's own
//               output went, and leaves the bytes in an OutputRing
//   agent       everything else. Reads the rings; the supervisor never waits for it while
//               the command lives. If the supervisor is killed, it goes on with the output
//
// The supervisor itself writes and opens nothing: a log that blocks (a full pipe, a hanging
// disk) would keep signals from the command. What it has to say is said by a child.
//
// The command does not notice if either is killed. What an orphan of the command still
// writes after its end is passed on by a child that the supervisor leaves behind.
#ifndef RAPIDEYE_AGENT_EXEC_SUPERVISOR_H_
#define RAPIDEYE_AGENT_EXEC_SUPERVISOR_H_

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "agent/exec/output_ring.h"

namespace rapideye::agent {

// The command, as the agent knows it.
struct CommandWatch {
  pid_t pid = -1;
  // The ended process stays a zombie for as long as there is a supervisor.
  std::vector<OutputRing*> outputs;  // one if both outputs go to the same place
  int wake = -1;                     // an eventfd: an output has much to read
  // The signal that asked the command to end, which also makes `wake` readable; 0: none
  // did. Its sender waits for the end.
  const std::atomic<int>* told_to_end = nullptr;
};

struct ExecOptions {
  std::vector<std::string> command;  // not empty; searched for in PATH
  // Runs as the agent, in a process of its own, and returns its exit status: 0 if it is
  // done, 2 if it cannot work as it is set up; after any other one it is started again.
  // Standard output and error are still the supervisor's own: the agent logs elsewhere.
  std::function<int(const CommandWatch&)> agent;
  // Opens the log for lines beside the command's own output, and returns its descriptor;
  // standard error itself will do. Runs in children of the supervisor that no process waits for,
  // after the command has been started: it may block.
  std::function<int()> open_log;
};

// Runs the command and returns the exit status to leave with: the command's own, or
// 128 + n if signal n ended it; 127 if there is no such command, 126 if it cannot be
// run. If there are no descriptors or processes left to supervise it with, this process
// becomes the command. Call once, before any thread is started.
int Exec(const ExecOptions& options);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_EXEC_SUPERVISOR_H_
