// Parses the kernel's sock_diag answers into TCP connections, as values.
#ifndef RAPIDEYE_AGENT_SOURCES_TCP_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_TCP_PARSE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/sources/tcp/peers.h"
#include "agent/sources/tcp/state.h"
#include "proto/common/address/address.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct TcpConnection {
  IpAddress local;
  uint16_t local_port = 0;
  IpAddress remote;    // of a listening socket: unspecified
  uint64_t inode = 0;  // 0: no process has it any more
  SocketState state = SocketState::kUnspecified;
  int64_t send_queue_bytes = 0;
  int64_t since_ack_ms = 0;
  int64_t retransmits = 0;
  int64_t bytes_moved = 0;  // received, and sent and acknowledged, since it was opened
};

// Sums the bytes that a process's connections move, from one listing to the next. Those of a
// connection that closes in between are lost. Not synchronised.
class Traffic {
 public:
  // Bytes since the first call; `inodes` are the sockets that the process has open.
  int64_t Add(const std::vector<TcpConnection>& connections, const std::set<uint64_t>& inodes);

 private:
  std::map<uint64_t, int64_t> moved_;  // by inode, of those that were open
  bool first_ = true;
  int64_t total_ = 0;
};

// Takes one datagram of an answer of sock_diag, in this machine's byte order and aligned to
// four bytes: appends its connections. True if it ends the answer. UNAVAILABLE: the
// kernel refuses. DATA_LOSS: cut short, or not what it should be.
absl::StatusOr<bool> ParseSockDiag(absl::string_view datagram,
                                   std::vector<TcpConnection>& connections);

// Connections of the process that has these sockets open: to workers other than `self`, and to
// addresses that `peers` does not know, the fullest send queues first. `nics`: by the address
// that each NIC owns.
SocketReading SocketsOf(const std::vector<TcpConnection>& connections,
                        const std::set<uint64_t>& inodes, const Peers& peers, const WorkerId& self,
                        const std::map<IpAddress, std::string>& nics);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_TCP_PARSE_H_
