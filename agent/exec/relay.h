// Relay copies one output of the command to the supervisor's own output.
#ifndef RAPIDEYE_AGENT_EXEC_RELAY_H_
#define RAPIDEYE_AGENT_EXEC_RELAY_H_

#include "agent/exec/output_ring.h"

namespace rapideye::agent {

enum class RelayEnd {
  kFinished,    // the writers have closed it
  kNobodyReads  // the output cannot be written: the command gets SIGPIPE
};

// Copies every byte from the pipe `from` to `to`, in order, until there is an end.
// Begins with what another relay has left in the ring. Blocks as the command itself
// would if it wrote to `to`. `wake`: an eventfd for the reader of the ring.
RelayEnd Relay(int from, int to, OutputRing& ring, int wake);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_EXEC_RELAY_H_
