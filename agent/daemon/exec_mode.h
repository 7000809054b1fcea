// `rapideye-agent exec -- COMMAND`.
#ifndef RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_
#define RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "agent/daemon/flags.h"
#include "agent/exec/supervisor.h"
#include "proto/common/process/signals.h"

namespace rapideye::agent {

class Agent;

// Runs flags.command, and beside it `watch` as the agent, in a process of its own;
// returns the exit status to leave with. What stands against watching is said in
// `problem` (empty: nothing does), and the command runs all the same. `log_name`: of
// the file for the agent's own log. Call before any thread is started.
int RunCommand(const Flags& flags, const std::string& problem, const std::string& log_name,
               const std::function<int(const CommandWatch&)>& watch);

// What the agent's sources are to know of the command.
void LetSourcesKnow(const CommandWatch& command, Flags& flags);

// Waits until the agent is told to stop, or the command has ended and there is nothing
// more to say of it, or nobody could be told in time.
void AwaitEnd(const CommandWatch& command, const Agent& agent, const program::StopSignals& signals);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_EXEC_MODE_H_
