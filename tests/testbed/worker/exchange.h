// Exchange implements the operations in which cores wait for each other.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_EXCHANGE_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_EXCHANGE_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "tests/testbed/model/mesh_message.h"
#include "tests/testbed/model/topology.h"
#include "tests/testbed/worker/mailbox.h"

namespace rapideye::testbed {

// Identifies an operation of a launch.
struct OperationId {
  Fingerprint fingerprint{};
  int32_t launch_id = 0;
  int32_t operation = 0;

  friend auto operator<=>(const OperationId&, const OperationId&) = default;
};

// Carries out collectives and transfers for the TensorCores of one worker.
// Thread-safe; each core calls from its own thread. Errors: CANCELLED if `stop`
// was requested while waiting, DATA_LOSS if what arrived is not what the others
// must have sent.
class Exchange {
 public:
  using Send = std::function<void(WorkerId to, const MeshMessage&)>;

  // `mailbox` must outlive this.
  Exchange(const JobShape& shape, WorkerId self, Mailbox& mailbox, Send send);

  // An all-reduce over the slice: returns when every TensorCore of every worker
  // of the slice has come to this operation of this launch. The cores of one
  // worker meet here first; the last of them tells the other workers.
  absl::Status AllReduce(const OperationId& id, int tensor_core, const std::stop_token& stop);

  // Hands this core's data to the same core of the neighbour slices.
  void SendToNeighbours(const OperationId& id, int tensor_core);

  // Waits for what the neighbours' same core sent at operation `sent_at`.
  absl::Status ReceiveFromNeighbours(const OperationId& sent_at, int tensor_core,
                                     const std::stop_token& stop);

 private:
  // The cores of this worker at one collective.
  struct Meeting {
    int arrived = 0;
    Vector sum = Vector(kVectorLength);
    bool done = false;
    absl::Status result;
  };

  absl::Status MeetOtherWorkers(const OperationId& id, Vector sum, const std::stop_token& stop);

  const JobShape shape_;
  const WorkerId self_;
  Mailbox& mailbox_;
  const Send send_;
  std::mutex mutex_;
  std::condition_variable_any finished_;
  std::map<OperationId, std::shared_ptr<Meeting>> meetings_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_EXCHANGE_H_
