// Defines the shape of the testbed's job: its workers, their addresses, and the pairs that
// communicate.
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_TOPOLOGY_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_TOPOLOGY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::testbed {

// How many cores of each kind one chip of a TPU generation has.
struct Generation {
  absl::string_view name;  // v4 v5e v5p v6e 7x
  int tensor_cores = 1;
  int sparse_cores = 0;
  int64_t hbm_gib = 0;  // of a chip
  int devices = 1;      // of a chip, as JAX and the runtime's metrics count them
};

// NOT_FOUND names the generations there are.
absl::StatusOr<Generation> FindGeneration(absl::string_view name);

// The same for every worker of a job.
struct JobShape {
  int slices = 2;
  int tasks = 4;  // per slice
  int chips = 4;  // per worker
  Generation generation;
  // How often the workers have changed machines: each time all of them, and each took
  // the machine of the next one in the job.
  int moves = 0;

  int workers() const { return slices * tasks; }
  int tensor_cores_per_worker() const { return chips * generation.tensor_cores; }
};

// Slice and task are bytes of an address (127.77.slice.task), and a job of this
// size is all that one machine carries anyway.
inline constexpr int kMaxSlices = 64;
inline constexpr int kMaxTasks = 64;
inline constexpr int kMaxChips = 16;

// INVALID_ARGUMENT names the number that is out of range.
absl::Status CheckShape(const JobShape& shape);

// All workers, by slice, then task.
std::vector<WorkerId> AllWorkers(const JobShape& shape);

// The worker's number in the job, as JAX counts.
int WorkerNumber(const JobShape& shape, WorkerId worker);

// The worker's own loopback address, so that an address names a worker.
std::string WorkerAddress(WorkerId worker);
// Template of all workers' addresses, as an agent is told it.
inline constexpr absl::string_view kWorkerAddressTemplate = "127.77.{slice}.{task}";

// A machine is identified by the place where it stands as long as no worker has moved.
WorkerId MachineOf(const JobShape& shape, WorkerId worker);
// The worker that stands on the machine now.
WorkerId WorkerOn(const JobShape& shape, WorkerId machine);

// Name of a machine in the job's environment and in the digest.
std::string HostName(WorkerId machine);
// Name of the machine on which the worker stands.
std::string HostOf(const JobShape& shape, WorkerId worker);

// Workers that this worker meets at an in-slice collective, without itself.
std::vector<WorkerId> SlicePeers(const JobShape& shape, WorkerId worker);

// Workers with which this worker exchanges cross-slice transfers: the same task of the
// slices before and after it in a ring. One entry with two slices, none with one.
std::vector<WorkerId> RingNeighbours(const JobShape& shape, WorkerId worker);

// Both: everyone this worker keeps a connection to, without repetition, sorted.
std::vector<WorkerId> Peers(const JobShape& shape, WorkerId worker);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_TOPOLOGY_H_
