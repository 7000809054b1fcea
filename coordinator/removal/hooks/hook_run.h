// HookRun and HookOutcome hold the input and the result of one run of a hook. Plain values.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_RUN_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// The input of a hook (deploy/hooks/README.md, "What a hook gets").
struct HookRun {
  std::string hook;                    // path of an executable; it is run without a shell
  std::string caller = "coordinator";  // or "remover", of a whole fleet
  std::string incident;
  int64_t revision = 1;          // number of the incident's digest
  std::string event = "opened";  // IncidentEvent::name; with hosts to remove never "recovered"
  std::string ended_at = {};     // RFC 3339; of "recovered"
  std::string cause;             // CauseName
  std::string job;
  bool job_by_worker = false;  // the coordinator was given no name: a worker has stated it
  // Hosts to remove; empty: none (watched, refused, or a dry run).
  std::vector<std::string> remove_hosts;
  // The platform's names of these hosts, in the same order; "" if not known.
  std::vector<std::string> remove_nodes = {};
  bool test = false;  // invented (`rapideye hook-test`)
  // The digest as JSON, on standard input. Shared: it may have megabytes, and every
  // hook of the incident gets it.
  std::shared_ptr<const std::string> digest = {};
};

// The outcome of one run of a hook.
struct HookOutcome {
  enum class End {
    kExited,       // `status` is its exit status
    kSignalled,    // `status` is the signal that ended it
    kTimedOut,     // it was stopped after --hook-timeout
    kInterrupted,  // it was stopped because this program stops
    kNotStarted,   // `error` says why
  };
  End end = End::kNotStarted;
  int status = 0;
  std::string error = {};
  // Standard output and error in the order in which they came: the beginning and the
  // end, if it was more than kMaxHookOutput. Valid UTF-8.
  std::string output = {};
  absl::Duration took = absl::ZeroDuration();

  bool succeeded() const { return end == End::kExited && status == 0; }
};

// "exited with status 0", "was stopped after 1m0.01s (--hook-timeout)".
std::string DescribeEnd(const HookOutcome& outcome);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_HOOK_RUN_H_
