#include "agent/core/restored_state.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "agent/core/limits.h"
#include "agent/sources/log/limits.h"

namespace rapideye::agent {

void IncidentMemory::Collected(const std::string& incident,
                               const std::optional<std::string>& process) {
  if (memory_.has_value() && memory_->incident == incident) return;
  memory_ = wire::IncidentMemory{incident, false, process};
}

void IncidentMemory::Concluded(const std::string& incident, bool stands_still,
                               const std::optional<std::string>& process) {
  if (memory_.has_value() && memory_->incident == incident) {
    memory_->concluded = true;
  } else if (stands_still) {
    memory_ = wire::IncidentMemory{incident, true, process};
  }
}

void IncidentMemory::Watching(const std::optional<std::string>& process) {
  if (memory_.has_value() && memory_->process_incarnation != process) memory_.reset();
}

namespace {

// The training process that the saved state is about.
std::optional<std::string> ProcessOf(const SavedState& kept) {
  if (kept.snapshot.has_value() && kept.snapshot->incarnation.has_value()) {
    return kept.snapshot->incarnation;
  }
  if (kept.hello.incident.has_value()) return kept.hello.incident->process_incarnation;
  return std::nullopt;
}

std::optional<int64_t> Older(std::optional<int64_t> age, int64_t by) {
  if (age.has_value()) *age += by;
  return age;
}

void RaiseTo(std::optional<int64_t> kept, std::optional<int64_t>& age) {
  if (kept.has_value()) age = std::max(age.value_or(0), *kept);
}

const std::string* FingerprintOf(const Snapshot& snapshot, const Core& core) {
  if (!core.program.has_value()) return nullptr;
  const auto index = static_cast<size_t>(*core.program);
  return index < snapshot.programs.size() ? &snapshot.programs[index].fingerprint : nullptr;
}

bool SamePlace(const Sequencer& a, const Sequencer& b) {
  return a.type == b.type && a.index == b.index && a.pc == b.pc && a.tag == b.tag &&
         a.tracemark == b.tracemark && a.run_id == b.run_id;
}

bool SameLaunch(const Snapshot& a, const Core& core_a, const Snapshot& b, const Core& core_b) {
  const std::string* of_a = FingerprintOf(a, core_a);
  const std::string* of_b = FingerprintOf(b, core_b);
  return core_a.chip == core_b.chip && core_a.chip_id == core_b.chip_id &&
         core_a.type == core_b.type && core_a.index == core_b.index && of_a != nullptr &&
         of_b != nullptr && *of_a == *of_b && core_a.launch_id == core_b.launch_id;
}

void AgeCores(int64_t by, std::vector<Core>& cores) {
  for (Core& core : cores) {
    core.stuck_ms = Older(core.stuck_ms, by);
    for (Sequencer& sequencer : core.sequencers) {
      sequencer.frozen_ms = Older(sequencer.frozen_ms, by);
    }
    for (Transition& transition : core.transitions) transition.age_ms += by;
  }
}

void MergeCore(const Core& then, int64_t by, Core& core) {
  RaiseTo(Older(then.stuck_ms, by), core.stuck_ms);
  for (Sequencer& sequencer : core.sequencers) {
    for (const Sequencer& before : then.sequencers) {
      if (!SamePlace(before, sequencer)) continue;
      RaiseTo(Older(before.frozen_ms, by), sequencer.frozen_ms);
      if (!sequencer.hlo.has_value()) sequencer.hlo = before.hlo;
      if (!sequencer.hlo_text.has_value()) sequencer.hlo_text = before.hlo_text;
      if (!sequencer.hlo_waits.has_value()) sequencer.hlo_waits = before.hlo_waits;
    }
  }
}

void MergeCores(const Snapshot& then, int64_t by, Snapshot& snapshot) {
  if (snapshot.cores.empty()) {
    snapshot.programs = then.programs;
    snapshot.cores = then.cores;
    snapshot.collectives = then.collectives;
    if (snapshot.devices.empty()) snapshot.devices = then.devices;
    AgeCores(by, snapshot.cores);
    return;
  }
  for (Program& program : snapshot.programs) {
    for (const Program& known : then.programs) {
      if (!program.module.has_value() && known.fingerprint == program.fingerprint) {
        program.module = known.module;
      }
    }
  }
  for (Core& core : snapshot.cores) {
    for (const Core& before : then.cores) {
      if (SameLaunch(then, before, snapshot, core)) MergeCore(before, by, core);
    }
  }
}

// An agent that starts reads the end of the logs again, without knowing when each
// line was written.
void MergeLogs(const Snapshot& then, int64_t by, Snapshot& snapshot) {
  if (!snapshot.hang_report.has_value()) snapshot.hang_report = then.hang_report;
  for (const LogEvent& before : then.log_events) {
    // The kernel's log can be read again, and only there are lines known to be the kernel's.
    if (before.source == LogSource::kKernelLog) continue;
    const auto same = std::find_if(snapshot.log_events.begin(), snapshot.log_events.end(),
                                   [&before](const LogEvent& event) {
                                     return event.source == before.source &&
                                            event.kind == before.kind && event.text == before.text;
                                   });
    const std::optional<int64_t> age = Older(before.age_ms, by);
    if (same != snapshot.log_events.end()) {
      RaiseTo(age, same->age_ms);
    } else if (snapshot.log_events.size() < kMaxLogEvents) {
      snapshot.log_events.push_back(before);
      snapshot.log_events.back().age_ms = age;
    }
  }
}

}  // namespace

RestoredState::RestoredState(std::optional<SavedState> kept, const wire::Hello& hello) {
  if (!kept.has_value() || kept->Empty()) return;
  if (kept->hello.job != hello.job || kept->hello.worker != hello.worker ||
      kept->hello.host != hello.host || kept->hello.job_incarnation != hello.job_incarnation) {
    return;
  }
  kept_ = std::move(kept);
}

void RestoredState::Expire(absl::Duration now) {
  if (!kept_.has_value()) return;
  const absl::Duration age = now - kept_->kept_at;
  // A time ahead of the clock is of another boot.
  if (age < absl::ZeroDuration() || age > (process_seen_ ? kKeepStateFor : kKeepUnseenFor)) {
    kept_.reset();
  }
}

void RestoredState::Watching(const std::optional<std::string>& process) {
  if (!process.has_value()) return;
  process_seen_ = true;
  if (kept_.has_value() && ProcessOf(*kept_) != process) kept_.reset();
}

std::optional<wire::IncidentMemory> RestoredState::Incident() const {
  return kept_.has_value() ? kept_->hello.incident : std::nullopt;
}

std::vector<wire::Alarm> RestoredState::TakeAlarms(absl::Duration now) {
  if (!kept_.has_value() || !process_seen_) return {};
  std::vector<wire::Alarm> alarms = std::exchange(kept_->alarms, {});
  if (now - kept_->kept_at > kKeepAlarmFor) alarms.clear();
  return alarms;
}

void RestoredState::Describe(Instant now, Snapshot& snapshot) const {
  if (!kept_.has_value() || !kept_->snapshot.has_value()) return;
  const int64_t by =
      std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - kept_->kept_at));
  if (!snapshot.incarnation.has_value()) snapshot.incarnation = kept_->snapshot->incarnation;
  MergeCores(*kept_->snapshot, by, snapshot);
  MergeLogs(*kept_->snapshot, by, snapshot);
}

}  // namespace rapideye::agent
