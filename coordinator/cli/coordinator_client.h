// Speaks with a coordinator for the commands that need one.
#ifndef RAPIDEYE_COORDINATOR_CLI_COORDINATOR_CLIENT_H_
#define RAPIDEYE_COORDINATOR_CLI_COORDINATOR_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/cli/progress.h"
#include "proto/transport/credentials.h"
#include "v1/operator.grpc.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace rapideye::cli {

// The flags that say which coordinator to call, and how.
struct CoordinatorFlags {
  std::string coordinator = "localhost:8490";
  transport::CredentialOptions credentials;
  absl::Duration timeout;

  // `default_timeout`: of one question.
  void AddTo(CLI::App& command, absl::Duration default_timeout);
};

// The form of --format: text, json, html or capture.
v1::DocumentForm FormOf(const std::string& format);

// A document, with the facts that came with it.
struct ReceivedDocument {
  std::string document;
  std::string capture;                     // if it was asked for
  std::optional<std::string> incident_id;  // of a snapshot that found an incident
};

// Every error says which coordinator was asked and what to do next; its code is
// the service's (proto/v1/operator.proto), or UNAVAILABLE if there is none.
class CoordinatorClient {
 public:
  // INVALID_ARGUMENT if the flags cannot be used. Does not connect yet.
  static absl::StatusOr<CoordinatorClient> Make(const CoordinatorFlags& flags);

  absl::StatusOr<v1::GetStatusReply> GetStatus();
  absl::StatusOr<v1::ListIncidentsReply> ListIncidents(int32_t limit);
  absl::StatusOr<v1::PauseReply> Pause(const v1::PauseRequest& request);
  absl::StatusOr<v1::AcknowledgeReply> Acknowledge(const v1::AcknowledgeRequest& request);
  absl::StatusOr<ReceivedDocument> GetIncident(const std::string& id, v1::DocumentForm form);
  absl::StatusOr<ReceivedDocument> Snapshot(v1::DocumentForm form, bool capture);

 private:
  CoordinatorClient(const CoordinatorFlags& flags, std::shared_ptr<grpc::Channel> channel);

  // False if the last attempt to connect has failed.
  bool Connected() const;
  Progress Waiting() const;
  // A context with the deadline of the flags.
  std::unique_ptr<grpc::ClientContext> Context() const;
  absl::Status Explain(const grpc::Status& status) const;
  absl::StatusOr<ReceivedDocument> Receive(grpc::ClientReader<v1::DocumentPart>& reader) const;

  CoordinatorFlags flags_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Operator::Stub> stub_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_COORDINATOR_CLIENT_H_
