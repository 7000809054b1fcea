// The testbed's own promises: a healthy job advances, a stuck core really stops
// everybody, and the status service tells where everybody stands.
#include "tests/testbed/launcher/job.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "tests/testbed/model/program.h"
#include "v1/runtime_status.grpc.pb.h"

namespace rapideye::testbed {
namespace {

namespace runtime = tpu::monitoring::runtime;

constexpr absl::Duration kPatience = absl::Seconds(30);
// Ten times a step: a core that has not moved by then waits for another.
constexpr absl::Duration kSettle = absl::Milliseconds(500);

class JobTest : public testing::Test {
 protected:
  void SetUp() override {
    state_dir_ = testing::TempDir() + "rapideye-job-XXXXXX";
    ASSERT_NE(mkdtemp(state_dir_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(state_dir_); }

  void Start(int slices, int tasks, int programs) {
    JobOptions options;
    options.shape = {slices, tasks, 2, *FindGeneration("v6e")};
    options.programs = programs;
    options.step_time = absl::Milliseconds(50);
    options.program_dir = RAPIDEYE_PROGRAM_DIR;
    options.state_dir = state_dir_;
    options.daemons = false;
    absl::StatusOr<std::unique_ptr<Job>> job = Job::Start(options);
    ASSERT_TRUE(job.ok()) << job.status();
    job_ = *std::move(job);
    const absl::Status advanced = job_->AwaitStep(3, kPatience);
    ASSERT_TRUE(advanced.ok()) << advanced;
  }

  void Break(WorkerId worker, const std::string& fault) {
    const absl::Status injected = job_->Inject(worker, fault);
    ASSERT_TRUE(injected.ok()) << injected;
    const absl::StatusOr<ControlLine> effect = job_->AwaitEffect(worker, kPatience);
    ASSERT_TRUE(effect.ok()) << effect.status();
    ASSERT_TRUE(job_->Watch(kSettle).ok());
  }

  runtime::GetTpuRuntimeStatusResponse Status(WorkerId worker, bool hlo) {
    const auto stub = runtime::RuntimeMetricService::NewStub(
        grpc::CreateChannel(job_->RuntimeAddress(worker), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    runtime::GetTpuRuntimeStatusRequest request;
    request.set_include_hlo_info(hlo);
    runtime::GetTpuRuntimeStatusResponse response;
    const grpc::Status status = stub->GetTpuRuntimeStatus(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  // HLO locations at which the TensorCores of a worker stand, by chip.
  std::vector<std::string> Positions(WorkerId worker) {
    std::vector<std::string> positions;
    const runtime::GetTpuRuntimeStatusResponse response = Status(worker, true);
    const std::map<int, tpu_telemetry::CurrentCoreStateSummary> cores(
        response.core_states().begin(), response.core_states().end());
    for (const auto& [id, core] : cores) {
      if (core.core_id().core_on_chip().type() != tpu_telemetry::TPU_CORE_TYPE_TENSOR_CORE) {
        continue;
      }
      const std::string location = core.sequencer_info(0).hlo_location();
      positions.push_back(location.substr(0, location.find(';')));
    }
    return positions;
  }

  // Launch ids on the worker's cores.
  std::set<int32_t> Launches(WorkerId worker) {
    std::set<int32_t> launches;
    const runtime::GetTpuRuntimeStatusResponse response = Status(worker, false);
    for (const auto& [id, core] : response.core_states()) {
      if (core.has_launch_id()) launches.insert(core.launch_id());
    }
    return launches;
  }

  std::string state_dir_;
  std::unique_ptr<Job> job_;
};

using Strings = std::vector<std::string>;

TEST_F(JobTest, HealthyJobAdvances) {
  Start(2, 2, 2);
  const absl::Status status = job_->AwaitStep(job_->StepOfSlowest() + 10, kPatience);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(JobTest, StatusServiceTellsEveryCore) {
  Start(2, 1, 1);
  const runtime::GetTpuRuntimeStatusResponse response = Status({1, 0}, false);
  EXPECT_EQ(response.host_name(), "tpu-host-1-0");
  ASSERT_EQ(response.core_states_size(), 6);  // two chips of one TensorCore and two SparseCores
  const std::string fingerprint = FingerprintHex(
      MakeStep({.programs = 1, .cross_slice = true, .step_time = absl::Milliseconds(50)})[0]
          ->fingerprint);
  for (const auto& [id, core] : response.core_states()) {
    EXPECT_EQ(core.core_id().global_core_id(), id);
    ASSERT_EQ(core.sequencer_info_size(), 1);
    EXPECT_FALSE(core.sequencer_info(0).has_hlo_location());
    ASSERT_TRUE(core.sequencer_info(0).has_pc());
    if (core.core_id().core_on_chip().type() == tpu_telemetry::TPU_CORE_TYPE_SPARSE_CORE) {
      EXPECT_EQ(core.sequencer_info(0).pc(), 0);
      EXPECT_FALSE(core.has_program_fingerprint());
    } else if (core.sequencer_info(0).pc() != 0) {
      EXPECT_EQ(absl::BytesToHexString(core.program_fingerprint()), fingerprint);
      EXPECT_TRUE(core.has_launch_id());
      EXPECT_LE(core.queued_program_info_size(), 2);
    }
  }
}

TEST_F(JobTest, AStoppedChipStopsEverybody) {
  Start(2, 2, 1);
  Break({0, 1}, "chip-stop chip=1 where=before compute=0");
  const int64_t step = job_->StepOfSlowest();
  ASSERT_TRUE(job_->Watch(kSettle).ok());
  EXPECT_EQ(job_->StepOfSlowest(), step);
  EXPECT_EQ(Positions({0, 1}), (Strings{"HLO: all-reduce.3", "HLO: fusion.2"}));
  EXPECT_EQ(Positions({0, 0}), (Strings{"HLO: all-reduce.3", "HLO: all-reduce.3"}));
  EXPECT_EQ(Positions({1, 0}), (Strings{"HLO: recv-done.6", "HLO: recv-done.6"}));
  EXPECT_EQ(Positions({1, 1}), (Strings{"HLO: recv-done.6", "HLO: recv-done.6"}));
}

TEST_F(JobTest, PeersOfAChipThatStopsInItsTailMoveOn) {
  Start(2, 2, 1);
  Break({0, 1}, "chip-stop chip=0 where=after");
  EXPECT_EQ(Positions({0, 1}), (Strings{"HLO: fusion.9", "HLO: all-reduce.3"}));
  EXPECT_EQ(Positions({1, 0}), (Strings{"HLO: recv-done.6", "HLO: recv-done.6"}));
  // One launch behind: everyone else stands in the next one.
  const std::set<int32_t> launches = Launches({0, 1});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(*launches.begin() + 1, *launches.rbegin());
}

TEST_F(JobTest, AnotherProgramStopsEverybody) {
  Start(2, 2, 1);
  Break({1, 0}, "other-program");
  EXPECT_EQ(Positions({1, 0}), (Strings{"HLO: collective-permute.3", "HLO: collective-permute.3"}));
  EXPECT_EQ(Positions({1, 1}), (Strings{"HLO: all-reduce.3", "HLO: all-reduce.3"}));
  EXPECT_EQ(Positions({0, 0}), (Strings{"HLO: recv-done.6", "HLO: recv-done.6"}));
}

TEST_F(JobTest, AnotherCompilationStopsEverybody) {
  Start(2, 2, 1);
  Break({1, 0}, "other-compilation");
  EXPECT_EQ(Positions({1, 0}), (Strings{"HLO: all-reduce.5", "HLO: all-reduce.5"}));
  EXPECT_EQ(Positions({1, 1}), (Strings{"HLO: all-reduce.3", "HLO: all-reduce.3"}));
}

TEST_F(JobTest, AFaultThatIsHealedLetsTheJobGoOn) {
  Start(2, 2, 1);
  Break({0, 1}, "chip-stop chip=1 where=before");
  const int64_t stuck = job_->StepOfSlowest();
  const absl::Status healed = job_->Heal();
  ASSERT_TRUE(healed.ok()) << healed;
  const absl::Status advanced = job_->AwaitStep(stuck + 10, kPatience);
  EXPECT_TRUE(advanced.ok()) << advanced;
}

TEST_F(JobTest, AJobThatRestartsBeginsAnewUnderItsAddresses) {
  Start(2, 2, 1);
  const std::string runtime = job_->RuntimeAddress({1, 0});
  const std::vector<pid_t> before = job_->Processes();
  const absl::Status restarted = job_->RestartJob(Ending::kKilled);
  ASSERT_TRUE(restarted.ok()) << restarted;
  const absl::Status advanced = job_->AwaitStep(3, kPatience);
  EXPECT_TRUE(advanced.ok()) << advanced;
  EXPECT_EQ(job_->RuntimeAddress({1, 0}), runtime);
  EXPECT_EQ(Status({1, 0}, false).host_name(), "tpu-host-1-0");
  for (pid_t pid : before) EXPECT_NE(kill(pid, 0), 0) << pid;
}

TEST_F(JobTest, AWorkerThatRestartsAloneStopsEverybodyUntilTheJobRestarts) {
  Start(2, 2, 1);
  const absl::Status alone = job_->RestartWorker({0, 1}, Ending::kKilled);
  ASSERT_TRUE(alone.ok()) << alone;
  ASSERT_TRUE(job_->Watch(kSettle).ok());
  const std::set<int32_t> launches = Launches({0, 0});
  ASSERT_TRUE(job_->Watch(kSettle).ok());
  EXPECT_EQ(Launches({0, 0}), launches);
  EXPECT_EQ(job_->StepOfSlowest(), 0);
  const absl::Status restarted = job_->RestartJob(Ending::kAsked);
  ASSERT_TRUE(restarted.ok()) << restarted;
  const absl::Status advanced = job_->AwaitStep(3, kPatience);
  EXPECT_TRUE(advanced.ok()) << advanced;
}

TEST_F(JobTest, AFaultThatDoesNotExistIsRefused) {
  Start(1, 2, 1);
  const absl::Status status = job_->Inject({0, 0}, "chip-stop chip=9 where=before");
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_NE(status.message().find("chip=9"), std::string::npos) << status;
}

TEST_F(JobTest, NothingOutlivesTheJob) {
  Start(1, 2, 1);
  const std::vector<pid_t> pids = job_->Processes();
  ASSERT_EQ(pids.size(), 2u);
  job_.reset();
  for (pid_t pid : pids) EXPECT_NE(kill(pid, 0), 0) << pid;
}

}  // namespace
}  // namespace rapideye::testbed
