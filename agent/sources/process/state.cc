#include "agent/sources/process/state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rapideye::agent {

TrainingProcess::Change TrainingProcess::Observe(const ProcessReading& reading,
                                                 absl::Duration now) {
  Change change;
  if (!reading.process.has_value()) return change;
  const ProcessSample& sample = *reading.process;
  if (!process_.has_value() || process_->id != sample.id) {
    change.another = true;
    if (process_.has_value()) before_until_ = alive_at_;
    ended_at_.reset();
    cpu_ms_at_progress_ = sample.cpu_ms;
    // Seen for the first time: when it ended, nobody knows.
    if (sample.Ended()) ended_at_ = now;
  } else if (sample.Ended() && !ended_at_.has_value()) {
    change.ended = true;
    ended_at_ = now;
  }
  if (!sample.Ended()) alive_at_ = now;
  process_ = sample;
  return change;
}

void TrainingProcess::Progressed() {
  if (process_.has_value()) cpu_ms_at_progress_ = process_->cpu_ms;
}

std::optional<ProcessId> TrainingProcess::alive() const {
  if (!process_.has_value() || process_->Ended()) return std::nullopt;
  return process_->id;
}

std::string TrainingProcess::DescribeEnd() const {
  const std::string who = absl::StrCat(process_->command, " (", process_->id.pid, ")");
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

bool TrainingProcess::EndIsKnown() const {
  return process_.has_value() && (process_->signal.has_value() || process_->exit_code.has_value());
}

void TrainingProcess::Describe(Instant now, Snapshot& snapshot) const {
  if (!process_.has_value()) return;
  Process process;
  process.pid = process_->id.pid;
  process.command = process_->command;
  process.cpu_ms = std::max<int64_t>(0, process_->cpu_ms - cpu_ms_at_progress_);
  process.state = process_->state;
  process.exit_code = process_->exit_code;
  process.signal = process_->signal;
  process.wait_channel = process_->wait_channel;
  if (ended_at_.has_value()) {
    process.exited_ms_ago =
        std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - *ended_at_));
  }
  snapshot.processes.push_back(std::move(process));
}

}  // namespace rapideye::agent
