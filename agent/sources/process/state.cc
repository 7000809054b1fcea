#include "agent/sources/process/state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/sources/process/limits.h"

namespace rapideye::agent {
namespace {

std::optional<int64_t> MillisecondsSince(std::optional<absl::Duration> moment, Instant now) {
  if (!moment.has_value()) return std::nullopt;
  return std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - *moment));
}

}  // namespace

void TrainingProcess::Observe(const ProcessReading& reading, const JobFacts& job,
                              absl::Duration now, Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  if (reading.chip_holders.has_value()) chip_holders_ = *reading.chip_holders;
  replaced_ = false;
  end_awaited_ = reading.end_awaited;
  if (reading.process.has_value()) Take(*reading.process, job, now, notices);
}

void TrainingProcess::Take(const ProcessSample& sample, const JobFacts& job, absl::Duration now,
                           Notices& notices) {
  bool seen_to_end = false;
  if (!process_.has_value() || process_->id != sample.id) {
    replaced_ = true;
    if (process_.has_value()) before_until_ = alive_at_;
    ended_at_.reset();
    alarmed_ = false;
    started_at_.reset();
    if (sample.age_ms.has_value()) started_at_ = now - absl::Milliseconds(*sample.age_ms);
    cpu_ms_at_progress_ = sample.cpu_ms;
    // Seen for the first time: the time of its end is not known.
    if (sample.Ended()) ended_at_ = now;
  } else if (sample.Ended() && !ended_at_.has_value()) {
    seen_to_end = true;
    ended_at_ = now;
  }
  if (!sample.Ended()) alive_at_ = now;
  process_ = sample;
  if (seen_to_end) notices.warnings.push_back(DescribeEnd());
  // The kind of an end may be known at its first sight, or only later, from the parent process. An
  // end of unknown kind counts in the midst of a launch, because a job that is done ends between
  // launches; where the process has said that it ends because of another one; and right after its
  // watchdog printed stacks.
  const bool by_watchdog = ended_at_.has_value() && job.watchdog_at.has_value() &&
                           absl::AbsDuration(*ended_at_ - *job.watchdog_at) <= kWatchdogEndsWithin;
  const bool says_why = sample.Ended() && (job.says_it_ends || by_watchdog);
  const bool amid = (seen_to_end && job.in_launch) || says_why;
  const bool in_midst = EndedBadly() || (!EndIsKnown() && amid);
  if (!in_midst || std::exchange(alarmed_, true)) return;
  notices.alarms.push_back({wire::AlarmKind::kProcessExit, DescribeEnd()});
}

void TrainingProcess::JobProgressed() {
  if (process_.has_value()) cpu_ms_at_progress_ = process_->cpu_ms;
  chip_holders_.clear();
}

std::optional<ProcessId> TrainingProcess::alive() const {
  if (!process_.has_value() || process_->Ended()) return std::nullopt;
  return process_->id;
}

std::string TrainingProcess::DescribeEnd() const {
  const std::string who = absl::StrCat(process_->command, " (", process_->id.pid, ")");
  if (KilledForMemory()) {
    return absl::StrCat(who, " was killed by the kernel for want of memory (signal 9)");
  }
  if (process_->signal.has_value()) {
    return absl::StrCat(who, " was killed by signal ", *process_->signal);
  }
  if (process_->exit_code.has_value()) {
    return absl::StrCat(who, " exited with status ", *process_->exit_code);
  }
  return absl::StrCat(who, " has ended, nobody knows how");
}

bool TrainingProcess::EndedBadly() const {
  return process_.has_value() &&
         (process_->signal.has_value() || process_->exit_code.value_or(0) != 0);
}

bool TrainingProcess::EndedOnPurpose() const {
  constexpr int32_t kSigInt = 2;
  constexpr int32_t kSigTerm = 15;
  if (!process_.has_value() || !process_->Ended()) return false;
  // A shell reports death by a signal as 128 plus its number.
  return process_->exit_code == 0 || process_->exit_code == 128 + kSigTerm ||
         process_->exit_code == 128 + kSigInt || process_->signal == kSigTerm ||
         process_->signal == kSigInt;
}

bool TrainingProcess::KilledForMemory() const {
  constexpr int32_t kSigKill = 9;
  // A shell reports death by a signal as 128 plus its number.
  const bool killed = process_->signal == kSigKill || process_->exit_code == 128 + kSigKill;
  return process_->out_of_memory && killed;
}

bool TrainingProcess::EndIsKnown() const {
  return process_.has_value() && (process_->signal.has_value() || process_->exit_code.has_value());
}

void TrainingProcess::AddTo(Snapshot& snapshot, Instant now) const {
  snapshot.chip_holders = chip_holders_;
  if (!process_.has_value()) return;
  Process process;
  process.pid = process_->id.pid;
  process.command = process_->command;
  process.cpu_ms = std::max<int64_t>(0, process_->cpu_ms - cpu_ms_at_progress_);
  process.state = process_->state;
  process.exit_code = process_->exit_code;
  process.signal = process_->signal;
  process.wait_channel = process_->wait_channel;
  process.exited_ms_ago = MillisecondsSince(ended_at_, now);
  process.started_ms_ago = MillisecondsSince(started_at_, now);
  if (KilledForMemory()) {
    LogEvent event;
    event.kind = LogKind::kOutOfMemory;
    event.text = absl::StrCat("Memory cgroup out of memory: Killed process ", process.pid, " (",
                              *process.command, "), by the counter of its cgroup");
    event.source = LogSource::kKernelLog;
    event.age_ms = process.exited_ms_ago;
    snapshot.log_events.push_back(std::move(event));
  }
  snapshot.processes.push_back(std::move(process));
}

}  // namespace rapideye::agent
