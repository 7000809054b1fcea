#include "tests/testbed/launcher/conversations.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace rapideye::testbed {

void Conversations::Begin(WorkerId worker) {
  const std::lock_guard lock(mutex_);
  conversations_[worker] = {};
}

void Conversations::BeginCoordinator() {
  const std::lock_guard lock(mutex_);
  coordinator_log_.clear();
}

void Conversations::Hear(WorkerId worker, absl::string_view text) {
  absl::StatusOr<ControlLine> line = ParseControlLine(text);
  const std::lock_guard lock(mutex_);
  Conversation& conversation = conversations_[worker];
  if (absl::StartsWith(text, "error ")) {
    conversation.error = std::string(text.substr(6));
  } else if (line.ok()) {
    if (line->verb == "step" && absl::SimpleAtoi(line->subject, &conversation.step)) {
      conversation.step_at = absl::Now();
    }
    const std::string verb = line->verb;
    conversation.last[verb] = *std::move(line);
  }
  heard_.notify_all();
}

void Conversations::HearCoordinator(absl::string_view line) {
  const std::lock_guard lock(mutex_);
  coordinator_log_.emplace_back(line);
  heard_.notify_all();
}

void Conversations::AwaitLine(absl::Duration duration) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, absl::ToChronoMilliseconds(duration));
}

std::optional<ControlLine> Conversations::Last(WorkerId worker, const std::string& verb) const {
  const std::lock_guard lock(mutex_);
  const auto conversation = conversations_.find(worker);
  if (conversation == conversations_.end()) return std::nullopt;
  const auto line = conversation->second.last.find(verb);
  if (line == conversation->second.last.end()) return std::nullopt;
  return line->second;
}

void Conversations::Forget(WorkerId worker, const std::string& verb) {
  const std::lock_guard lock(mutex_);
  conversations_[worker].last.erase(verb);
}

void Conversations::ForgetOfAll(const std::string& verb) {
  const std::lock_guard lock(mutex_);
  for (auto& [worker, conversation] : conversations_) conversation.last.erase(verb);
}

std::vector<ControlLine> Conversations::LastOfAll(const std::string& verb) const {
  const std::lock_guard lock(mutex_);
  std::vector<ControlLine> lines;
  for (const auto& [worker, conversation] : conversations_) {
    const auto line = conversation.last.find(verb);
    if (line != conversation.last.end()) lines.push_back(line->second);
  }
  return lines;
}

int64_t Conversations::StepOfSlowest() const {
  const std::lock_guard lock(mutex_);
  int64_t slowest = conversations_.empty() ? 0 : conversations_.begin()->second.step;
  for (const auto& [worker, conversation] : conversations_) {
    slowest = std::min(slowest, conversation.step);
  }
  return slowest;
}

absl::Time Conversations::LastStep() const {
  const std::lock_guard lock(mutex_);
  absl::Time last = absl::InfinitePast();
  for (const auto& [worker, conversation] : conversations_) {
    last = std::max(last, conversation.step_at);
  }
  return last;
}

bool Conversations::CoordinatorLogged(absl::string_view text) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(coordinator_log_.begin(), coordinator_log_.end(),
                     [&](const std::string& line) { return absl::StrContains(line, text); });
}

absl::Status Conversations::Errors() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, conversation] : conversations_) {
    if (!conversation.error.empty()) {
      return absl::AbortedError(
          absl::StrCat("worker ", FormatWorker(worker), ": ", conversation.error));
    }
  }
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
