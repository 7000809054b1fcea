#include "agent/sources/probe/fetch.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "agent/sources/probe/fetch_knock.h"
#include "agent/sources/probe/limits.h"
#include "proto/common/clock/clock.h"

namespace rapideye::agent {
namespace {

// Waits until an answer has come, or until `until`.
void Hear(std::list<Knock>& knocks, absl::Duration until) {
  std::vector<pollfd> waiting;
  absl::Duration now = MonotonicTime();
  for (const Knock& knock : knocks) {
    if (!knock.Settled(now)) knock.AwaitedBy(waiting);
  }
  const absl::Duration left = std::max(absl::ZeroDuration(), until - now);
  const int timeout = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
  if (poll(waiting.data(), waiting.size(), timeout) <= 0) return;
  now = MonotonicTime();
  for (const pollfd& one : waiting) {
    if (one.revents == 0) continue;
    for (Knock& knock : knocks) knock.Hear(one.fd, now);
  }
}

bool AllSettled(const std::list<Knock>& knocks) {
  const absl::Duration now = MonotonicTime();
  return std::all_of(knocks.begin(), knocks.end(),
                     [now](const Knock& k) { return k.Settled(now); });
}

}  // namespace

ProbeReading ProbeAll(const std::vector<wire::ProbeTarget>& targets, const ProbeOptions& options) {
  ProbeReading reading;
  const absl::Duration start = MonotonicTime();
  const absl::Duration end = start + options.time;
  std::list<Knock> knocks;
  for (const wire::ProbeTarget& target : targets) knocks.emplace_back(target, options.port);
  for (int tries = 0; MonotonicTime() < end && !AllSettled(knocks); ++tries) {
    if (tries < kProbeTries) {
      knocks.remove_if([&](Knock& knock) {
        if (knock.Settled(MonotonicTime())) return false;
        const absl::Status tried = knock.Try(MonotonicTime());
        if (!tried.ok()) reading.unavailable = std::string(tried.message());
        return !tried.ok();
      });
    }
    const absl::Duration next = tries + 1 < kProbeTries ? start + (tries + 1) * kProbeSpacing : end;
    const absl::Duration until = std::min(next, end);
    while (MonotonicTime() < until && !AllSettled(knocks)) Hear(knocks, until);
  }
  for (const Knock& knock : knocks) {
    reading.probes.push_back(JudgeProbe(knock.target(), knock.echoes()));
  }
  return reading;
}

}  // namespace rapideye::agent
