// testbed: starts a small multi-slice training job with its hang diagnosis,
// breaks it, and compares the verdict with what was really done.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"
#include "tests/testbed/launcher/experiment.h"
#include "tests/testbed/launcher/processes.h"
#include "tests/testbed/launcher/repeats.h"
#include "tests/testbed/launcher/report.h"
#include "tests/testbed/launcher/scenario.h"

namespace rapideye::testbed {
namespace {

// Variables that a user has set for real daemons, a --hook above all, must not reach those of a
// made-up job.
void ForgetOurVariables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (absl::StartsWith(variable, "RAPIDEYE_")) {
      names.push_back(variable.substr(0, variable.find('=')));
    }
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // it is set by a signal handler

struct Flags {
  std::string fault = "bad-chip";
  int slices = 2;
  int tasks = 4;
  int chips = 4;
  std::string generation = "v6e";
  int programs = 1;
  bool offload = false;
  bool pipeline = false;
  int seed = 1;
  absl::Duration poll_interval = absl::Seconds(1);
  std::optional<absl::Duration> launch_threshold = JobOptions().launch_threshold;
  std::optional<absl::Duration> hang_threshold = JobOptions().hang_threshold;
  absl::Duration pause_every;
  absl::Duration pause;
  absl::Duration duration = absl::Seconds(30);
  absl::Duration healthy = absl::Seconds(4);
  absl::Duration heal_after;
  bool tls = false;
  int repeat = 1;
  bool same_place = false;
  std::string state_dir;
  bool keep = false;
  bool hold = false;
};

void AddFlags(CLI::App& app, Flags& flags) {
  std::string faults = absl::StrCat("--fault=", ScenarioNames());
  for (const Scenario& scenario : Scenarios()) {
    absl::StrAppend(&faults, "\n", scenario.name, ": ", scenario.help);
  }
  program::AddFlag(app, "fault", flags.fault, faults);
  program::AddFlag(app, "slices", flags.slices, "number of slices of the job");
  program::AddFlag(app, "tasks", flags.tasks, "workers per slice");
  program::AddFlag(app, "chips", flags.chips, "chips per worker");
  program::AddFlag(app, "generation", flags.generation, "TPU generation: v4 v5e v5p v6e 7x");
  program::AddFlag(app, "programs", flags.programs, "programs per training step, 1 or 2");
  program::AddFlag(app, "offload", flags.offload, "runs a part of each program on SparseCores");
  program::AddFlag(app, "pipeline", flags.pipeline,
                   "makes each slice a pipeline stage with its own modules");
  program::AddFlag(app, "seed", flags.seed,
                   "seed that picks the victim, the place and the launch ids");
  program::AddFlag(app, "poll-interval", flags.poll_interval, "the agents' --poll-interval");
  program::AddFlag(app, "launch-threshold", flags.launch_threshold,
                   "the coordinator's --launch-threshold")
      .DefaultText(absl::FormatDuration(*flags.launch_threshold));
  program::AddFlag(app, "hang-threshold", flags.hang_threshold,
                   "the coordinator's --hang-threshold")
      .DefaultText(absl::FormatDuration(*flags.hang_threshold));
  program::AddFlag(
      app, "pause-every", flags.pause_every,
      "compute time between two pauses of the whole job, as for a checkpoint; 0s: never "
      "pauses");
  program::AddFlag(app, "pause", flags.pause, "length of each pause");
  program::AddFlag(app, "duration", flags.duration, "time for which --fault=none is watched");
  program::AddFlag(app, "healthy", flags.healthy, "time for which the job runs before the fault");
  program::AddFlag(
      app, "heal-after", flags.heal_after,
      "heals the fault this long after it took effect, then injects it once more elsewhere; "
      "0s: never heals it");
  program::AddFlag(app, "tls", flags.tls, "makes the daemons use mutual TLS");
  program::AddFlag(
      app, "repeat", flags.repeat,
      "number of attempts: after each hang the job restarts on other machines, the same "
      "machine fails again, and the removal policy decides (dry-run)");
  program::AddFlag(app, "same-place", flags.same_place,
                   "with --repeat: restarts the workers on the same machines");
  program::AddFlag(app, "state-dir", flags.state_dir,
                   "directory for incidents and logs (else a new one under /tmp)");
  program::AddFlag(app, "keep", flags.keep,
                   "keeps the state directory even if no incident was raised");
  program::AddFlag(
      app, "hold", flags.hold,
      "keeps job and pages up after the verdict, and prints what to try; Ctrl-C ends it");
}

absl::StatusOr<ExperimentOptions> OptionsFrom(const Flags& flags) {
  ExperimentOptions options;
  absl::StatusOr<Generation> generation = FindGeneration(flags.generation);
  if (!generation.ok()) return generation.status();
  options.job.shape = {flags.slices, flags.tasks, flags.chips, *generation};
  if (absl::Status s = CheckShape(options.job.shape); !s.ok()) return s;
  if (flags.programs < 1 || flags.programs > 2) {
    return absl::InvalidArgumentError("--programs: give 1 or 2");
  }
  const absl::Duration none;
  if ((flags.pause_every == none) != (flags.pause == none)) {
    return absl::InvalidArgumentError("--pause-every, --pause: give both or neither");
  }
  options.job.pause_every = flags.pause_every;
  options.job.pause = flags.pause;
  options.job.programs = flags.programs;
  options.job.offload = flags.offload;
  options.job.pipeline = flags.pipeline;
  options.job.seed = flags.seed;
  options.job.poll_interval = flags.poll_interval;
  options.job.launch_threshold = flags.launch_threshold;
  options.job.hang_threshold = flags.hang_threshold;
  options.job.program_dir = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  options.job.interrupted = &interrupted;
  options.healthy = flags.fault == "none" ? flags.duration : flags.healthy;
  if (flags.heal_after > none) options.heal_after = flags.heal_after;
  options.job.tls = flags.tls;
  options.job.state_dir = flags.state_dir;
  options.narration = &std::cout;
  return options;
}

absl::Status CheckRepeat(const Flags& flags, const ExperimentOptions& options,
                         const Scenario& scenario) {
  if (flags.repeat < 1) return absl::InvalidArgumentError("--repeat: give 1 or more");
  if (flags.repeat > 1 && flags.hold) {
    return absl::InvalidArgumentError("--hold: there is no one job to hold with --repeat");
  }
  if (flags.repeat > 1) {
    return CheckRepeats({options, flags.repeat, flags.same_place}, scenario);
  }
  if (flags.hold && flags.tls) {
    return absl::InvalidArgumentError("--hold, --tls: the command would need certificates, too");
  }
  if (flags.same_place) return absl::InvalidArgumentError("--same-place: give --repeat, too");
  return absl::OkStatus();
}

absl::StatusOr<std::string> StateDirectory(const std::string& wanted) {
  if (!wanted.empty()) {
    std::error_code error;
    std::filesystem::create_directories(wanted, error);
    if (error) return absl::UnavailableError(absl::StrCat(wanted, ": ", error.message()));
    return std::filesystem::absolute(wanted).string();
  }
  std::string made = (std::filesystem::temp_directory_path() / "rapideye-testbed-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat(made, ": cannot be made"));
  }
  return made;
}

// The pages have this address where it is free: commands in documents work then.
constexpr char kPages[] = "127.0.0.1:9490";

bool IsFree(uint16_t port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int reuse = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free =
      probe >= 0 && bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (probe >= 0) close(probe);
  return free;
}

// Address of the pages as the coordinator's log announces it; "" if it serves none.
std::string PagesAddress(const JobOptions& options) {
  constexpr std::string_view kAnnounced = "status and metrics at ";
  std::ifstream log(LogPath(options, "coordinator"));
  std::string address;
  for (std::string line; std::getline(log, line);) {
    const size_t at = line.find(kAnnounced);
    if (at != std::string::npos) address = line.substr(at + kAnnounced.size());
  }
  return address;
}

// Waits until Ctrl-C; the job goes on, or hangs, as before.
void Hold(Job& job) {
  std::cout << "\nThe job stays as it is, until Ctrl-C. Its pages:\n\n  "
            << PagesAddress(job.options())
            << "\n\nIn another terminal:\n\n  export PATH=" << job.options().program_dir
            << ":$PATH RAPIDEYE_COORDINATOR=" << job.coordinator_address()
            << "\n  rapideye status\n  rapideye incidents\n  rapideye show latest\n"
            << "  rapideye snapshot\n"
            << std::endl;
  const absl::Status ended = job.Watch(absl::Hours(24 * 365));
  if (!absl::IsCancelled(ended)) std::cout << ended.message() << std::endl;
  interrupted = false;  // what follows is the usual end
}

void InterruptOn(int signal) {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = true; };
  sigaction(signal, &action, nullptr);
}

int RunOnce(const ExperimentOptions& options, const Scenario& scenario) {
  const absl::StatusOr<Outcome> outcome = RunExperiment(options, scenario);
  if (!outcome.ok()) {
    std::cerr << outcome.status() << "\n";
    return program::kExitFailure;
  }
  std::cout << Report(options, *outcome);
  return outcome->differences.empty() ? program::kExitOk : program::kExitFailure;
}

int Repeat(const RepeatOptions& options, const Scenario& scenario) {
  const absl::StatusOr<Repeated> repeated = RunRepeats(options, scenario);
  if (!repeated.ok()) {
    std::cerr << repeated.status() << "\n";
    return program::kExitFailure;
  }
  std::cout << Report(*repeated) << "digests:    " << options.experiment.job.state_dir
            << "/incidents\n";
  return repeated->differences.empty() ? program::kExitOk : program::kExitFailure;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Starts a small multi-slice training job with simulated chips, its agents and the\n"
      "coordinator on loopback; injects a fault; prints the digest beside the truth.\n"
      "Exit status 0 only if the verdict was right; with --repeat, every verdict and\n"
      "every decision about removal.",
      "testbed");
  program::ConfigureApp(app);
  AddFlags(app, flags);
  if (std::optional<int> exit_code = program::Parse(app, argc, argv)) return *exit_code;
  ForgetOurVariables();
  absl::StatusOr<Scenario> scenario = FindScenario(flags.fault);
  absl::StatusOr<ExperimentOptions> options = OptionsFrom(flags);
  absl::Status usable = scenario.ok() ? options.status() : scenario.status();
  if (usable.ok()) usable = CheckRepeat(flags, *options, *scenario);
  if (!usable.ok()) {
    std::cerr << usable.message() << "\n";
    return program::kExitUsage;
  }
  absl::StatusOr<std::string> directory = StateDirectory(flags.state_dir);
  if (!directory.ok()) {
    std::cerr << directory.status().message() << "\n";
    return program::kExitFailure;
  }
  options->job.state_dir = *directory;
  if (flags.hold) {
    if (IsFree(9490)) options->job.http = kPages;
    options->before_end = Hold;
  }
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) InterruptOn(signal);

  const int exit_code = flags.repeat > 1
                            ? Repeat({*options, flags.repeat, flags.same_place}, *scenario)
                            : RunOnce(*options, *scenario);
  if (exit_code == program::kExitOk && flags.fault == "none" && flags.state_dir.empty() &&
      !flags.keep) {
    std::filesystem::remove_all(*directory);
  } else {
    std::cout << "logs:       " << *directory << "/logs\n";
  }
  return exit_code;
}

}  // namespace
}  // namespace rapideye::testbed

int main(int argc, char** argv) { return rapideye::testbed::Main(argc, argv); }
