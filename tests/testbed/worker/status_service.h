// StatusServer is the TPU runtime's status service; it reports the worker's real cores.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_STATUS_SERVICE_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_STATUS_SERVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/testbed/worker/worker.h"
#include "v1/runtime_status.pb.h"

namespace grpc {
class Server;
class Service;
}  // namespace grpc

namespace rapideye::testbed {

// Answer of the worker to GetTpuRuntimeStatus. A core that runs nothing
// reports pc 0 and no program, as real ones do.
tpu::monitoring::runtime::GetTpuRuntimeStatusResponse RuntimeStatus(const Worker& worker,
                                                                    bool include_hlo);

// Serves on the worker's own address until destroyed. Plaintext,
// as the real one. `worker` must outlive it.
class StatusServer {
 public:
  // Port 0: a free one. UNAVAILABLE if the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<StatusServer>> Start(const Worker& worker, int port);
  ~StatusServer();

  const std::string& address() const { return address_; }

 private:
  StatusServer() = default;

  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_STATUS_SERVICE_H_
