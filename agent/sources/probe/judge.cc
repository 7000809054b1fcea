#include "agent/sources/probe/judge.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace rapideye::agent {

Probe JudgeProbe(const wire::ProbeTarget& target, const ProbeEchoes& echoes) {
  Probe probe;
  probe.peer = target.peer;
  probe.nic = target.nic;
  if (!echoes.answer.has_value()) {
    probe.error = echoes.error == 0 ? "no answer" : std::strerror(echoes.error);
    return probe;
  }
  probe.rtt_us = absl::ToInt64Microseconds(*echoes.answer);
  const bool large_vanish = echoes.small_answered && !echoes.full_answered && echoes.full_bytes > 0;
  if (large_vanish) {
    probe.error = absl::StrCat("small packets are answered, those of ", echoes.full_bytes,
                               " bytes are not: a black hole for large packets on the way");
    return probe;
  }
  probe.ok = true;
  return probe;
}

}  // namespace rapideye::agent
