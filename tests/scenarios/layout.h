// MakeLayout lays out the machines of a made-up job: slices, workers, chips, cores.
#ifndef RAPIDEYE_TESTS_SCENARIOS_LAYOUT_H_
#define RAPIDEYE_TESTS_SCENARIOS_LAYOUT_H_

#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/random.h"

namespace rapideye::scenarios {

struct Machine {
  WorkerId id;
  std::string host;
  std::optional<std::string> node;
  std::optional<std::string> hardware;
};

// A *device* is what runs a program: a chip, or half a 7x chip. Workers and
// devices are numbered through the whole job: slice by slice, task by task, chip
// by chip.
struct Layout {
  std::string generation;
  int slices = 1;
  int tasks = 1;                    // workers of a slice
  int chips = 4;                    // of a worker
  int devices_per_chip = 1;         // 2 on 7x
  int tensor_cores_per_device = 1;  // 2 where the siblings of a v4 or v5p chip are both reported
  int sparse_cores_per_device = 0;
  std::vector<Machine> machines;  // by worker number
  // Workers of the job that have launched nothing: a spare slice. They have no
  // worker number, and take part in nothing.
  std::vector<Machine> standby;

  int workers() const { return slices * tasks; }
  int devices_per_worker() const { return chips * devices_per_chip; }
  int devices_per_slice() const { return tasks * devices_per_worker(); }
  int devices() const { return workers() * devices_per_worker(); }
  int Worker(int slice, int task) const { return slice * tasks + task; }
  int SliceOfWorker(int worker) const { return worker / tasks; }
  int TaskOfWorker(int worker) const { return worker % tasks; }
  int WorkerOfDevice(int device) const { return device / devices_per_worker(); }
  int SliceOfDevice(int device) const { return SliceOfWorker(WorkerOfDevice(device)); }
  int FirstDevice(int worker) const { return worker * devices_per_worker(); }
  int ChipOfDevice(int device) const { return device % devices_per_worker() / devices_per_chip; }
  WorkerId Id(int worker) const { return machines[static_cast<size_t>(worker)].id; }
};

struct LayoutRequest {
  int min_slices = 1;
  int max_slices = 4;
  int min_tasks = 2;
  bool sparse_cores = false;  // only generations that have them
};

Layout MakeLayout(const LayoutRequest& request, Random& random);
void AddStandby(Random& random, Layout& layout);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_LAYOUT_H_
