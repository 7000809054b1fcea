// Derives where the training loop of a worker stands from its stacks, else from its
// progress page: what a host is in where no core tells.
//
// Facts: frames of py-spy and eu-stack in JAX, Orbax, Grain and CPython, whose functions
// are public; the phases of agent/progress.
#ifndef RAPIDEYE_CLASSIFIER_HOST_PLACE_H_
#define RAPIDEYE_CLASSIFIER_HOST_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "classifier/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// For whom a loop waits. Those who wait alike wait for one another, or for the same others.
enum class HostWait {
  kNone,      // for nobody: it does something of its own
  kDevice,    // for the device, or within a collective
  kBarrier,   // for the other processes, at a barrier on the host
  kStartUp,   // for the other processes to join
  kShutdown,  // for the other processes to leave
};

struct HostPlace {
  HostWait wait = HostWait::kNone;
  HostActivity activity = HostActivity::kOther;
  std::optional<int64_t> step;
  bool by_stack = false;
  // "stands in read_shard (train.py:88)", "is in a checkpoint by its progress page, for 61 s"
  std::string text;
};

// Absent where neither a stack of its main thread nor a page with a phase is there.
std::optional<HostPlace> PlaceOfHost(const Snapshot& snapshot);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_PLACE_H_
