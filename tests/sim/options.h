// Options describes one simulation: everything follows from its seed.
#ifndef RAPIDEYE_TESTS_SIM_OPTIONS_H_
#define RAPIDEYE_TESTS_SIM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::sim {

// The course of a training job.
enum class Fate {
  kHealthy,
  kShortStall,  // nothing completes for less than the threshold
  kLongStall,   // for longer, and then it goes on: a hang that heals
  kHang,        // for ever, in one of the ways of the scenario corpus
};

struct Options {
  uint64_t seed = 0;

  // The job.
  int max_workers = 8;
  Fate fate = Fate::kHealthy;
  scenarios::Kind hang = scenarios::Kind::kChipCompute;  // of kHang
  absl::Duration fault_after;                            // about, of the job's beginning
  // All processes of the job are killed, and another incarnation begins, in health,
  // which hangs later or not.
  std::optional<absl::Duration> restart_at;
  absl::Duration down_for;
  bool second_hangs = false;
  // A worker says that it hangs while the job is in health.
  std::optional<absl::Duration> false_word_at;

  // The daemons.
  bool shape_is_configured = false;
  absl::Duration launch_threshold;  // at least; see Job::threshold
  absl::Duration collect_deadline;
  absl::Duration poll_interval;
  bool watches_host = false;
  absl::Duration agents_start_within;
  int agent_restarts = 0;
  int coordinator_restarts = 0;
  double coordinator_stops = 0;  // of these: asked to, and not killed
  double slow_disk = 0;          // of what is written: takes seconds

  // The network. Until `quiet_at` it fails; afterwards it is merely slow.
  absl::Duration slowest_message;
  int lost_streams = 0;
  double half_open = 0;  // of the lost ones: one side does not notice for long
  int hostile_streams = 0;
  // The agent of this worker lies. Then agents have certificates, which name their machines,
  // and their word on these is believed.
  std::optional<int> liar;
  absl::Duration quiet_at;
};

Options Draw(uint64_t seed);
// A job with one liar, so large that one worker is no tenth of it; most of these jobs hang.
Options DrawWithLiar(uint64_t seed);

// One line of key=value.
std::string Describe(const Options& options);

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_OPTIONS_H_
