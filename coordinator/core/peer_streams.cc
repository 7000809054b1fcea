#include "coordinator/core/peer_streams.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rapideye::coordinator {

void PeerStreams::Open(const StreamOpened& event, absl::Duration now) {
  streams_[event.stream] = Stream{.peer = event.peer,
                                  .identity = event.identity,
                                  .names = event.names,
                                  .opened = now,
                                  .heard = now,
                                  .tokens = kMessageBurst,
                                  .refilled = now};
}

Peer PeerStreams::PeerOf(StreamId stream, absl::Time now) const {
  const Stream& one = streams_.at(stream);
  return {.identity = one.identity, .names = one.names, .now = now};
}

void PeerStreams::CloseAll(const absl::Status& status, Effects& effects) {
  for (const auto& [id, stream] : streams_) effects.push_back(Close{id, status});
  streams_.clear();
}

std::string PeerStreams::DebugName(StreamId stream, const Membership& membership) const {
  const Member* member = membership.FindByStream(stream);
  return absl::StrFormat("%s of %s", Quoted(streams_.at(stream).peer),
                         member != nullptr ? coordinator::DebugName(*member) : "nobody yet");
}

absl::Status PeerStreams::CountMessage(StreamId stream, absl::Duration now) {
  Stream& one = streams_.at(stream);
  const double seconds = absl::ToDoubleSeconds(now - one.refilled);
  one.tokens = std::min(kMessageBurst, one.tokens + seconds * kMessagesPerSecond);
  one.refilled = now;
  if (one.tokens < 1) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "more than %.0f messages a second; heartbeats are due once per poll interval",
        kMessagesPerSecond));
  }
  one.tokens -= 1;
  return absl::OkStatus();
}

std::vector<PeerStreams::Overdue> PeerStreams::FindOverdue(const Membership& membership,
                                                           absl::Duration now) const {
  std::vector<Overdue> nameless;
  std::vector<Overdue> silent;
  for (const auto& [id, stream] : streams_) {
    const Member* member = membership.FindByStream(id);
    if (member == nullptr) {
      if (now - stream.opened < kHelloDeadline) continue;
      nameless.push_back({id, true,
                          absl::FailedPreconditionError(absl::StrCat(
                              "no hello within ", absl::FormatDuration(kHelloDeadline)))});
    } else if (now - stream.heard >=
               std::max(kMaxSilence, kSilentPolls * member->hello.poll_interval)) {
      silent.push_back({id, false,
                        absl::DeadlineExceededError(absl::StrCat(
                            "no message for ", absl::FormatDuration(now - stream.heard),
                            "; heartbeats are due once per poll interval"))});
    }
  }
  nameless.insert(nameless.end(), silent.begin(), silent.end());
  return nameless;
}

void PeerStreams::Warn(const std::string& text, absl::Duration now, int64_t& unlogged,
                       Effects& effects) {
  const double seconds = absl::ToDoubleSeconds(now - lines_refilled_);
  lines_ = std::min(kPeerLineBurst, lines_ + seconds * kPeerLinesPerSecond);
  lines_refilled_ = now;
  if (lines_ < 1) {
    ++unlogged;
    ++lines_left_out_;
    return;
  }
  lines_ -= 1;
  const int64_t left_out = std::exchange(lines_left_out_, 0);
  effects.push_back(
      Log{LogLevel::kWarning,
          left_out == 0 ? text
                        : absl::StrCat(text, " (and ", left_out, " lines of this kind left out)")});
}

}  // namespace rapideye::coordinator
