// Worker is one worker of the testbed's job: host, chips and connections of one process.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_WORKER_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_WORKER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/program.h"
#include "tests/testbed/model/topology.h"
#include "tests/testbed/worker/core.h"
#include "tests/testbed/worker/durations.h"
#include "tests/testbed/worker/exchange.h"
#include "tests/testbed/worker/hlo_dumps.h"
#include "tests/testbed/worker/host.h"
#include "tests/testbed/worker/input_pipe.h"
#include "tests/testbed/worker/mailbox.h"
#include "tests/testbed/worker/mesh.h"
#include "tests/testbed/worker/offload.h"
#include "tests/testbed/worker/recovery.h"

namespace rapideye::testbed {

struct WorkerOptions {
  JobShape shape;
  WorkerId self;
  StepOptions step;
  HostOptions host;
  // After so long without a completed launch the runtime aborts the process;
  // zero: never.
  absl::Duration abort_on_hang;
  std::string hlo_dump_dir;  // empty: programs are not dumped
  // Much faster than a step, as a healthy pipeline is.
  absl::Duration batch_time = absl::Milliseconds(2);
  // Where its mesh listens; absent: the worker's own loopback address, which its
  // connections then have, too.
  std::optional<std::string> mesh_address = std::nullopt;
  // Called from any thread with one line for the launcher.
  std::function<void(absl::string_view)> announce;
};

// Public parts are what faults take hold of. Destroying a worker stops it.
class Worker {
 public:
  explicit Worker(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The mesh takes connections from then on. UNAVAILABLE if the worker's address
  // cannot be listened on.
  absl::Status Listen();
  // Connects to all peers; errors as Mesh::Connect. After Listen.
  absl::Status Connect(const MeshAddresses& addresses);

  // The training loop begins. Call once, after Connect.
  void Start();

  const WorkerOptions& options() const { return options_; }
  const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }
  std::vector<Core*> TensorCoresOf(int chip) const;
  std::vector<Core*> SparseCoresOf(int chip) const;
  const Step& step() const { return step_; }
  Host& host() { return *host_; }
  Mesh& mesh() { return *mesh_; }
  InputPipe& input() { return input_; }
  HloDumps& dumps() { return dumps_; }
  Recovery& recovery() { return recovery_; }
  const Host& host() const { return *host_; }
  // Transfers from other slices: how long a core waited for one, and from its own send on.
  const Durations& inbound_transfers() const { return inbound_transfers_; }
  const Durations& end_to_end() const { return end_to_end_; }

  // Announces that a fault has taken hold, with when it did.
  void AnnounceEffect(absl::string_view fault, absl::string_view what) const;

  // Writes a line of the process's log as the runtime does: severity I, W, E or
  // F, FILE:LINE. May be called from any thread.
  void Log(absl::string_view severity, absl::string_view where, absl::string_view text) const;

 private:
  std::vector<Core*> CoresOf(int chip, CoreType type) const;
  void StartSparseCore(Core& core);
  // Hands the sparse part of the launch to the chip's SparseCores.
  void HandOver(int chip, const Launch& launch);
  absl::Status Execute(const CoreId& core, const Launch& launch, int operation,
                       const std::stop_token& stop);

  const WorkerOptions options_;
  const Step step_;
  HloDumps dumps_;
  InputPipe input_;
  Mailbox mailbox_;
  Offload offload_;
  Recovery recovery_;
  Durations inbound_transfers_;
  Durations end_to_end_;
  std::vector<absl::Time> sent_;  // by TensorCore, on its own thread
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::unique_ptr<Core>> cores_;  // by chip: TensorCores, SparseCores
  std::unique_ptr<Host> host_;
  std::jthread hang_watch_;  // last: stops first
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_WORKER_H_
