// Mesh holds the TCP connections between this worker and those it exchanges data with.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_MESH_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_MESH_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/mesh_message.h"

namespace rapideye::testbed {

// One connection per peer, used both ways; both of its ends have the workers' own
// addresses, so that an address names a worker. The higher worker
// of a pair connects, the lower accepts. A connection that breaks stays broken:
// whoever waits for data from it waits on, as a training job does.
class Mesh {
 public:
  using Deliver = std::function<void(MeshMessage)>;

  // Listens on this address, by default the worker's, and a free port. `deliver` is called from
  // the mesh's own threads, one per connection. UNAVAILABLE names the system
  // call that failed.
  static absl::StatusOr<std::unique_ptr<Mesh>> Listen(WorkerId self, const std::string& address,
                                                      Deliver deliver);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  // HOST:PORT that others connect to.
  const std::string& address() const { return address_; }

  // Connects to, and accepts, all of `peers`; `addresses` says where they
  // listen. Call once. DEADLINE_EXCEEDED if one does not come, NOT_FOUND if one
  // has no address.
  absl::Status Connect(const std::vector<WorkerId>& peers, const MeshAddresses& addresses,
                       absl::Duration timeout);

  // Blocks only while the connection's buffers are full. Thread-safe. A message
  // to a peer that is gone is dropped.
  void Send(WorkerId to, const MeshMessage& message);

  // The socket of the connection to this peer, or -1. It stays the mesh's.
  int SocketOf(WorkerId peer) const;

 private:
  struct Connection {
    int socket = -1;
    std::mutex writing;
    std::thread reader;
  };

  Mesh(WorkerId self, std::string own, Deliver deliver)
      : self_(self), own_(std::move(own)), deliver_(std::move(deliver)) {}
  absl::Status Dial(WorkerId peer, const std::string& address);
  absl::Status Accept(absl::Time deadline);
  void Add(WorkerId peer, int socket);
  void Read(WorkerId peer, int socket);

  const WorkerId self_;
  const std::string own_;  // address without a port; that of its connections, unless 0.0.0.0
  const Deliver deliver_;
  std::string address_;
  int listener_ = -1;
  // Not changed after Connect.
  std::map<WorkerId, std::unique_ptr<Connection>> connections_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_MESH_H_
