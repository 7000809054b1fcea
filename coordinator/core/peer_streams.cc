#include "coordinator/core/peer_streams.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rapideye::coordinator {
namespace {

// The host in "ipv4:10.0.0.7:40112" or "10.0.0.7:40112".
std::string HostIn(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

void PeerStreams::Erase(StreamId stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  const auto of_host = of_host_.find(found->second.host);
  if (--of_host->second == 0) of_host_.erase(of_host);
  const auto of_certificate = of_certificate_.find(found->second.identity);
  if (--of_certificate->second == 0) of_certificate_.erase(of_certificate);
  streams_.erase(found);
}

bool PeerStreams::Crowded(const StreamOpened& event) const {
  // A whole job may come from one translated address.
  if (certificates_name_workers_ && !event.identity.empty()) {
    const auto of_certificate = of_certificate_.find(event.identity);
    return of_certificate != of_certificate_.end() &&
           of_certificate->second >= kMaxStreamsOfCertificate;
  }
  const auto of_host = of_host_.find(HostIn(event.peer));
  return of_host != of_host_.end() && of_host->second >= kMaxStreamsOfHost &&
         !IsLoopback(of_host->first);
}

std::string PeerStreams::VoterOf(StreamId stream, const Membership& membership) const {
  const Stream& one = streams_.at(stream);
  return membership.VoterOf({.identity = one.identity, .host = one.host});
}

void PeerStreams::Open(const StreamOpened& event, absl::Duration now) {
  const std::string host = HostIn(event.peer);
  ++of_host_[host];
  ++of_certificate_[event.identity];
  streams_[event.stream] = Stream{.peer = event.peer,
                                  .host = host,
                                  .identity = event.identity,
                                  .names = event.names,
                                  .opened = now,
                                  .heard = now,
                                  .tokens = kMessageBurst,
                                  .refilled = now};
}

Peer PeerStreams::PeerOf(StreamId stream, absl::Time now) const {
  const Stream& one = streams_.at(stream);
  return {.identity = one.identity, .names = one.names, .host = one.host, .now = now};
}

void PeerStreams::CloseAll(const absl::Status& status, Effects& effects) {
  for (const auto& [id, stream] : streams_) effects.push_back(Close{id, status});
  streams_.clear();
  of_host_.clear();
  of_certificate_.clear();
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
  Write(LogLevel::kWarning, text, now, warnings_, unlogged, effects);
}

void PeerStreams::Tell(const std::string& text, absl::Duration now, int64_t& unlogged,
                       Effects& effects) {
  Write(LogLevel::kInfo, text, now, arrivals_, unlogged, effects);
}

void PeerStreams::Write(LogLevel level, const std::string& text, absl::Duration now,
                        LineBudget& budget, int64_t& unlogged, Effects& effects) {
  const double seconds = absl::ToDoubleSeconds(now - budget.refilled);
  budget.lines = std::min(budget.burst, budget.lines + seconds * budget.per_second);
  budget.refilled = now;
  if (budget.lines < 1) {
    ++unlogged;
    ++budget.left_out;
    return;
  }
  budget.lines -= 1;
  const int64_t left_out = std::exchange(budget.left_out, 0);
  effects.push_back(Log{level, left_out == 0 ? text
                                             : absl::StrCat(text, " (and ", left_out,
                                                            " lines of this kind left out)")});
}

}  // namespace rapideye::coordinator
