// Reads the decisions and hooks that followed an incident from its hooks.json.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_REMOVALS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_REMOVALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rapideye::testbed {

class Job;

struct RemovalDecision {
  std::string host;
  std::string machine;
  std::string action;  // "remove" "watch" "refuse"
  std::string rule;    // "repetition" "independence" ...
  std::string reason;
};

struct HookRecord {
  std::string hook;
  std::string machine;  // that it was to remove; empty: it was for the incident
  std::string state;    // "due" "acting" "done" "failed" "expired"
  int64_t attempts = 0;
  std::string outcome;
  std::string output;
};

struct Removals {
  std::string mode;  // "off" "dry-run" "enforce"
  std::vector<RemovalDecision> decisions;
  std::vector<HookRecord> hooks;

  // Something was decided, and no hook waits or runs.
  bool Settled() const;
};

// INVALID_ARGUMENT names the key that is missing or of the wrong type.
absl::StatusOr<Removals> ParseRemovals(const std::string& json);

// Reads the file of the incident with this directory. NOT_FOUND if nothing has followed yet.
absl::StatusOr<Removals> ReadRemovals(const std::string& directory);

// Waits for all that follows the incident; returns the part that is there if this takes some
// seconds. Other errors are those of Job::Watch.
absl::StatusOr<Removals> AwaitRemovals(Job& job, const std::string& directory);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_REMOVALS_H_
