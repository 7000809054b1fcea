#include "tests/testbed/worker/exchange.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <vector>

namespace rapideye::testbed {
namespace {

const JobShape kShape = {2, 2, 2, {"v6e", 1, 2}};
constexpr OperationId kOperation = {.fingerprint = {1}, .launch_id = -3, .operation = 4};

// All workers of a job in one process; messages go straight to the mailbox.
class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() {
    for (WorkerId worker : AllWorkers(kShape)) {
      exchanges_[worker] = std::make_unique<Exchange>(
          kShape, worker, mailboxes_[worker],
          [this](WorkerId to, const MeshMessage& message) { mailboxes_[to].Deliver(message); });
    }
  }

  std::future<absl::Status> AllReduce(WorkerId worker, int core,
                                      const OperationId& id = kOperation) {
    return std::async(std::launch::async, [this, worker, core, id] {
      return exchanges_[worker]->AllReduce(id, core, stop_.get_token());
    });
  }

  std::map<WorkerId, Mailbox> mailboxes_;
  std::map<WorkerId, std::unique_ptr<Exchange>> exchanges_;
  std::stop_source stop_;
};

TEST_F(ExchangeTest, AllReduceEndsWhenTheWholeSliceHasCome) {
  std::vector<std::future<absl::Status>> cores;
  for (int task : {0, 1}) {
    for (int core : {0, 1}) cores.push_back(AllReduce({1, task}, core));
  }
  for (auto& core : cores) EXPECT_TRUE(core.get().ok());
}

TEST_F(ExchangeTest, AllReduceWaitsForAMissingCoreOfAnotherWorker) {
  std::vector<std::future<absl::Status>> cores;
  cores.push_back(AllReduce({1, 0}, 0));
  cores.push_back(AllReduce({1, 0}, 1));
  cores.push_back(AllReduce({1, 1}, 0));
  stop_.request_stop();
  for (auto& core : cores) EXPECT_TRUE(absl::IsCancelled(core.get()));
}

class ExchangeAstrayTest : public ExchangeTest, public testing::WithParamInterface<OperationId> {};

TEST_P(ExchangeAstrayTest, AllReduceNeverMeetsWhoIsElsewhere) {
  std::vector<std::future<absl::Status>> cores;
  for (int core : {0, 1}) cores.push_back(AllReduce({1, 0}, core));
  for (int core : {0, 1}) cores.push_back(AllReduce({1, 1}, core, GetParam()));
  stop_.request_stop();
  for (auto& core : cores) EXPECT_TRUE(absl::IsCancelled(core.get()));
}

INSTANTIATE_TEST_SUITE_P(ProgramLaunchOperation, ExchangeAstrayTest,
                         testing::Values(OperationId{{2}, -3, 4}, OperationId{{1}, -2, 4},
                                         OperationId{{1}, -3, 3}));

TEST_F(ExchangeTest, AllReduceRefusesASumOfOtherData) {
  MeshMessage wrong = {{.fingerprint = kOperation.fingerprint,
                        .launch_id = kOperation.launch_id,
                        .operation = kOperation.operation,
                        .from = {1, 1},
                        .tensor_core = kAllCores},
                       Vector(kVectorLength, 1)};
  mailboxes_[{1, 0}].Deliver(wrong);
  std::future<absl::Status> one = AllReduce({1, 0}, 0);
  std::future<absl::Status> other = AllReduce({1, 0}, 1);
  EXPECT_TRUE(absl::IsDataLoss(one.get()));
  EXPECT_TRUE(absl::IsDataLoss(other.get()));
}

TEST_F(ExchangeTest, ReceiveTakesWhatTheNeighboursSameCoreSent) {
  exchanges_[{0, 1}]->SendToNeighbours(kOperation, 1);
  const absl::Status status =
      exchanges_[WorkerId{1, 1}]->ReceiveFromNeighbours(kOperation, 1, stop_.get_token());
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(ExchangeTest, ReceiveWaitsWhenOnlyAnotherCoreHasSent) {
  exchanges_[{0, 1}]->SendToNeighbours(kOperation, 0);
  stop_.request_stop();
  const absl::Status status =
      exchanges_[WorkerId{1, 1}]->ReceiveFromNeighbours(kOperation, 1, stop_.get_token());
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
}

}  // namespace
}  // namespace rapideye::testbed
