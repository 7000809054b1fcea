// Lists the TCP sockets of this network namespace.
#ifndef RAPIDEYE_AGENT_SOURCES_TCP_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_TCP_FETCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/sources/tcp/parse.h"

namespace rapideye::agent {

// Lists connections that are open, being opened, or closed by the other side. Needs no
// privilege; blocks for at most about `deadline` and takes a bounded number of
// connections. UNAVAILABLE: this kernel or sandbox does not show them.
absl::StatusOr<std::vector<TcpConnection>> ListTcpConnections(absl::Duration deadline);

// Lists listening sockets in the same way. Cheap: the kernel has them in a table of their own,
// while for /proc/net/tcp it walks through the table of all connections.
absl::StatusOr<std::vector<TcpConnection>> ListTcpListeners(absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_TCP_FETCH_H_
