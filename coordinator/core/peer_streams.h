// PeerStreams tracks the connections of agents: the worker behind each, its budget of bytes, and
// the time of its last message.
//
// Agents are malicious, until shown otherwise: each costs at most the stream by which it came,
// and the log a bounded number of lines.
#ifndef RAPIDEYE_COORDINATOR_CORE_PEER_STREAMS_H_
#define RAPIDEYE_COORDINATOR_CORE_PEER_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/membership.h"

namespace rapideye::coordinator {

class PeerStreams {
 public:
  // `certificates_name_workers`: each certificate is of one agent, or of the agents of one host.
  explicit PeerStreams(bool certificates_name_workers = false)
      : certificates_name_workers_(certificates_name_workers) {}

  void Open(const StreamOpened& event, absl::Duration now);
  void Erase(StreamId stream);
  // True if the stream, not open yet, comes from a host or certificate with as many as it may have.
  bool Crowded(const StreamOpened& event) const;
  // The voter that the peer counts as where most decide (Membership::VoterOf).
  std::string VoterOf(StreamId stream, const Membership& membership) const;
  // Closes all streams that are left.
  void CloseAll(const absl::Status& status, Effects& effects);

  bool Contains(StreamId stream) const { return streams_.contains(stream); }
  bool empty() const { return streams_.empty(); }
  size_t size() const { return streams_.size(); }

  // The peer as the stream's certificate names it. Here and below the stream must be open.
  Peer PeerOf(StreamId stream, absl::Time now) const;
  // "10.0.0.7:40112 of slice 0 task 3 (host-3)", safe for a log line.
  std::string DebugName(StreamId stream, const Membership& membership) const;

  // Counts a message. RESOURCE_EXHAUSTED if the stream sends faster than allowed.
  absl::Status CountMessage(StreamId stream, absl::Duration now);
  // A message was understood: the peer is not silent.
  void OnMessage(StreamId stream, absl::Duration now) { streams_.at(stream).heard = now; }

  struct Overdue {
    StreamId stream = 0;
    bool nameless = false;  // the peer never sent a Hello; else it has fallen silent
    absl::Status status;
  };
  // Streams whose next message should have come long ago, those without a Hello first.
  std::vector<Overdue> FindOverdue(const Membership& membership, absl::Duration now) const;

  // Logs a line about a peer that misbehaves; beyond the limit the line is only counted, in
  // `unlogged`.
  void Warn(const std::string& text, absl::Duration now, int64_t& unlogged, Effects& effects);
  // Logs in the same way that an agent comes or goes, which is no reason for a warning.
  void Tell(const std::string& text, absl::Duration now, int64_t& unlogged, Effects& effects);

 private:
  // The number of lines that may still be logged.
  struct LineBudget {
    double per_second = 0;
    double burst = 0;
    double lines = burst;
    absl::Duration refilled = -absl::InfiniteDuration();
    int64_t left_out = 0;
  };

  static void Write(LogLevel level, const std::string& text, absl::Duration now, LineBudget& budget,
                    int64_t& unlogged, Effects& effects);

  // A connection, before or after its Hello.
  struct Stream {
    std::string peer;
    std::string host;
    std::string identity;
    std::vector<std::string> names;
    absl::Duration opened;
    absl::Duration heard;  // the time of its last message
    double tokens = 0;     // messages it may still send
    absl::Duration refilled;
  };

  bool certificates_name_workers_;
  std::map<StreamId, Stream> streams_;
  std::map<std::string, size_t> of_host_;
  std::map<std::string, size_t> of_certificate_;
  LineBudget warnings_{kPeerLinesPerSecond, kPeerLineBurst};
  LineBudget arrivals_{kArrivalLinesPerSecond, kArrivalLineBurst};
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_PEER_STREAMS_H_
