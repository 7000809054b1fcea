#include "coordinator/cli/coordinator_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"
#include "proto/transport/channel_options.h"
#include "proto/transport/credential_flags.h"
#include "proto/transport/status_conversion.h"

namespace rapideye::cli {
namespace {

// Bytes kept of one document: the coordinator's limit, and room.
constexpr size_t kMaxDocumentBytes = size_t{512} << 20;

absl::Status TooLarge() {
  return absl::ResourceExhaustedError(
      "the answer is larger than any coordinator sends; is --coordinator right?");
}

}  // namespace

v1::DocumentForm FormOf(const std::string& format) {
  if (format == "json") return v1::JSON;
  if (format == "html") return v1::HTML;
  return format == "capture" ? v1::CAPTURE : v1::TEXT;
}

void CoordinatorFlags::AddTo(CLI::App& command, absl::Duration default_timeout) {
  timeout = default_timeout;
  program::AddFlag(command, "coordinator", coordinator,
                   "HOST:PORT of the job's rapideye-coordinator (its --listen)");
  program::AddFlag(command, "timeout", timeout,
                   "longest time to wait for the coordinator's answer; the command then fails");
  transport::AddCredentialFlags(command,
                                {.self = "this client",
                                 .peers = "the coordinator",
                                 .insecure = "allows plaintext, which others on the network can "
                                             "read and alter, to a coordinator on another host"},
                                credentials);
}

absl::StatusOr<CoordinatorClient> CoordinatorClient::Make(const CoordinatorFlags& flags) {
  const auto credentials = transport::MakeChannelCredentials(flags.credentials, flags.coordinator);
  if (!credentials.ok()) return credentials.status();
  return CoordinatorClient(flags, grpc::CreateCustomChannel(flags.coordinator, *credentials,
                                                            transport::OperatorChannelArguments()));
}

CoordinatorClient::CoordinatorClient(const CoordinatorFlags& flags,
                                     std::shared_ptr<grpc::Channel> channel)
    : flags_(flags), channel_(std::move(channel)), stub_(v1::Operator::NewStub(channel_)) {}

bool CoordinatorClient::Connected() const {
  const grpc_connectivity_state state = channel_->GetState(/*try_to_connect=*/false);
  return state == GRPC_CHANNEL_READY || state == GRPC_CHANNEL_IDLE;
}

std::unique_ptr<grpc::ClientContext> CoordinatorClient::Context() const {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(absl::ToChronoTime(absl::Now() + flags_.timeout));
  return context;
}

Progress CoordinatorClient::Waiting() const {
  return Progress(absl::StrCat("waiting for ", ShownPath(flags_.coordinator)));
}

absl::Status CoordinatorClient::Explain(const grpc::Status& status) const {
  const absl::Status error = transport::ToAbsl(status);
  const std::string text = text::EscapeText(std::string(error.message()), text::kMaxSentenceBytes);
  const std::string& at = flags_.coordinator;
  switch (error.code()) {
    case absl::StatusCode::kUnavailable:
      if (Connected()) break;  // the coordinator's own words
      return absl::UnavailableError(absl::StrCat(
          "no coordinator at ", at, " (", text, "); is it running, is --coordinator right",
          flags_.credentials.tls_cert.empty() ? ", does it speak TLS (--tls-cert, --tls-key, "
                                                "--tls-ca)?"
                                              : ", do both trust the same CA?"));
    case absl::StatusCode::kDeadlineExceeded:
      return absl::DeadlineExceededError(
          absl::StrCat("the coordinator at ", at, " did not answer within ",
                       absl::FormatDuration(flags_.timeout), "; see its log, or set --timeout"));
    case absl::StatusCode::kUnimplemented:
      return absl::UnimplementedError(
          absl::StrCat("what answers at ", at,
                       " does not know this question: it is no rapideye-coordinator, or one older "
                       "than this command (",
                       program::Version(), ")"));
    default:
      break;
  }
  return absl::Status(error.code(), absl::StrCat(at, ": ", text));
}

absl::StatusOr<v1::GetStatusReply> CoordinatorClient::GetStatus() {
  v1::GetStatusReply reply;
  const Progress progress = Waiting();
  const grpc::Status status = stub_->GetStatus(Context().get(), {}, &reply);
  if (!status.ok()) return Explain(status);
  return reply;
}

absl::StatusOr<v1::ListIncidentsReply> CoordinatorClient::ListIncidents(int32_t limit) {
  v1::ListIncidentsRequest request;
  request.set_limit(limit);
  v1::ListIncidentsReply reply;
  const Progress progress = Waiting();
  const grpc::Status status = stub_->ListIncidents(Context().get(), request, &reply);
  if (!status.ok()) return Explain(status);
  return reply;
}

absl::StatusOr<v1::PauseReply> CoordinatorClient::Pause(const v1::PauseRequest& request) {
  v1::PauseReply reply;
  const Progress progress = Waiting();
  const grpc::Status status = stub_->Pause(Context().get(), request, &reply);
  if (!status.ok()) return Explain(status);
  return reply;
}

absl::StatusOr<v1::AcknowledgeReply> CoordinatorClient::Acknowledge(
    const v1::AcknowledgeRequest& request) {
  v1::AcknowledgeReply reply;
  const grpc::Status status = stub_->Acknowledge(Context().get(), request, &reply);
  if (!status.ok()) return Explain(status);
  return reply;
}

absl::StatusOr<ReceivedDocument> CoordinatorClient::GetIncident(const std::string& id,
                                                                v1::DocumentForm form) {
  v1::GetIncidentRequest request;
  request.set_id(id);
  request.set_form(form);
  const Progress progress = Waiting();
  const auto context = Context();
  return Receive(*stub_->GetIncident(context.get(), request));
}

absl::StatusOr<ReceivedDocument> CoordinatorClient::Snapshot(v1::DocumentForm form, bool capture) {
  v1::SnapshotRequest request;
  request.set_form(form);
  request.set_capture(capture);
  const Progress progress("waiting for evidence from all workers");
  const auto context = Context();
  return Receive(*stub_->Snapshot(context.get(), request));
}

absl::StatusOr<ReceivedDocument> CoordinatorClient::Receive(
    grpc::ClientReader<v1::DocumentPart>& reader) const {
  ReceivedDocument received;
  v1::DocumentPart part;
  bool too_large = false;
  while (reader.Read(&part)) {
    too_large = too_large ||
                received.document.size() + part.document().size() > kMaxDocumentBytes ||
                received.capture.size() + part.capture().size() > kMaxDocumentBytes;
    if (too_large) continue;  // to its end: a call is never left half read
    received.document += part.document();
    received.capture += part.capture();
    if (part.result().has_incident_id()) received.incident_id = part.result().incident_id();
  }
  const grpc::Status status = reader.Finish();
  if (!status.ok()) return Explain(status);
  if (too_large) return TooLarge();
  return received;
}

}  // namespace rapideye::cli
