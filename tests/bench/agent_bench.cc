// Measures what the agent costs beside a healthy job, against a bare client that makes
// the same polls: CPU time per poll, and resident memory.
#include <benchmark/benchmark.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/progress/rapideye_progress.h"
#include "tests/bench/smoke.h"
#include "tests/support/fake_coordinator.h"
#include "tests/support/fake_runtime.h"
#include "tests/testbed/launcher/child_process.h"
#include "tests/testbed/launcher/made_up_kernel.h"

namespace rapideye::bench {
namespace {

using std::chrono::steady_clock;
using testbed::ChildProcess;

constexpr int kChips = 4;
constexpr int kTensorCores = 2;  // of each chip
constexpr int kSparseCores = 4;
// The first polls do not count: they set up connections and touch the memory in use.
constexpr int64_t kPollsToWarmUp = 4;

// A host in the midst of a step.
std::string Status(int32_t launch_id) {
  tpu::monitoring::runtime::GetTpuRuntimeStatusResponse response;
  response.set_host_name("host-0-0");
  for (int chip = 0; chip < kChips; ++chip) {
    for (int i = 0; i < kTensorCores + kSparseCores; ++i) {
      const bool tensor = i < kTensorCores;
      const int32_t id = chip * (kTensorCores + kSparseCores) + i;
      auto& core = (*response.mutable_core_states())[id];
      core.mutable_core_id()->set_global_core_id(id);
      core.mutable_core_id()->set_chip_id(chip);
      auto& place = *core.mutable_core_id()->mutable_core_on_chip();
      place.set_type(tensor ? tpu_telemetry::TPU_CORE_TYPE_TENSOR_CORE
                            : tpu_telemetry::TPU_CORE_TYPE_SPARSE_CORE);
      place.set_index(tensor ? i : i - kTensorCores);
      core.set_program_fingerprint(std::string(32, '\xab'));
      core.set_launch_id(launch_id);
      auto& sequencer = *core.add_sequencer_info();
      sequencer.set_sequencer_type(tensor
                                       ? tpu_telemetry::TPU_SEQUENCER_TYPE_TENSOR_CORE_SEQUENCER
                                       : tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_SEQUENCER);
      sequencer.set_pc(0x1000 + launch_id % 512);
      sequencer.set_tag(launch_id % 64);
      sequencer.set_run_id(launch_id);
      auto& queued = *core.add_queued_program_info();
      queued.set_launch_id(launch_id + 1);
      queued.set_program_fingerprint(std::string(32, '\xab'));
    }
  }
  return response.SerializeAsString();
}

struct Usage {
  absl::Duration cpu;
  double resident_mib = 0;
};

Usage UsageOf(pid_t pid) {
  clockid_t clock;
  timespec cpu = {};
  // This clock is far finer than the ticks of /proc.
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &cpu) != 0) {
    throw std::runtime_error("a measured process has ended");
  }
  int64_t total = 0;
  int64_t resident = 0;
  std::ifstream(absl::StrCat("/proc/", pid, "/statm")) >> total >> resident;
  return {absl::DurationFromTimespec(cpu),
          static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0)};
}

// A process that polls a runtime of its own.
class Subject {
 public:
  // `command` begins with the program.
  void Start(std::vector<std::string> command, std::string log_path) {
    auto child = ChildProcess::Spawn({std::move(command), {}, std::move(log_path), {}});
    if (!child.ok()) throw std::runtime_error(std::string(child.status().message()));
    child_ = *std::move(child);
  }

  agent::FakeRuntime& runtime() { return runtime_; }

