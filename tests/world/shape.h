// Shape lays out a job: slices, hosts, chips, cores, and the mesh over the devices of a slice.
#ifndef RAPIDEYE_TESTS_WORLD_SHAPE_H_
#define RAPIDEYE_TESTS_WORLD_SHAPE_H_

#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/world/random.h"

namespace rapideye::world {

struct Axis {
  std::string name;  // fsdp, tensor, expert
  int size = 1;
};

// A device is what JAX calls one: a TensorCore, or the two of a chip that work as one (v4, v5p).
// Devices are numbered over the whole job by slice, task, chip and core; "local" is the number
// within the slice. Workers are numbered by slice and task.
struct Shape {
  std::string generation;  // v4 v5e v5p v6e 7x
  int slices = 1;
  int hosts = 1;             // a slice
  int chips = 4;             // a host
  int devices_per_chip = 1;  // 2: v7x, each TensorCore a device
  int cores_per_device = 1;  // 2: v4 and v5p, two TensorCores work as one
  int sparse_cores = 0;      // a chip
  int nics = 1;              // of a host, on the data-centre network
  bool stages = false;       // the slices are the stages of a pipeline
  std::vector<Axis> axes;    // within a slice, the fastest last; their product covers it

  int devices_per_host() const { return chips * devices_per_chip; }
  int devices_per_slice() const { return hosts * devices_per_host(); }
  int workers() const { return slices * hosts; }
  int devices() const { return slices * devices_per_slice(); }
  int worker_of(int device) const { return device / devices_per_host(); }
  int slice_of_worker(int worker) const { return worker / hosts; }
  int local_of(int device) const { return device % devices_per_slice(); }
  int chip_of(int device) const { return device % devices_per_host() / devices_per_chip; }
  int nic_of(int device) const { return chip_of(device) % nics; }
  WorkerId id_of(int worker) const { return {.slice = worker / hosts, .task = worker % hosts}; }

  // Bit i of an axis set stands for axes[i].
  unsigned all_axes() const { return (1U << axes.size()) - 1; }
  // The group of a local device over a set of axes: the local devices that differ from it in
  // those coordinates only, in the order of the ring in which they exchange.
  std::vector<int> Group(unsigned axis_set, int local) const;
};

// Needs of a kind of fault: the shape of a job in which it can happen.
struct ShapeNeeds {
  int slices = 1;
  int hosts = 1;
  int workers = 1;
  bool sparse_cores = false;
  bool no_stages = false;
  // Factor on the drawn number of hosts in a slice: for jobs as large as the largest.
  int times = 1;
};

Shape DrawShape(Random& random, const ShapeNeeds& needs);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_SHAPE_H_
