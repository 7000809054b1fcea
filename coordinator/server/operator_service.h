// OperatorService is the gRPC service for operators: proto/v1/operator.proto.
//
// Callers are untrusted: calls and bytes are bounded together, ids are checked
// before they become paths, and nothing a caller does holds up the agents or the
// core. The disk, which may block, and verdicts, which take long, have threads of their own.
#ifndef RAPIDEYE_COORDINATOR_SERVER_OPERATOR_SERVICE_H_
#define RAPIDEYE_COORDINATOR_SERVER_OPERATOR_SERVICE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/server/event_queue.h"
#include "coordinator/server/operator_call.h"
#include "coordinator/server/status_cache.h"
#include "coordinator/store/incident_archive.h"
#include "coordinator/store/incident_pipeline.h"
#include "digest/digest.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/worker.h"
#include "proto/transport/tls_files.h"
#include "v1/operator.grpc.pb.h"

namespace rapideye::coordinator {

// Thread-safe. Outlives the server that it is registered with.
class OperatorService final : public v1::Operator::CallbackService {
 public:
  // `format`: layout of the TPU states in the text of a snapshot on demand. `identities`: names
  // that a caller's certificate must hold (proto/transport/identity.h); empty: anybody may call.
  OperatorService(EventQueue& queue, StatusCache& cache,
                  std::shared_ptr<const IncidentArchive> archive, digest::TextFormat format,
                  std::vector<std::string> identities = {});
  // A thread whose disk hangs outlives this.
  ~OperatorService() override;

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusReply* reply) override;
  grpc::ServerWriteReactor<v1::DocumentPart>* Snapshot(grpc::CallbackServerContext* context,
                                                       const v1::SnapshotRequest* request) override;
  grpc::ServerUnaryReactor* ListIncidents(grpc::CallbackServerContext* context,
                                          const v1::ListIncidentsRequest* request,
                                          v1::ListIncidentsReply* reply) override;
  grpc::ServerUnaryReactor* Pause(grpc::CallbackServerContext* context,
                                  const v1::PauseRequest* request, v1::PauseReply* reply) override;
  grpc::ServerUnaryReactor* Acknowledge(grpc::CallbackServerContext* context,
                                        const v1::AcknowledgeRequest* request,
                                        v1::AcknowledgeReply* reply) override;
  grpc::ServerWriteReactor<v1::DocumentPart>* GetIncident(
      grpc::CallbackServerContext* context, const v1::GetIncidentRequest* request) override;

  // The core's answers to requests for a snapshot.
  void Handle(Examine effect);
  void Handle(const SnapshotAnswered& effect);
  void Handle(const SnapshotRefused& effect);
  void Handle(const PauseAnswered& effect);

  // Sets the pipeline of acknowledgements, which outlives the server that this is registered with.
  // Before, none is accepted.
  void SetPipeline(IncidentPipeline* pipeline);

  // From now on refuses callers whose certificate `checker` refuses.
  void CheckPeers(std::shared_ptr<const transport::PeerChecker> checker);

  void CutOffOverdue(absl::Duration now) { limiter_->CutOffOverdue(now); }
  // Ends all calls with UNAVAILABLE; later ones end so at once.
  void Stop();

 private:
  struct PendingSnapshot {
    std::shared_ptr<DocumentCall> call;
    IncidentForm form = IncidentForm::kText;
    bool capture = false;
  };

  // PERMISSION_DENIED if --operator-identity does not name the caller, or its certificate is
  // not good any more.
  absl::Status CheckCaller(const grpc::CallbackServerContext& context);
  // As CheckCaller, for callers who change the watch: with TLS --operator-identity must name them.
  absl::Status CheckOperator(const grpc::CallbackServerContext& context);
  // Begins a call; null if it is refused: too many are under way, or the caller is not allowed to.
  std::shared_ptr<UnaryCall> Admit(const absl::Status& allowed, grpc::ServerUnaryReactor*& reactor);
  // RESOURCE_EXHAUSTED if the caller has asked for a snapshot less than kLookInterval ago. Without
  // TLS callers have no name and are not told apart.
  absl::Status CountLook(const grpc::CallbackServerContext& context, absl::Duration now);
  // The caller's name for people: as the caller states it, and as the certificate does.
  static std::string CallerName(const grpc::CallbackServerContext& context, const std::string& by);
  // The request behind a ticket; empty if there is none (any more).
  PendingSnapshot Take(Ticket ticket);

  EventQueue& queue_;
  StatusCache& cache_;
  const std::shared_ptr<const IncidentArchive> archive_;
  const digest::TextFormat format_;
  const std::vector<std::string> identities_;
  const std::shared_ptr<CallLimiter> limiter_ = std::make_shared<CallLimiter>();
  Mutex mutex_;
  IncidentPipeline* pipeline_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Ticket next_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<Ticket, PendingSnapshot> pending_ ABSL_GUARDED_BY(mutex_);
  struct PendingPause {
    std::shared_ptr<UnaryCall> call;
    v1::PauseReply* reply = nullptr;  // gRPC's, until the call is answered
  };
  std::map<Ticket, PendingPause> pauses_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const transport::PeerChecker> checker_ ABSL_GUARDED_BY(mutex_);  // nullptr: none
  // The time of each identity's last request for a snapshot, for kLookInterval.
  std::map<std::string, absl::Duration> looks_ ABSL_GUARDED_BY(mutex_);
  Worker disk_;
  Worker examiner_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_OPERATOR_SERVICE_H_
