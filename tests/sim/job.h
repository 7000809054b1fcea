// Job simulates the training job that the agents watch: the state of its runtimes and processes at
// any moment, and the truth about it.
//
// The scenario corpus decides who waits for whom; here its jobs run for minutes
// before they break, and are restarted.
#ifndef RAPIDEYE_TESTS_SIM_JOB_H_
#define RAPIDEYE_TESTS_SIM_JOB_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/registry.h"
#include "agent/sources/runtime/sample.h"
#include "tests/scenarios/dynamics.h"
#include "tests/scenarios/plan.h"
#include "tests/sim/options.h"

namespace rapideye::sim {

class Job {
 public:
  explicit Job(const Options& options);

  const scenarios::Layout& layout() const { return incarnations_.front()->plan.job.layout; }
  const std::string& name() const { return incarnations_.front()->plan.job.name; }
  // Threshold that the operator sets: at least the one drawn, and not so short that a healthy
  // launch passes it.
  absl::Duration threshold() const { return threshold_; }
  // The time after which nothing breaks any more.
  absl::Duration last_break() const { return last_break_; }

  agent::RuntimeReading Runtime(int worker, absl::Duration now, bool with_hlo) const;
  agent::HostReading Host(int worker, absl::Duration now) const;
  // When the process of this worker ended before its time, if it did.
  std::optional<absl::Duration> KilledAt(int worker) const;

  // A time in which no launch completes, anywhere.
  struct Gap {
    int incarnation = 0;
    absl::Duration from;   // the completion before
    absl::Duration until;  // the one behind it, the end of the incarnation, or infinite
    bool heals = false;    // a launch completes at its end
  };
  Gap GapAt(absl::Duration now) const;
  // A standstill that may be reported at this moment, and once: no launch completes for
  // longer than the threshold, or never again; a process was killed, though
  // others go on for a moment; all processes have been ended. Absent: all is well.
  using Standstill = std::pair<int, absl::Duration>;  // incarnation, since when
  std::optional<Standstill> StandstillAt(absl::Duration now) const;
  // The truth about a hang at this moment; absent: nothing is broken for good.
  const scenarios::Truth* TruthAt(absl::Duration now) const;
  int IncarnationAt(absl::Duration now) const;

 private:
  struct Incarnation {
    scenarios::Plan plan;
    std::unique_ptr<scenarios::World> world;
    absl::Duration begins;
    absl::Duration ends = absl::InfiniteDuration();
    bool breaks = false;  // for good
    std::optional<int> killed_worker;
    absl::Duration killed_at;
  };

  void Add(Fate fate, absl::Duration begins, absl::Duration fault_after, absl::Duration ends);
  void Break(Fate fate, int launch, Incarnation& incarnation);
  bool Down(const Incarnation& incarnation, int worker, absl::Duration now) const;
  void AddDevice(const Incarnation& incarnation, int device, int number, absl::Duration now,
                 bool with_hlo, agent::RuntimeSample& sample) const;

  const Options& options_;
  scenarios::Plan plan_;  // of all incarnations, as the corpus has made it
  absl::Duration threshold_;
  absl::Duration last_break_;
  std::vector<std::unique_ptr<Incarnation>> incarnations_;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_JOB_H_
