// Logs of the workers of a small JAX job, and the verdict on them.
#ifndef RAPIDEYE_TESTS_SUPPORT_JOB_LOG_TEXTS_H_
#define RAPIDEYE_TESTS_SUPPORT_JOB_LOG_TEXTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/classify.h"
#include "classifier/logs/job_logs.h"

namespace rapideye::logs {

inline constexpr char kHealth[] = "completed step: 0\ncompleted step: 5\ncompleted step: 10\n";
inline constexpr char kClosed[] =
    "Traceback (most recent call last):\n"
    "  File \"/job/train.py\", line 181, in <module>\n"
    "jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: Connection closed by peer\n";
inline constexpr char kTimedOut[] =
    "Traceback (most recent call last):\n"
    "  File \"/job/train.py\", line 181, in <module>\n"
    "jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: Timed out waiting 20000ms for "
    "recv operation to complete\n";
inline constexpr char kRaised[] =
    "Traceback (most recent call last):\n"
    "  File \"/job/train.py\", line 181, in <module>\n"
    "ValueError: loss is not finite\n";
inline constexpr char kLeaderGone[] =
    "E1122 10:57:30.206823   19702 coordination_service_agent.cc:330] Failed to send RPC to "
    "coordination service. Either the leader task died/restarted unexpectedly\n";
inline constexpr char kHeartbeat[] =
    "E1122 10:58:53.206823   19702 coordination_service.cc:1549] Use error polling to propagate "
    "the following error to all tasks: UNAVAILABLE: The following tasks are unhealthy (stopped "
    "sending heartbeats):\n2\nThe tasks have crashed.\n";
inline constexpr char kTerm[] =
    "W1122 11:35:21.999586     662 preemption_notifier.cc:90] SIGTERM caught\n";

// Reads logs by their paths.
inline JobEvidence Read(const std::vector<std::pair<std::string, std::string>>& logs) {
  JobLogs job(SignatureTable::BuiltIn());
  for (const auto& [path, text] : logs) {
    LogName name;
    name.path = path;
    const size_t log = job.Add(std::move(name));
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      job.Take(log, line, std::nullopt);
    }
  }
  return job.Finish(nullptr);
}

// Diagnoses the logs of ranks 0, 1, …; an empty text stands for a missing log.
inline Verdict Diagnose(const std::vector<std::string>& ranks) {
  std::vector<std::pair<std::string, std::string>> logs;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].empty()) logs.emplace_back(absl::StrCat("rank-", i, ".log"), ranks[i]);
  }
  const JobEvidence evidence = Read(logs);
  return ClassifyLogs(evidence.capture, evidence.logs);
}

// Tasks of the culprits.
inline std::vector<int> Named(const Verdict& verdict) {
  std::vector<int> named;
  for (const Culprit& culprit : verdict.culprits) named.push_back(culprit.worker.task);
  return named;
}

inline std::string Health(const std::string& more = "") { return absl::StrCat(kHealth, more); }

}  // namespace rapideye::logs

#endif  // RAPIDEYE_TESTS_SUPPORT_JOB_LOG_TEXTS_H_
