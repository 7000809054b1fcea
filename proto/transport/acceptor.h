// Acceptor accepts connections for a gRPC server, and goes on accepting after any error.
//
// gRPC's own listener gives up for good on the first accept that finds no descriptor left, and
// bounds nothing that is not authenticated yet. This one keeps descriptors for the rest of the
// process, bounds connections without a call by peer and in all (the oldest makes room for a new
// one), ends those whose calls no client of ours makes, and says when it turns peers away.
#ifndef RAPIDEYE_PROTO_TRANSPORT_ACCEPTOR_H_
#define RAPIDEYE_PROTO_TRANSPORT_ACCEPTOR_H_

#include <grpcpp/server_builder.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/common/worker/thread.h"

namespace rapideye::transport {

// Descriptors below the limit of the process that connections leave free: for files of the state
// directory, pages, hooks, a runtime's own. A quarter of a limit that is lower than four times
// this.
inline constexpr int kSpareDescriptors = 96;

class Acceptor {
 public:
  // Binds HOST:PORT, every address of the host; port 0 takes a free one, and an IPv6 wildcard
  // takes IPv4 as well. UNAVAILABLE if that cannot be had; INVALID_ARGUMENT if the address makes
  // no sense.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(const std::string& address);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Takes part in the server that is being built. Once, before Start. The server must not
  // outlive this.
  void AddTo(grpc::ServerBuilder& builder, std::shared_ptr<grpc::ServerCredentials> credentials);
  // Accepts from now on, on a thread of its own. After the server was started.
  void Start();
  // Accepts no more. Before the server is shut down.
  void Stop();

  int port() const { return port_; }
  // The time since it last turned a peer away for want of descriptors; infinite: never. Any
  // thread.
  absl::Duration SinceStarved() const;
  // Connections closed for want of room or descriptors, or for their calls, since the start. Any
  // thread.
  int64_t refused() const;

 private:
  struct State;  // shared with the server's interceptors

  Acceptor();
  void Run();
  // False: nothing waits, or the pause is due that lets descriptors come back.
  bool AcceptOne(int listener);

  const std::shared_ptr<State> state_;
  std::vector<int> listeners_;
  int port_ = 0;
  int spare_ = -1;  // given up for as long as it takes to turn a peer away
  int stop_ = -1;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> server_;
  std::optional<Thread> thread_;  // while it accepts
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_ACCEPTOR_H_
