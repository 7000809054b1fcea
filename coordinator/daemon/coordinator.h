// Coordinator assembles the whole coordinator: server, event loop, core, incident writer.
#ifndef RAPIDEYE_COORDINATOR_DAEMON_COORDINATOR_H_
#define RAPIDEYE_COORDINATOR_DAEMON_COORDINATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"
#include "coordinator/daemon/event_loop.h"
#include "coordinator/daemon/incident_recovery.h"
#include "coordinator/otlp/exporter.h"
#include "coordinator/removal/hooks/process_hook_runner.h"
#include "coordinator/removal/worker/removal_worker.h"
#include "coordinator/server/agent_service.h"
#include "coordinator/server/collection_salt.h"
#include "coordinator/server/operator_service.h"
#include "coordinator/server/status_cache.h"
#include "coordinator/server/telemetry.h"
#include "coordinator/server/web.h"
#include "coordinator/store/incident_pipeline.h"
#include "coordinator/store/incident_writer.h"
#include "coordinator/store/learnt_file.h"
#include "coordinator/store/pause_file.h"
#include "digest/digest.h"
#include "proto/common/file/file_lock.h"
#include "proto/common/http/http_server.h"
#include "proto/common/worker/periodic_worker.h"
#include "proto/transport/acceptor.h"
#include "proto/transport/certificate_watch.h"
#include "proto/transport/credentials.h"

namespace grpc {
class Server;
}

namespace rapideye::coordinator {

struct CoordinatorSettings {
  Options core;
  std::string listen = "[::]:8490";
  std::string state_dir;
  Retention retention;
  RemovalSettings removal;
  transport::CredentialOptions credentials;
  // Names that an operator's certificate must hold to read and to ask; empty: any certificate.
  std::vector<std::string> operator_identities;
  // Time between two looks at the credentials' files.
  absl::Duration certificate_interval = absl::Seconds(60);
  digest::TextFormat digest_format = digest::TextFormat::kClassic;
  DigestLog log_digest;
  std::string http;  // HOST:PORT of the pages; "" for none
  // The address to which events of incidents are sent, as OtlpLogsUrl takes it; "": none.
  std::string otlp_endpoint = {};
  // False: the coordinator also starts if its pages cannot be served.
  bool http_required = false;
  // Time to wait for the end of another coordinator on the same state directory.
  absl::Duration predecessor_patience = kPredecessorPatience;
  // The disk that incidents are written to. Outlives the process: a disk may hang.
  Disk* disk = &RealDisk();
  LoopObserver observer;
};

class Coordinator final : private EffectHandler {
 public:
  // Listens, and takes streams from then on. INVALID_ARGUMENT if the credentials
  // or an address are not to be used; UNAVAILABLE if a port cannot be had. A
  // state directory that does not work is logged and does not fail the start.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(CoordinatorSettings settings);
  ~Coordinator() override;

  // HOST:PORT with the real port.
  const std::string& address() const { return address_; }
  // The address of the pages; "" if there are none.
  std::string http_address() const;

  // Works until RequestStop; returns within 5 s of it. Call once.
  void Run();
  // Thread-safe.
  void RequestStop();

 private:
  explicit Coordinator(CoordinatorSettings settings);

  absl::Status Listen();
  // Makes the state directory this coordinator's own. FAILED_PRECONDITION if another one works
  // there. The pipeline reports a disk that fails or hangs.
  absl::Status TakeStateDirectory();
  // Starts the parts that work on the state directory.
  void BeginWork();
  void WatchCertificates();
  absl::Status ServePages();
  Readings Read() const;
  // A digest is in the log, or was replaced by a newer one.
  void NoteDigest(const WrittenDigest& digest);
  // Reports to the core the incidents that an earlier coordinator has left.
  void Recall();

  void Handle(Send effect) override;
  void Handle(Close effect) override;
  void Handle(Conclude effect) override;
  void Handle(TextsGathered effect) override;
  void Handle(Retell effect) override;
  void Handle(StatusReport effect) override;
  void Handle(Examine effect) override;
  void Handle(SnapshotAnswered effect) override;
  void Handle(SnapshotRefused effect) override;
  void Handle(PauseAnswered effect) override;
  void Handle(PauseChanged effect) override;
  void Handle(PausesLearnt effect) override;
  void Handle(IncidentEnded effect) override;
  void Handle(Log effect) override;
  void ReadNext(StreamId stream) override;
  void Housekeep() override;

  CoordinatorSettings settings_;
  std::optional<file::FileLock> state_dir_lock_;
  CoordinatorCore core_;
  EventQueue queue_;
  const CollectionSalt salt_;
  AgentService service_;
  StatusCache status_cache_;
  OperatorService operators_;
  // The pipeline's thread may outlive all of this.
  const std::shared_ptr<Telemetry> telemetry_ = std::make_shared<Telemetry>();
  std::unique_ptr<OtlpExporter> otlp_;  // nullptr: no endpoint is given
  std::shared_ptr<ProcessHookRunner> hooks_;
  std::unique_ptr<RemovalWorker> removal_worker_;
  std::unique_ptr<IncidentPipeline> pipeline_;
  std::unique_ptr<IncidentWriter> writer_;
  std::unique_ptr<IncidentRecovery> incident_recovery_;
  std::unique_ptr<PauseFile> pause_file_;
  std::unique_ptr<LearntFile> learnt_file_;
  std::unique_ptr<PeriodicWorker> free_memory_;
  std::unique_ptr<transport::Acceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<transport::CertificateWatch> certificates_;
  std::string address_;
  std::unique_ptr<Web> web_;
  std::unique_ptr<http::HttpServer> http_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_DAEMON_COORDINATOR_H_
