#include "tests/scenarios/layout.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rapideye::scenarios {
namespace {

// Keeps one scenario around a millisecond; nothing in the dynamics depends on it.
constexpr int kMaxWorkers = 48;

std::string HostName(int style, int slice, int task) {
  switch (style) {
    case 0:
      return absl::StrCat("tpu-job-", slice, "-", task);
    case 1:
      return absl::StrCat("v5p-pool-s", slice, "-w", task);
    default:
      return absl::StrFormat("gke-tpu-%04d-%04d", slice, task);
  }
}

}  // namespace

Layout MakeLayout(const LayoutRequest& request, Random& random) {
  Layout layout;
  layout.generation = random.Pick(std::array<const char*, 5>{"v4", "v5e", "v5p", "v6e", "7x"});
  if (request.sparse_cores && layout.generation == "v5e") layout.generation = "v6e";
  layout.slices = static_cast<int>(random.Between(request.min_slices, request.max_slices));
  layout.tasks = random.Pick(std::array<int, 6>{2, 2, 4, 4, 8, 16});
  layout.tasks = std::max(layout.tasks, request.min_tasks);
  while (layout.tasks > 2 && layout.tasks * layout.slices > kMaxWorkers) layout.tasks /= 2;

  if (layout.generation == "7x") {
    layout.devices_per_chip = 2;
    layout.sparse_cores_per_device = 2;
  } else if (layout.generation == "v6e") {
    layout.sparse_cores_per_device = 2;
  } else if (layout.generation == "v4" || layout.generation == "v5p") {
    layout.sparse_cores_per_device = 4;
    if (random.Chance(0.4)) layout.tensor_cores_per_device = 2;
  }

  const int style = random.Index(3);
  const bool nodes = random.Chance(0.4);
  const bool hardware = random.Chance(0.4);
  for (int slice = 0; slice < layout.slices; ++slice) {
    for (int task = 0; task < layout.tasks; ++task) {
      Machine machine{.id = {slice, task}, .host = HostName(style, slice, task)};
      if (nodes) machine.node = absl::StrCat("node-", random.Hex(6));
      if (hardware) machine.hardware = random.Hex(16);
      layout.machines.push_back(std::move(machine));
    }
  }
  return layout;
}

void AddStandby(Random& random, Layout& layout) {
  for (int task = 0; task < layout.tasks; ++task) {
    layout.standby.push_back(
        {.id = {layout.slices, task}, .host = absl::StrCat("spare-", random.Hex(4), "-", task)});
  }
}

}  // namespace rapideye::scenarios
