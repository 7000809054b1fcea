#include "tests/testbed/worker/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace rapideye::testbed {
namespace {

constexpr int kCores = 2;
constexpr uint64_t kSeed = 5;

void Block(const std::stop_token& stop) {
  std::promise<void> stopped;
  const std::stop_callback on_stop(stop, [&] { stopped.set_value(); });
  stopped.get_future().wait();
}

// A host and cores whose operations take no time.
class HostTest : public testing::Test {
 protected:
  explicit HostTest(HostOptions options = {.seed = kSeed, .queue_depth = 2})
      : host_(options, step_, Pointers(), input_) {}
  ~HostTest() override {
    host_.Stop();
    for (auto& core : cores_) core->Stop();
  }

  static std::vector<std::unique_ptr<Core>> MakeCores() {
    std::vector<std::unique_ptr<Core>> cores;
    for (int i = 0; i < kCores; ++i) {
      cores.push_back(std::make_unique<Core>(CoreId{i, CoreType::kTensorCore, 0, i}));
    }
    return cores;
  }

  std::vector<Core*> Pointers() {
    std::vector<Core*> pointers;
    for (auto& core : cores_) pointers.push_back(core.get());
    return pointers;
  }

  void StartAll() {
    for (auto& core : cores_) {
      core->Start([](const Launch&, int, const std::stop_token&) { return absl::OkStatus(); },
                  {.dequeued = [this] { host_.OnDequeued(); },
                   .completed = [this](const Launch& launch) { host_.OnCompleted(launch); },
                   .failed = [](const absl::Status&) {}});
    }
    host_.Start();
  }

