// RunProgram runs rapideye-coordinator, from its command line to its exit status.
#ifndef RAPIDEYE_COORDINATOR_DAEMON_PROGRAM_H_
#define RAPIDEYE_COORDINATOR_DAEMON_PROGRAM_H_

#include <functional>

#include "coordinator/daemon/coordinator.h"

namespace rapideye::coordinator {

// `adjust` is for tests, which are to run the very same program: it changes the
// settings that the flags have made, before anything starts.
int RunProgram(int argc, char** argv,
               const std::function<void(CoordinatorSettings& settings)>& adjust = nullptr);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_DAEMON_PROGRAM_H_
