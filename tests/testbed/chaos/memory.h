// Measures the memory of the daemons while they run, to show that it does not grow.
#ifndef RAPIDEYE_TESTS_TESTBED_CHAOS_MEMORY_H_
#define RAPIDEYE_TESTS_TESTBED_CHAOS_MEMORY_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::testbed {

struct Usage {
  int64_t resident_kib = 0;
  int64_t descriptors = 0;
};

// NOT_FOUND if there is no such process any more.
absl::StatusOr<Usage> UsageOf(pid_t pid);

// One daemon from its start to its end, as it was looked at. A start allocates
// what is kept for good, so growth counts from kWarmUp on.
class DaemonLife {
 public:
  static constexpr absl::Duration kWarmUp = absl::Seconds(30);

  // `at`: since the beginning of the run.
  void Add(absl::Duration at, const Usage& usage);

  absl::Duration Life() const;
  int64_t PeakKib() const;
  int64_t LastKib() const;
  int64_t MostDescriptors() const;
  // From the end of the warm-up to the last look; 0 while it is warming up.
  int64_t GrownKib() const;
  // Least squares through all looks after the warm-up; 0 with fewer than two.
  double KibPerMinute() const;

 private:
  struct Look {
    absl::Duration at;
    Usage usage;
  };
  std::vector<Look> Warm() const;

  std::vector<Look> looks_;
};

// All generations of all daemons of a job.
class MemoryLog {
 public:
  // `daemon` is a name that outlives its processes.
  void Add(const std::string& daemon, pid_t pid, absl::Duration at, const Usage& usage);

  // A table for people: for the coordinator and for the agents each how many
  // generations there were, and those that lived longest.
  std::string Table() const;

 private:
  struct Key {
    std::string daemon;
    pid_t pid = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, DaemonLife> lives_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_CHAOS_MEMORY_H_
