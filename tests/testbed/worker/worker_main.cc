// testbed-worker: one worker of a small multi-slice training job.
//
// Started by the testbed's launcher, which talks to it over standard input and
// output (model/control.h). Its chips are simulated, their waiting is real.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/logging/logging.h"
#include "tests/testbed/worker/console.h"
#include "tests/testbed/worker/input_metrics.h"
#include "tests/testbed/worker/status_service.h"
#include "tests/testbed/worker/worker.h"

namespace rapideye::testbed {
namespace {

struct Flags {
  int slice = 0;
  int task = 0;
  int slices = 2;
  int tasks = 4;
  int chips = 4;
  std::string generation = "v6e";
  int programs = 1;
  bool offload = false;
  bool pipeline = false;
  absl::Duration abort_on_hang;
  std::string hlo_dump_dir;
  absl::Duration pause_every;
  absl::Duration pause;
  int queue_depth = 2;
  int runtime_port = 0;
  std::string mesh_address;
  int seed = 1;
  absl::Duration step_time = absl::Milliseconds(100);
  absl::Duration batch_time = WorkerOptions().batch_time;
  std::string input_pipeline_metrics;
};

void AddFlags(CLI::App& app, Flags& flags) {
  program::AddFlag(app, "slice", flags.slice, "index of this worker's slice, from 0");
  program::AddFlag(app, "task", flags.task, "index of this worker in its slice, from 0");
  program::AddFlag(app, "slices", flags.slices, "number of slices of the job");
  program::AddFlag(app, "tasks", flags.tasks, "workers per slice");
  program::AddFlag(app, "chips", flags.chips, "chips per worker");
  program::AddFlag(app, "generation", flags.generation, "TPU generation: v4 v5e v5p v6e 7x");
  program::AddFlag(app, "programs", flags.programs, "programs per step, 1 or 2");
  program::AddFlag(app, "offload", flags.offload, "runs a part of each program on SparseCores");
  program::AddFlag(app, "pipeline", flags.pipeline,
                   "makes each slice a pipeline stage with its own modules");
  program::AddFlag(app, "abort-on-hang", flags.abort_on_hang,
                   "aborts after this long without a completed launch; 0s: never");
  program::AddFlag(app, "hlo-dump-dir", flags.hlo_dump_dir,
                   "directory for HLO dumps; default: dumps none");
  program::AddFlag(app, "pause-every", flags.pause_every,
                   "compute time between two pauses of the training loop; 0s: never pauses");
  program::AddFlag(app, "pause", flags.pause,
                   "length of a pause, during which nothing is launched");
  program::AddFlag(app, "queue-depth", flags.queue_depth,
                   "number of launches that the host dispatches ahead");
  program::AddFlag(app, "runtime-port", flags.runtime_port,
                   "port of the runtime's status service; 0: any free port");
  program::AddFlag(
      app, "mesh-address", flags.mesh_address,
      "address on which other workers connect (else the worker's own loopback address)");
  program::AddFlag(app, "seed", flags.seed, "seed of the launch ids; give all workers the same");
  program::AddFlag(app, "step-time", flags.step_time, "compute time of one step");
  program::AddFlag(app, "batch-time", flags.batch_time,
                   "time that the input pipeline takes for one batch");
  program::AddFlag(app, "input-pipeline-metrics", flags.input_pipeline_metrics,
                   "HOST:PORT on which the input pipeline serves metrics, as Grain does");
}

int64_t StepsBetweenPauses(const Flags& flags) {
  if (flags.pause_every == absl::ZeroDuration()) return 0;
  absl::Duration rest;
  return std::max<int64_t>(1, absl::IDivDuration(flags.pause_every, flags.step_time, &rest));
}

absl::StatusOr<WorkerOptions> OptionsFrom(const Flags& flags) {
  WorkerOptions options;
  absl::StatusOr<Generation> generation = FindGeneration(flags.generation);
  if (!generation.ok()) return generation.status();
  options.shape = {flags.slices, flags.tasks, flags.chips, *generation};
  if (absl::Status s = CheckShape(options.shape); !s.ok()) return s;
  options.self = {flags.slice, flags.task};
  if (flags.slice < 0 || flags.slice >= flags.slices || flags.task < 0 ||
      flags.task >= flags.tasks) {
    return absl::InvalidArgumentError("--slice, --task: no worker of this job");
  }
  if (flags.programs < 1 || flags.programs > 2) {
    return absl::InvalidArgumentError("--programs: give 1 or 2");
  }
  if (flags.queue_depth < 1) return absl::InvalidArgumentError("--queue-depth: give 1 or more");
  if (flags.offload && generation->sparse_cores == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--offload: ", flags.generation, " has no SparseCores"));
  }
  options.step.programs = flags.programs;
  options.step.offload = flags.offload;
  if (flags.pipeline) options.step.stage = flags.slice;
  options.abort_on_hang = flags.abort_on_hang;
  options.batch_time = flags.batch_time;
  options.hlo_dump_dir = flags.hlo_dump_dir;
  options.step.cross_slice = flags.slices > 1;
  options.step.step_time = flags.step_time;
  options.host.seed = static_cast<uint64_t>(flags.seed);
  options.host.queue_depth = flags.queue_depth;
  options.host.steps_between_pauses = StepsBetweenPauses(flags);
  options.host.pause = flags.pause;
  if (!flags.mesh_address.empty()) options.mesh_address = flags.mesh_address;
  options.announce = Announce;
  return options;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("One worker of the testbed's job; started by the testbed.", "testbed-worker");
  program::ConfigureApp(app);
  AddFlags(app, flags);
  if (std::optional<int> exit_code = program::Parse(app, argc, argv)) return *exit_code;
  program::SetUpLogging("testbed-worker", program::LogFormat::kText);
  // No process of a job may outlive its parent, however the parent ended.
  prctl(PR_SET_PDEATHSIG, SIGKILL);

  absl::StatusOr<WorkerOptions> options = OptionsFrom(flags);
  if (!options.ok()) {
    std::cerr << options.status().message() << "\n";
    return program::kExitUsage;
  }
  Worker worker(*std::move(options));
  // The status service first: the mesh takes any port, and might take its.
  absl::StatusOr<std::unique_ptr<StatusServer>> server =
      StatusServer::Start(worker, flags.runtime_port);
  const absl::Status listening = server.ok() ? worker.Listen() : server.status();
  if (!listening.ok()) {
    std::cerr << listening << "\n";
    return program::kExitFailure;
  }
  const auto metrics = ServeInputMetrics(flags.input_pipeline_metrics, worker.input());
  if (!metrics.ok()) {
    std::cerr << metrics.status() << "\n";
    return program::kExitFailure;
  }
  Announce(absl::StrCat("ready runtime=", (*server)->address(), " mesh=", worker.mesh().address(),
                        " pid=", getpid()));
  Converse(worker);
  return program::kExitOk;
}

}  // namespace
}  // namespace rapideye::testbed

int main(int argc, char** argv) { return rapideye::testbed::Main(argc, argv); }
