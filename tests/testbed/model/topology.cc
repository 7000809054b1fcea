#include "tests/testbed/model/topology.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

constexpr std::array<Generation, 5> kGenerations = {{
    {"v4", 2, 4, 32, 1},
    {"v5e", 1, 0, 16, 1},
    {"v5p", 2, 4, 95, 1},
    {"v6e", 1, 2, 32, 1},
    {"7x", 2, 4, 192, 2},
}};

absl::Status CheckRange(absl::string_view what, int value, int most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", value, " is out of range, give 1 to ", most));
}

// Beyond the last worker it goes on with the first.
WorkerId WorkerAt(const JobShape& shape, int number) {
  const int within = number % shape.workers();
  return {within / shape.tasks, within % shape.tasks};
}

}  // namespace

absl::StatusOr<Generation> FindGeneration(absl::string_view name) {
  std::string known;
  for (const Generation& generation : kGenerations) {
    if (generation.name == name) return generation;
    absl::StrAppend(&known, known.empty() ? "" : ", ", generation.name);
  }
  return absl::NotFoundError(
      absl::StrCat("'", name, "' is no TPU generation known here, give one of ", known));
}

absl::Status CheckShape(const JobShape& shape) {
  if (absl::Status s = CheckRange("slices", shape.slices, kMaxSlices); !s.ok()) return s;
  if (absl::Status s = CheckRange("tasks", shape.tasks, kMaxTasks); !s.ok()) return s;
  return CheckRange("chips", shape.chips, kMaxChips);
}

std::vector<WorkerId> AllWorkers(const JobShape& shape) {
  std::vector<WorkerId> workers;
  for (int slice = 0; slice < shape.slices; ++slice) {
    for (int task = 0; task < shape.tasks; ++task) workers.push_back({slice, task});
  }
  return workers;
}

int WorkerNumber(const JobShape& shape, WorkerId worker) {
  return worker.slice * shape.tasks + worker.task;
}

std::string WorkerAddress(WorkerId worker) {
  return absl::StrCat("127.77.", worker.slice, ".", worker.task);
}

WorkerId MachineOf(const JobShape& shape, WorkerId worker) {
  return WorkerAt(shape, WorkerNumber(shape, worker) + shape.moves);
}

WorkerId WorkerOn(const JobShape& shape, WorkerId machine) {
  const int back = shape.workers() - shape.moves % shape.workers();
  return WorkerAt(shape, WorkerNumber(shape, machine) + back);
}

std::string HostName(WorkerId machine) {
  return absl::StrCat("tpu-host-", machine.slice, "-", machine.task);
}

std::string HostOf(const JobShape& shape, WorkerId worker) {
  return HostName(MachineOf(shape, worker));
}

std::vector<WorkerId> SlicePeers(const JobShape& shape, WorkerId worker) {
  std::vector<WorkerId> peers;
  for (int task = 0; task < shape.tasks; ++task) {
    if (task != worker.task) peers.push_back({worker.slice, task});
  }
  return peers;
}

std::vector<WorkerId> RingNeighbours(const JobShape& shape, WorkerId worker) {
  if (shape.slices == 1) return {};
  const WorkerId next{(worker.slice + 1) % shape.slices, worker.task};
  const WorkerId previous{(worker.slice + shape.slices - 1) % shape.slices, worker.task};
  if (next == previous) return {next};
  return {previous, next};
}

std::vector<WorkerId> Peers(const JobShape& shape, WorkerId worker) {
  std::vector<WorkerId> peers = SlicePeers(shape, worker);
  for (WorkerId neighbour : RingNeighbours(shape, worker)) peers.push_back(neighbour);
  std::sort(peers.begin(), peers.end());
  return peers;
}

}  // namespace rapideye::testbed
