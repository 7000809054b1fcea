#include "agent/sources/tcp/state.h"

#include <algorithm>
#include <iterator>

#include "agent/sources/tcp/limits.h"

namespace rapideye::agent {
namespace {

template <typename End>
std::set<End> EndsOf(const std::vector<Socket>& sockets) {
  std::set<End> ends;
  for (const Socket& socket : sockets) ends.emplace(socket.peer, socket.nic);
  return ends;
}

}  // namespace

void TcpState::Observe(const SocketReading& reading, const JobFacts& job, absl::Duration now,
                       Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  if (!reading.unavailable.empty()) return;
  if (sockets_.has_value() && job.last_progress > seen_at_) {
    std::set<End> healthy = EndsOf<End>(*sockets_);
    in_health_.clear();
    std::set_intersection(healthy.begin(), healthy.end(), healthy_before_.begin(),
                          healthy_before_.end(), std::inserter(in_health_, in_health_.end()));
    healthy_before_ = std::move(healthy);
  }
  sockets_ = reading.sockets;
  seen_at_ = now;
  NoteOpening(now);
}

// A look between the end of the process and the notice of it shows no connection: it takes
// nothing back that was seen right before.
void TcpState::NoteOpening(absl::Duration now) {
  if (!process_lives_) return;
  if (sockets_->empty() && now - opening_seen_at_ < kEndNoticedWithin) return;
  opening_.clear();
  std::copy_if(sockets_->begin(), sockets_->end(), std::back_inserter(opening_),
               [](const Socket& socket) { return socket.state == SocketState::kSynSent; });
  opening_seen_at_ = now;
}

void TcpState::ProcessReplaced(std::optional<absl::Duration>) {
  sockets_.reset();
  opening_.clear();
  healthy_before_.clear();
  in_health_.clear();
}

void TcpState::Watching(const std::optional<ProcessId>& process) {
  process_lives_ = process.has_value();
}

void TcpState::AddTo(Snapshot& snapshot, Instant now) const {
  if (!process_lives_) {
    snapshot.sockets.insert(snapshot.sockets.end(), opening_.begin(), opening_.end());
    return;
  }
  if (!sockets_.has_value()) return;
  const int64_t age = absl::ToInt64Milliseconds(now.monotonic - seen_at_);
  std::set<WorkerId> here;
  for (Socket socket : *sockets_) {
    here.insert(socket.peer);
    socket.since_ack_ms += std::max<int64_t>(0, age);
    snapshot.sockets.push_back(std::move(socket));
  }
  for (const auto& [peer, nic] : in_health_) {
    if (here.contains(peer)) continue;
    Socket gone;
    gone.peer = peer;
    gone.nic = nic;
    gone.state = SocketState::kGone;
    snapshot.sockets.push_back(std::move(gone));
  }
}

}  // namespace rapideye::agent