  void AwaitPolls(int64_t beyond) const {
    while (runtime_.calls() < beyond) {
      UsageOf(child_->pid());  // still there?
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void Begin() {
    before_ = UsageOf(child_->pid());
    calls_before_ = runtime_.calls();
  }
  // CPU time per poll since Begin, and the memory now.
  Usage End() const {
    const Usage now = UsageOf(child_->pid());
    const int64_t polls = runtime_.calls() - calls_before_;
    if (polls == 0) throw std::runtime_error("no poll was made");
    return {(now.cpu - before_.cpu) / polls, now.resident_mib};
  }

 private:
  agent::FakeRuntime runtime_;
  std::unique_ptr<ChildProcess> child_;
  Usage before_;
  int64_t calls_before_ = 0;
};

struct Pair {
  Usage floor;
  Usage agent;
};

// Both run at the same time, so that other load of the machine hits both.
Pair Measure(absl::Duration interval, absl::Duration window) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / absl::StrCat("rapideye-bench-", getpid());
  std::filesystem::create_directories(folder);
  const std::string log = folder / "training.log";
  std::ofstream training(log);
  const std::string page_path = folder / "progress";
  rapideye_progress page;
  rapideye_progress_open(&page, page_path.c_str());
  const testbed::MadeUpKernel kernel(folder / "kernel");
  if (!kernel.Create(kChips).ok()) throw std::runtime_error("no room for files");
  // The chips are made up, the network is this machine's.
  std::filesystem::create_directory_symlink("/sys/class/net", kernel.sys() + "/class/net");

  agent::FakeCoordinator coordinator;
  Subject floor;
  Subject agent;
  int32_t launch_id = 0;
  const auto advance = [&] {
    ++launch_id;
    rapideye_progress_step(&page, launch_id);
    training << "I1120 12:00:00.000000 4211 train.py:88] step " << launch_id << " loss 2.71\n"
             << std::flush;
    const std::string status = Status(launch_id);
    floor.runtime().AnswerWith(status);
    agent.runtime().AnswerWith(status);
  };
  advance();
  floor.Start({absl::StrCat(RAPIDEYE_BENCH_DIR, "/bare-client"), floor.runtime().address(),
               absl::StrCat(absl::ToInt64Milliseconds(interval))},
              folder / "floor.log");
  agent.Start({absl::StrCat(RAPIDEYE_PROGRAM_DIR, "/rapideye-agent"), "--job=bench", "--slice=0",
               "--task=0", "--host=host-0-0", absl::StrCat("--log=", log), "--peer=0/1=127.0.0.2",
               absl::StrCat("--progress-page=", page_path),
               absl::StrCat("--hlo-dump-dir=", folder.string()),
               absl::StrCat("--sys-root=", kernel.sys()), absl::StrCat("--dev-root=", kernel.dev()),
               absl::StrCat("--coordinator=", coordinator.address()),
               absl::StrCat("--runtime=", agent.runtime().address()),
               absl::StrCat("--poll-interval=", absl::FormatDuration(interval)),
               absl::StrCat("--state-dir=", (folder / "state").string())},
              folder / "agent.log");
  if (!coordinator.Welcome()) throw std::runtime_error("the agent did not connect");

  for (int64_t polls = 1; polls <= kPollsToWarmUp; ++polls) {
    floor.AwaitPolls(polls);
    agent.AwaitPolls(polls);
    advance();
  }
  floor.Begin();
  agent.Begin();
  const auto end = steady_clock::now() + absl::ToChronoNanoseconds(window);
  while (steady_clock::now() < end) {
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(interval / 2));
    advance();
  }
  const Pair found = {floor.End(), agent.End()};
  rapideye_progress_close(&page);
  std::filesystem::remove_all(folder);
  return found;
}

// Measured once for both cases.
const Pair& Measured(absl::Duration interval, absl::Duration window) {
  static std::map<absl::Duration, Pair> found;
  const auto it = found.find(interval);
  if (it != found.end()) return it->second;
  if (Smoke()) return found[interval] = Measure(absl::Milliseconds(50), absl::Milliseconds(200));
  return found[interval] = Measure(interval, window);
}

void Report(const Usage& usage, benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(absl::ToDoubleSeconds(usage.cpu));
  state.counters["resident MiB"] = usage.resident_mib;
}

template <typename Choose>
void Run(benchmark::State& state, absl::Duration interval, absl::Duration window, Choose choose) {
  try {
    Report(choose(Measured(interval, window)), state);
  } catch (const std::runtime_error& error) {
    state.SkipWithError(error.what());
  }
}

// `interval` of polling; `window` in which CPU time is counted.
void Register(const std::string& subject, absl::Duration interval, absl::Duration window,
              const std::string& goal) {
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(1)
        ->Unit(benchmark::kMicrosecond);
  };
  add(subject + "/floor", [=](benchmark::State& state) {
    Run(state, interval, window, [](const Pair& pair) { return pair.floor; });
  });
  add(subject + "/agent", [=](benchmark::State& state) {
    Run(state, interval, window, [](const Pair& pair) { return pair.agent; });
    state.SetLabel(goal);
  });
}

const bool registered = [] {
  Register("poll every 5 s", absl::Seconds(5), absl::Seconds(60),
           "CPU of a poll at most 2 times the bare client's; 10 MiB more");
  Register("poll every 100 ms", absl::Milliseconds(100), absl::Seconds(10), "");
  return true;
}();

}  // namespace
}  // namespace rapideye::bench
