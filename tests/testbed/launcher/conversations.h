// Conversations keeps the lines that the processes of a testbed job have printed.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_CONVERSATIONS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_CONVERSATIONS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

// Thread-safe: the threads that read the processes' output add lines, the job's thread asks.
class Conversations {
 public:
  // A process of the worker is about to start: forgets the lines of its predecessor.
  void Begin(WorkerId worker);
  void BeginCoordinator();

  // Lines that are no control lines are lines of the worker's log, and not kept.
  void Hear(WorkerId worker, absl::string_view line);
  void HearCoordinator(absl::string_view line);

  // Returns once a further line was heard, at the latest after `duration`.
  void AwaitLine(absl::Duration duration);

  // The last line with this verb; absent: none since the process began, or since it was forgotten.
  std::optional<ControlLine> Last(WorkerId worker, const std::string& verb) const;
  bool Has(WorkerId worker, const std::string& verb) const {
    return Last(worker, verb).has_value();
  }
  void Forget(WorkerId worker, const std::string& verb);
  void ForgetOfAll(const std::string& verb);
  std::vector<ControlLine> LastOfAll(const std::string& verb) const;

  // Steps completed by every worker, and the time at which a worker last reported one;
  // InfinitePast: none has.
  int64_t StepOfSlowest() const;
  absl::Time LastStep() const;
  // True if the coordinator that now runs has logged this text.
  bool CoordinatorLogged(absl::string_view text) const;
  // ABORTED if a worker has reported an error.
  absl::Status Errors() const;

 private:
  struct Conversation {
    std::map<std::string, ControlLine> last;  // by verb
    int64_t step = 0;
    absl::Time step_at = absl::InfinitePast();
    std::string error;
  };

  mutable std::mutex mutex_;
  std::condition_variable heard_;
  std::map<WorkerId, Conversation> conversations_;
  std::vector<std::string> coordinator_log_;  // of the coordinator that now runs
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_CONVERSATIONS_H_