  const Step step_ =
      MakeStep({.programs = 2, .cross_slice = true, .step_time = absl::ZeroDuration()});
  InputPipe input_{absl::ZeroDuration(), 4};
  std::vector<std::unique_ptr<Core>> cores_ = MakeCores();
  Host host_;
};

class PausingHostTest : public HostTest {
 protected:
  explicit PausingHostTest(absl::Duration pause = absl::Milliseconds(1))
      : HostTest({.seed = kSeed, .queue_depth = 2, .steps_between_pauses = 2, .pause = pause}) {}
};

class RestingHostTest : public PausingHostTest {
 protected:
  RestingHostTest() : PausingHostTest(absl::Hours(1)) {}
};

TEST_F(HostTest, DispatchesSoManyAheadAndNoMore) {
  // Core 0 stays in its first launch: step 1 runs and waits, step 2 half waits.
  std::promise<void> first_launch;
  cores_[0]->AddGate([&](const Launch&, int operation, const std::stop_token& stop) {
    if (operation == 0) first_launch.set_value();
    Block(stop);
  });
  std::promise<void> second_step;
  host_.AddRewrite([&](int64_t number, Step&, const std::stop_token&) {
    if (number == 2) second_step.set_value();
  });
  StartAll();
  first_launch.get_future().wait();
  second_step.get_future().wait();
  host_.Stop();  // it cannot have dispatched more, and now will not
  const CoreState state = cores_[0]->State();
  ASSERT_TRUE(state.running.has_value());
  EXPECT_EQ(state.running->run_id, 1);
  ASSERT_GE(state.queued.size(), 1u);
  ASSERT_LE(state.queued.size(), 2u);
  EXPECT_EQ(state.queued[0].run_id, 2);
  EXPECT_EQ(state.queued[0].program->module, "jit_optimizer_apply");
  EXPECT_EQ(host_.Progress().launches, 0);
}

TEST_F(HostTest, LaunchIdsCountPerProgram) {
  std::promise<void> third_step;
  std::mutex mutex;
  std::vector<int32_t> ids;
  cores_[1]->AddGate([&](const Launch& launch, int operation, const std::stop_token& stop) {
    if (launch.step == 3) {
      if (operation == 0 && launch.run_id == 5) third_step.set_value();
      Block(stop);
      return;
    }
    if (operation != 0) return;
    const std::lock_guard lock(mutex);
    ids.push_back(launch.launch_id);
  });
  StartAll();
  third_step.get_future().wait();
  const int32_t a = LaunchIds::Start(kSeed, step_[0]->fingerprint);
  const int32_t b = LaunchIds::Start(kSeed, step_[1]->fingerprint);
  EXPECT_THAT(ids, testing::ElementsAre(a, b, a + 1, b + 1));
}

TEST_F(HostTest, AStepIsCompleteWhenEveryCoreHasCompletedIt) {
  std::promise<void> slow_one;
  std::promise<void> quick_one;
  cores_[0]->AddGate([&](const Launch& launch, int, const std::stop_token& stop) {
    if (launch.run_id != 4) return;  // the second program of step 2
    slow_one.set_value();
    Block(stop);
  });
  cores_[1]->AddGate([&](const Launch& launch, int, const std::stop_token& stop) {
    if (launch.run_id != 5) return;  // it has completed step 2
    quick_one.set_value();
    Block(stop);
  });
  StartAll();
  slow_one.get_future().wait();
  quick_one.get_future().wait();
  EXPECT_EQ(host_.Progress().steps, 1);
  EXPECT_EQ(host_.Progress().launches, 3);
}

TEST_F(HostTest, ARewriteChangesWhatIsLaunched) {
  const ProgramPtr other =
      MakeOtherProgram({.programs = 2, .cross_slice = true, .step_time = absl::ZeroDuration()});
  host_.AddRewrite([&](int64_t number, Step& step, const std::stop_token&) {
    if (number == 2) step[0] = other;
  });
  std::promise<std::string> module;
  cores_[0]->AddGate([&](const Launch& launch, int operation, const std::stop_token& stop) {
    if (launch.run_id != 3) return;
    if (operation == 0) module.set_value(launch.program->module);
    Block(stop);
  });
  StartAll();
  EXPECT_EQ(module.get_future().get(), "jit_eval_step");
}

TEST_F(PausingHostTest, LaunchesTheNextStepOnlyOnceAllIsDone) {
  std::promise<int64_t> done_before_third;
  std::promise<int64_t> done_before_fifth;
  host_.AddRewrite([&](int64_t number, Step&, const std::stop_token&) {
    if (number == 3) done_before_third.set_value(host_.Progress().steps);
    if (number == 5) done_before_fifth.set_value(host_.Progress().steps);
  });
  StartAll();
  EXPECT_EQ(done_before_third.get_future().get(), 2);
  EXPECT_EQ(done_before_fifth.get_future().get(), 4);
}

TEST_F(RestingHostTest, APauseEndsWhenTheHostIsStopped) {
  std::promise<void> second_step;
  host_.AddRewrite([&](int64_t number, Step&, const std::stop_token&) {
    EXPECT_LE(number, 2);
    if (number == 2) second_step.set_value();
  });
  StartAll();
  second_step.get_future().wait();
  host_.Stop();
  EXPECT_LE(host_.Progress().steps, 2);
}

TEST(CoreTest, AFailedOperationStopsTheCoreAndShows) {
  Core core({0, CoreType::kTensorCore, 0, 0});
  std::promise<absl::Status> failed;
  core.Start(
      [](const Launch&, int, const std::stop_token&) { return absl::DataLossError("odd sum"); },
      {.dequeued = [] {},
       .completed = [](const Launch&) { ADD_FAILURE(); },
       .failed = [&](const absl::Status& status) { failed.set_value(status); }});
  core.Enqueue({MakeStep({.programs = 1, .cross_slice = true, .step_time = {}})[0], 7, 1, 1, true});
  EXPECT_TRUE(absl::IsDataLoss(failed.get_future().get()));
  EXPECT_THAT(core.State().error, testing::HasSubstr("odd sum"));
  EXPECT_EQ(core.State().running->launch_id, 7);
}

}  // namespace
}  // namespace rapideye::testbed
