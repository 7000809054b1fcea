#include "tests/testbed/worker/exchange.h"

#include "absl/strings/str_cat.h"
#include "tests/testbed/model/control.h"

namespace rapideye::testbed {
namespace {

MessageAddress AddressOf(const OperationId& id, WorkerId from, int tensor_core) {
  return {.fingerprint = id.fingerprint,
          .launch_id = id.launch_id,
          .operation = id.operation,
          .from = from,
          .tensor_core = tensor_core};
}

absl::Status Cancelled() { return absl::CancelledError("the worker is stopping"); }

}  // namespace

Exchange::Exchange(const JobShape& shape, WorkerId self, Mailbox& mailbox, Send send)
    : shape_(shape), self_(self), mailbox_(mailbox), send_(std::move(send)) {}

absl::Status Exchange::AllReduce(const OperationId& id, int tensor_core,
                                 const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Meeting>& slot = meetings_[id];
  if (slot == nullptr) slot = std::make_shared<Meeting>();
  const std::shared_ptr<Meeting> meeting = slot;
  Add(Contribution(shape_, self_, tensor_core, id.launch_id, id.operation), meeting->sum);
  if (++meeting->arrived < shape_.tensor_cores_per_worker()) {
    finished_.wait(lock, stop, [&] { return meeting->done; });
    return meeting->done ? meeting->result : Cancelled();
  }
  // The last to come: nobody else joins this meeting any more.
  meetings_.erase(id);
  lock.unlock();
  absl::Status result = MeetOtherWorkers(id, meeting->sum, stop);
  lock.lock();
  meeting->result = result;
  meeting->done = true;
  lock.unlock();
  finished_.notify_all();
  return result;
}

absl::Status Exchange::MeetOtherWorkers(const OperationId& id, Vector sum,
                                        const std::stop_token& stop) {
  const std::vector<WorkerId> peers = SlicePeers(shape_, self_);
  for (WorkerId peer : peers) send_(peer, {AddressOf(id, self_, kAllCores), sum});
  for (WorkerId peer : peers) {
    const std::optional<Vector> theirs = mailbox_.Await(AddressOf(id, peer, kAllCores), stop);
    if (!theirs.has_value()) return Cancelled();
    if (theirs->size() != sum.size()) {
      return absl::DataLossError(absl::StrCat("all-reduce: worker ", FormatWorker(peer), " sent ",
                                              theirs->size(), " elements"));
    }
    Add(*theirs, sum);
  }
  if (sum == SliceSum(shape_, self_.slice, id.launch_id, id.operation)) return absl::OkStatus();
  return absl::DataLossError("all-reduce: the sum is not that of the slice's contributions");
}

void Exchange::SendToNeighbours(const OperationId& id, int tensor_core) {
  const Vector data = Contribution(shape_, self_, tensor_core, id.launch_id, id.operation);
  for (WorkerId neighbour : RingNeighbours(shape_, self_)) {
    send_(neighbour, {AddressOf(id, self_, tensor_core), data});
  }
}

absl::Status Exchange::ReceiveFromNeighbours(const OperationId& sent_at, int tensor_core,
                                             const std::stop_token& stop) {
  for (WorkerId neighbour : RingNeighbours(shape_, self_)) {
    const std::optional<Vector> data =
        mailbox_.Await(AddressOf(sent_at, neighbour, tensor_core), stop);
    if (!data.has_value()) return Cancelled();
    if (*data !=
        Contribution(shape_, neighbour, tensor_core, sent_at.launch_id, sent_at.operation)) {
      return absl::DataLossError(
          absl::StrCat("recv-done: worker ", FormatWorker(neighbour), " sent other data"));
    }
  }
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
