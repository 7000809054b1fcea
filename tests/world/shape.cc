#include "tests/world/shape.h"

#include <algorithm>

namespace rapideye::world {
namespace {

// Cuts the devices of a slice into at most three axes, each a power of two.
std::vector<Axis> DrawAxes(Random& random, int devices) {
  std::vector<std::string> names = {"fsdp", "tensor"};
  if (random.Chance(0.3)) {
    names.insert(names.begin() + random.Below(2), "expert");
  }
  if (random.Chance(0.2)) {
    std::swap(names.front(), names.back());  // neighbours are not always the tensor axis
  }
  std::vector<Axis> axes;
  for (size_t i = 0; i < names.size(); ++i) {
    int size = devices;
    if (i + 1 < names.size()) {
      size = 1;
      while (size * 2 <= devices && devices % (size * 2) == 0 && random.Chance(0.55)) {
        size *= 2;
      }
    }
    devices /= size;
    if (size > 1) {
      axes.push_back({names[i], size});
    }
  }
  if (axes.empty()) {
    axes.push_back({"data", 1});
  }
  return axes;
}

}  // namespace

std::vector<int> Shape::Group(unsigned axis_set, int local) const {
  std::vector<int> members = {0};
  int stride = devices_per_slice();
  for (size_t i = 0; i < axes.size(); ++i) {
    stride /= axes[i].size;
    const int own = local / stride % axes[i].size;
    std::vector<int> next;
    for (const int base : members) {
      if ((axis_set >> i & 1) == 0) {
        next.push_back(base + own * stride);
        continue;
      }
      for (int k = 0; k < axes[i].size; ++k) {
        next.push_back(base + k * stride);
      }
    }
    members = std::move(next);
  }
  return members;
}

Shape DrawShape(Random& random, const ShapeNeeds& needs) {
  Shape shape;
  const std::vector<std::string> generations = {"v4", "v5e", "v5p", "v6e", "7x"};
  shape.generation = random.Pick(generations);
  if (needs.sparse_cores && shape.generation == "v5e") {
    shape.generation = "v6e";
  }
  const bool fused = shape.generation == "v4" || shape.generation == "v5p";
  shape.cores_per_device = fused ? 2 : 1;
  shape.devices_per_chip = shape.generation == "7x" ? 2 : 1;
  shape.sparse_cores = shape.generation == "v5e" ? 0 : fused ? 4 : 2;
  const std::vector<int> sizes = {1, 1, 2, 2, 2, 3, 4, 4, 6, 8};
  const std::vector<int> hosts = {1, 2, 2, 4, 4, 4, 8};
  do {
    shape.slices = random.Pick(sizes);
    shape.hosts = random.Pick(hosts);
  } while (shape.slices < needs.slices || shape.hosts < needs.hosts ||
           shape.slices * shape.hosts < needs.workers || shape.slices * shape.hosts > 32);
  const bool lite = shape.generation == "v5e" || shape.generation == "v6e";
  shape.chips = shape.hosts == 1 && lite && random.Chance(0.5) ? 8 : 4;
  shape.nics = random.Between(1, 3);
  shape.stages = !needs.no_stages && shape.slices > 1 && shape.slices <= 4 && random.Chance(0.2);
  shape.hosts *= needs.times;
  shape.axes = DrawAxes(random, shape.devices_per_slice());
  return shape;
}

}  // namespace rapideye::world
