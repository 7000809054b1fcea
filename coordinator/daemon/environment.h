// WithEnvironment takes the job's settings from the platform's variables where no flag gives them.
#ifndef RAPIDEYE_COORDINATOR_DAEMON_ENVIRONMENT_H_
#define RAPIDEYE_COORDINATOR_DAEMON_ENVIRONMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/membership.h"

namespace rapideye::coordinator {

using ReadVariable = std::function<std::optional<std::string>(const std::string& name)>;

// Fills what `shape` leaves open: the job's name from JOBSET_NAME, TPU_NAME or
// SLURM_JOB_NAME and SLURM_JOB_ID; slices from MEGASCALE_NUM_SLICES; tasks per
// slice from the number of TPU_WORKER_HOSTNAMES. The number of processes that launchers state
// (SLURM_NTASKS, WORLD_SIZE) is left to the agents, each of which sees whether its own count
// fits: the coordinator may run in another step of the launcher. A variable that is not set or
// makes no sense leaves its part open: it is then learnt from the workers.
JobShape WithEnvironment(JobShape shape, const ReadVariable& read);

// Reads a variable of this process.
std::optional<std::string> ReadProcessVariable(const std::string& name);
// NAME=VALUE of each variable.
std::vector<std::string> ProcessEnvironment();

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_DAEMON_ENVIRONMENT_H_
