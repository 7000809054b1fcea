// The core's part in streams: who may speak, how much, and what ends one.
//
// Agents are malicious, until shown otherwise: each of these costs at most the
// stream it came by.
#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void CoordinatorCore::On(const StreamOpened& event) {
  if (stopping_) {
    Emit(Close{event.stream, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  streams_[event.stream] = Stream{.peer = event.peer,
                                  .identity = event.identity,
                                  .opened = now_.monotonic,
                                  .heard = now_.monotonic,
                                  .tokens = kMessageBurst,
                                  .refilled = now_.monotonic};
}

void CoordinatorCore::On(const StreamRefused& event) {
  ++job_.counters.streams_refused;
  WarnOfPeer(absl::StrFormat("refused a stream at %s: %s", Quoted(event.peer),
                             Quoted(std::string(event.status.message()))));
}

void CoordinatorCore::On(const StreamCutOff& event) {
  ++job_.counters.cut_off;
  auto stream = streams_.find(event.stream);
  if (stream == streams_.end()) return;
  const Member* member = job_.membership.FindByStream(event.stream);
  WarnOfPeer(absl::StrFormat("cut off the stream at %s of %s: %s", Quoted(stream->second.peer),
                             member != nullptr ? Describe(*member) : "nobody yet",
                             Quoted(std::string(event.status.message()))));
}

void CoordinatorCore::On(const StreamClosed& event) { Drop(event.stream, /*log=*/true); }

void CoordinatorCore::Drop(StreamId stream, bool log) {
  streams_.erase(stream);
  const std::optional<WorkerId> worker = job_.membership.Leave(stream);
  if (!worker.has_value()) return;
  all_connected_ = false;
  job_.progress.Disconnected(*worker);
  votes_.OnLeave(*worker);
  if (incident_.has_value()) incident_->OnLeave(*worker, now_.monotonic, effects_);
  if (inspection_.has_value()) inspection_->OnLeave(*worker, now_.monotonic, effects_);
  if (texts_.has_value()) texts_->OnLeave(*worker, now_.monotonic, effects_);
  if (log) {
    Info(absl::StrFormat("%s disconnected (%d connected)", Describe(*job_.membership.Find(*worker)),
                         job_.membership.connected()));
  }
}

void CoordinatorCore::Refuse(StreamId stream, const absl::Status& status) {
  const Member* member = job_.membership.FindByStream(stream);
  WarnOfPeer(absl::StrFormat("closed the stream at %s of %s: %s", Quoted(streams_[stream].peer),
                             member != nullptr ? Describe(*member) : "nobody yet",
                             Quoted(std::string(status.message()))));
  Emit(Close{stream, status});
  Drop(stream, /*log=*/false);
}

void CoordinatorCore::WarnOfPeer(const std::string& text) {
  const double seconds = absl::ToDoubleSeconds(now_.monotonic - peer_lines_refilled_);
  peer_lines_ = std::min(kPeerLineBurst, peer_lines_ + seconds * kPeerLinesPerSecond);
  peer_lines_refilled_ = now_.monotonic;
  if (peer_lines_ < 1) {
    ++job_.counters.unlogged_lines;
    ++peer_lines_left_out_;
    return;
  }
  peer_lines_ -= 1;
  const int64_t left_out = std::exchange(peer_lines_left_out_, 0);
  Warn(left_out == 0 ? text
                     : absl::StrCat(text, " (and ", left_out, " lines of this kind left out)"));
}

void CoordinatorCore::CloseSilentStreams() {
  std::vector<StreamId> nameless;
  std::vector<StreamId> silent;
  for (const auto& [id, stream] : streams_) {
    const Member* member = job_.membership.FindByStream(id);
    if (member == nullptr) {
      if (now_.monotonic - stream.opened >= kHelloDeadline) nameless.push_back(id);
    } else if (now_.monotonic - stream.heard >=
               std::max(kMaxSilence, kSilentPolls * member->hello.poll_interval)) {
      silent.push_back(id);
    }
  }
  for (const StreamId id : nameless) {
    ++job_.counters.hello_timeouts;
    Refuse(id, absl::FailedPreconditionError(
                   absl::StrCat("no hello within ", absl::FormatDuration(kHelloDeadline))));
  }
  for (const StreamId id : silent) {
    ++job_.counters.silent_streams;
    Refuse(id, absl::DeadlineExceededError(absl::StrCat(
                   "no message for ", absl::FormatDuration(now_.monotonic - streams_[id].heard),
                   "; heartbeats are due once per poll interval")));
  }
}

bool CoordinatorCore::TakeToken(StreamId id, Stream& stream) {
  const double seconds = absl::ToDoubleSeconds(now_.monotonic - stream.refilled);
  stream.tokens = std::min(kMessageBurst, stream.tokens + seconds * kMessagesPerSecond);
  stream.refilled = now_.monotonic;
  if (stream.tokens >= 1) {
    stream.tokens -= 1;
    return true;
  }
  ++job_.counters.floods;
  Refuse(id, absl::ResourceExhaustedError(absl::StrFormat(
                 "more than %.0f messages a second; heartbeats are due once per poll interval",
                 kMessagesPerSecond)));
  return false;
}

void CoordinatorCore::On(const MessageSkipped& event) {
  auto stream = streams_.find(event.stream);
  if (stream != streams_.end()) TakeToken(event.stream, stream->second);
}

void CoordinatorCore::On(MessageReceived& event) {
  auto stream = streams_.find(event.stream);
  if (stream == streams_.end()) return;  // closed; the message was on its way
  if (!TakeToken(event.stream, stream->second)) return;
  stream->second.heard = now_.monotonic;
  absl::Status status;
  if (const auto* hello = std::get_if<wire::Hello>(&event.message)) {
    status = OnMessage(event.stream, *hello);
    if (status.ok()) {
      ++job_.counters.hellos_admitted;
    } else {
      CountRefusal(status);
    }
  } else if (const Member* member = job_.membership.FindByStream(event.stream)) {
    status = Dispatch(*member, event);
    if (!status.ok()) ++job_.counters.messages_refused;
  } else {
    ++job_.counters.messages_refused;
    status = absl::FailedPreconditionError("the first message of a stream must be a hello");
  }
  if (!status.ok()) Refuse(event.stream, status);
}

void CoordinatorCore::On(const MessageMalformed& event) {
  if (!streams_.contains(event.stream)) return;
  ++job_.counters.messages_refused;
  Refuse(event.stream, event.status);
}

void CoordinatorCore::CountRefusal(const absl::Status& hello) {
  ++job_.counters.hellos_refused;
  if (absl::IsAlreadyExists(hello)) ++job_.counters.duplicate_agents;
  if (absl::IsPermissionDenied(hello)) ++job_.counters.foreign_agents;
}

}  // namespace rapideye::coordinator
