// A core goes round in a loop of the device and does not come out before it
// is healed: its pc moves,
// nothing completes.
#include <condition_variable>
#include <mutex>

#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/place.h"

namespace rapideye::testbed {
namespace {

// The loop's body has this many places this far apart, all inside the code of
// the operation.
constexpr int64_t kPlaces = 5;
constexpr int64_t kStride = 17;
// Much shorter than any polling interval.
constexpr std::chrono::milliseconds kTurn{7};

absl::Status ApplyCoreLoop(const ControlLine& line, Worker& worker) {
  return FaultAtPlace(line, worker, "core-loop",
                      [&recovery = worker.recovery(), age = worker.recovery().age()](
                          Core& core, const Launch&, int, const std::stop_token& stop) {
                        std::mutex mutex;
                        std::condition_variable_any never;
                        std::unique_lock lock(mutex);
                        for (int64_t turn = 0; !stop.stop_requested() && !recovery.Over(age);
                             ++turn) {
                          core.MoveWithinOperation(turn % kPlaces * kStride);
                          never.wait_for(lock, stop, kTurn, [] { return false; });
                        }
                      });
}

}  // namespace

const Fault kCoreLoop = {"core-loop", RAPIDEYE_PLACE_ARGUMENTS ": the core loops there for ever",
                         ApplyCoreLoop};

}  // namespace rapideye::testbed
