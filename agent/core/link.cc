#include "agent/core/link.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/core/limits.h"
#include "agent/sources/limits.h"

namespace rapideye::agent {
namespace {

// Refusals that do not go away by trying again soon.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

std::string Advice(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAlreadyExists:
      return "; another agent runs for this worker: check that every agent has its own --slice and "
             "--task";
    case absl::StatusCode::kUnimplemented:
      return "; is this the address of a rapideye-coordinator?";
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return "; check --tls-cert, --tls-key and --tls-ca";
    default:
      return "";
  }
}

}  // namespace

Link::Link(bool enabled, uint64_t seed)
    : state_(enabled ? State::kDown : State::kDisabled),
      backoff_(seed, kFirstBackoff, kLongestBackoff) {}

void Link::Advance(absl::Duration now, const wire::Hello& hello, Effects& effects) {
  if (state_ == State::kGreeting && now >= at_) {
    effects.push_back(Close{});
    GoDown(now, absl::DeadlineExceededError("the coordinator did not answer Hello"), effects);
  }
  if (state_ != State::kDown || now < at_) return;
  state_ = State::kGreeting;
  at_ = now + kWelcomeTimeout;
  effects.push_back(Connect{++stream_});
  wire::Hello greeting = hello;
  greeting.connection = stream_;
  effects.push_back(Send{std::move(greeting)});
}

bool Link::Accepts(const MessageReceived& received) const {
  if (received.stream != stream_) return false;
  if (state_ == State::kUp) return true;
  return state_ == State::kGreeting && std::holds_alternative<wire::Welcome>(received.message);
}

void Link::Welcomed(absl::Duration now, Effects& effects) {
  if (state_ != State::kGreeting) return;
  state_ = State::kUp;
  at_ = now;
  refused_ = false;
  logged_.reset();
  effects.push_back(Log{LogLevel::kInfo, "the coordinator knows this worker"});
}

bool Link::Closed(const StreamClosed& closed, absl::Duration now, Effects& effects) {
  if (closed.stream != stream_ || (state_ != State::kGreeting && state_ != State::kUp)) {
    return false;
  }
  GoDown(now, closed.status, effects);
  return true;
}

void Link::GoDown(absl::Duration now, const absl::Status& why, Effects& effects) {
  // A coordinator that welcomes and drops its agents again is not hammered.
  if (state_ == State::kUp && now - at_ >= kStableStream) backoff_.Reset();
  state_ = State::kDown;
  refused_ = IsRefusal(why);
  const absl::Duration delay = refused_ ? backoff_.Jittered(kRefusedBackoff) : backoff_.Next();
  at_ = now + delay;
  if (std::exchange(logged_, why.code()) == why.code()) return;
  const std::string reason = why.ok() ? "it closed the stream"
                                      : absl::StrCat(absl::StatusCodeToString(why.code()), ": ",
                                                     why.message().substr(0, kMaxDetailBytes));
  effects.push_back(Log{
      refused_ ? LogLevel::kError : LogLevel::kWarning,
      absl::StrCat("no coordinator: ", reason, Advice(why), "; trying again until it answers")});
}

void Link::Hurry(absl::Duration now) {
  if (state_ != State::kDown || refused_ || at_ <= now + kFirstBackoff) return;
  at_ = now + backoff_.Jittered(kFirstBackoff);
}

void Link::Renew(absl::Duration now, Effects& effects) {
  if (state_ != State::kUp) return;
  effects.push_back(Close{});
  state_ = State::kDown;
  at_ = now + backoff_.Jittered(kFirstBackoff);
}

void Link::ShutDown(Effects& effects) {
  if (state_ == State::kGreeting || state_ == State::kUp) effects.push_back(Close{});
  state_ = State::kDisabled;
}

absl::Duration Link::NextWake() const {
  switch (state_) {
    case State::kDown:
    case State::kGreeting:
      return at_;
    case State::kDisabled:
    case State::kUp:
      break;
  }
  return absl::InfiniteDuration();
}

}  // namespace rapideye::agent
