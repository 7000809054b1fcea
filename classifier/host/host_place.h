// Derives the place of a worker's training loop from its stacks, else from its progress
// page, else from the counters of its libraries: the host's activity where no core tells it.
//
// Facts: frames of py-spy and eu-stack in JAX, Orbax, Grain and CPython, whose functions
// are public; wait channels of the kernel; the phases of agent/progress.
#ifndef RAPIDEYE_CLASSIFIER_HOST_HOST_PLACE_H_
#define RAPIDEYE_CLASSIFIER_HOST_HOST_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "classifier/host/frame_match.h"
#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

struct HostPlace {
  HostWait wait = HostWait::kNone;
  HostActivity activity = HostActivity::kOther;
  std::optional<int64_t> step;
  std::optional<Phase> phase;  // as its page says
  bool by_stack = false;
  // The loop is in a function that its device has called: its cores can be waiting for it.
  bool in_callback = false;
  // The function of the program in which the loop stands, by its stack; empty: not known.
  std::string program;
  // "stands in train.py:88 read_shard", "is in a checkpoint by its progress page, for 61 s"
  std::string text;
  // The same text without a duration, and the duration, where the page holds it.
  std::string where;
  std::optional<int64_t> since_ms;
};

// Absent if there is neither a stack of the main thread nor a page with a phase, and no
// library counts a checkpoint.
std::optional<HostPlace> PlaceOfHost(const Snapshot& snapshot);

// The process is frozen by a cgroup: the kernel lets it do nothing, whatever it was in.
bool IsFrozen(const Process& process);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_HOST_PLACE_H_
