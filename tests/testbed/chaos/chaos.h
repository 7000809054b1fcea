// Runs a healthy job whose parts are restarted at random, and which hangs now and then.
//
// The run is to show that no incident is raised without a hang, that every hang is raised
// once, that no daemon ends by itself, and that none of them grows.
#ifndef RAPIDEYE_TESTS_TESTBED_CHAOS_CHAOS_H_
#define RAPIDEYE_TESTS_TESTBED_CHAOS_CHAOS_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testbed/chaos/memory.h"
#include "tests/testbed/launcher/job_options.h"

namespace rapideye::testbed {

struct ChaosOptions {
  JobOptions job;
  absl::Duration duration = absl::Minutes(1);
  uint64_t seed = 1;  // of what happens, to whom, and about when
  // Mean times between restarts of any agent, of the whole job, of the
  // coordinator, and between hangs; infinite: never.
  absl::Duration agents = absl::Seconds(10);
  absl::Duration jobs = absl::Seconds(45);
  absl::Duration coordinators = absl::Seconds(90);
  absl::Duration hangs = absl::Minutes(2);
  // Longest time for which an ended process stays away.
  absl::Duration away = absl::Seconds(5);
  std::ostream* narration = nullptr;  // told what happens; may be null
};

struct ChaosOutcome {
  absl::Duration ran;
  std::map<std::string, int> restarts;  // by what restarted, and how
  int hangs = 0;
  int disturbed = 0;  // of them, by a daemon that restarted meanwhile
  int verdicts_right = 0;
  // Failures, each as a sentence; all empty: the run has shown what it is to show.
  std::vector<std::string> false_alarms;  // raised without a hang, or once more
  std::vector<std::string> missed;        // hangs that were not raised
  std::vector<std::string> wrong;         // raised, with another cause or culprit
  std::string crash;  // a process that ended by itself, or not as it was asked to
  MemoryLog memory;

  bool Passed() const {
    return false_alarms.empty() && missed.empty() && wrong.empty() && crash.empty();
  }
};

// Ends early when a process has crashed, or when interrupted. Fails only if the
// job could not be started.
absl::StatusOr<ChaosOutcome> RunChaos(const ChaosOptions& options);

// The outcome, for people.
std::string Report(const ChaosOutcome& outcome);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_CHAOS_CHAOS_H_
