// testbed-chaos: a small job runs for long while its parts come and go.
#include <signal.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"
#include "tests/testbed/chaos/chaos.h"
#include "tests/testbed/launcher/processes.h"

namespace rapideye::testbed {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // it is set by a signal handler

void AddFlags(CLI::App& app, ChaosOptions& options, int& seed) {
  JobOptions& job = options.job;
  program::AddFlag(app, "duration", options.duration,
                   "time during which daemons and jobs are restarted");
  program::AddFlag(app, "seed", seed, "seed of the random events; the same seed repeats them");
  program::AddFlag(app, "agents", options.agents, "mean time between restarts of an agent");
  program::AddFlag(app, "jobs", options.jobs, "mean time between restarts of the whole job");
  program::AddFlag(app, "coordinators", options.coordinators,
                   "mean time between restarts of the coordinator");
  program::AddFlag(app, "hangs", options.hangs,
                   "mean time between injected hangs; each heals by itself");
  program::AddFlag(app, "away", options.away,
                   "longest time before an ended process is started again");
  program::AddFlag(app, "slices", job.shape.slices, "number of slices of the job");
  program::AddFlag(app, "tasks", job.shape.tasks, "workers per slice");
  program::AddFlag(app, "chips", job.shape.chips, "chips per worker");
  program::AddFlag(app, "tls", job.tls, "makes the daemons use mutual TLS");
  program::AddFlag(app, "agents-in-pods", job.agents_in_pods,
                   "restarts agents with the job and passes them the number of the attempt");
  program::AddFlag(app, "poll-interval", job.poll_interval, "the agents' --poll-interval");
  program::AddFlag(app, "state-dir", job.state_dir,
                   "directory for incidents and logs (else a new one under /tmp)");
}

absl::Status PrepareDirectory(std::string& directory) {
  if (directory.empty()) {
    directory = (std::filesystem::temp_directory_path() / "rapideye-chaos-XXXXXX").string();
    if (mkdtemp(directory.data()) != nullptr) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(directory, ": cannot be made"));
  }
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::UnavailableError(absl::StrCat(directory, ": ", error.message()));
  directory = std::filesystem::absolute(directory).string();
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  ChaosOptions options;
  options.job.shape = {2, 3, 2, *FindGeneration("v6e")};
  int seed = 1;
  CLI::App app(
      "Runs the testbed's job while agents, the coordinator and the whole job restart at random\n"
      "and chips, hosts and links fail and heal. Exit status 0 only if every hang was raised once\n"
      "with the right verdict, nothing else was raised, and nothing crashed.",
      "testbed-chaos");
  program::ConfigureApp(app);
  AddFlags(app, options, seed);
  if (std::optional<int> exit_code = program::Parse(app, argc, argv)) return *exit_code;
  absl::Status status = CheckShape(options.job.shape);
  if (status.ok() && options.job.shape.workers() < 2) {
    status = absl::InvalidArgumentError("--slices, --tasks: give two workers or more");
  }
  if (!status.ok()) {
    std::cerr << status.message() << "\n";
    return program::kExitUsage;
  }
  if (status = PrepareDirectory(options.job.state_dir); !status.ok()) {
    std::cerr << status.message() << "\n";
    return program::kExitFailure;
  }
  options.seed = static_cast<uint64_t>(seed);
  options.job.seed = seed;
  options.job.program_dir = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  options.job.interrupted = &interrupted;
  options.narration = &std::cout;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = true; };
    sigaction(signal, &action, nullptr);
  }

  const absl::StatusOr<ChaosOutcome> outcome = RunChaos(options);
  if (!outcome.ok()) {
    std::cerr << outcome.status() << "\n";
    return program::kExitFailure;
  }
  std::cout << "\n" << Report(*outcome) << "logs: " << LogDirectory(options.job) << "\n";
  return outcome->Passed() ? program::kExitOk : program::kExitFailure;
}

}  // namespace
}  // namespace rapideye::testbed

int main(int argc, char** argv) { return rapideye::testbed::Main(argc, argv); }
