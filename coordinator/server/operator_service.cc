#include "coordinator/server/operator_service.h"

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "classifier/classify.h"
#include "coordinator/core/limits.h"
#include "coordinator/server/operator_messages.h"
#include "coordinator/store/incident_files.h"
#include "proto/capture/capture_writer.h"
#include "proto/common/clock/clock.h"
#include "proto/common/text/safe_text.h"
#include "proto/transport/identity.h"

namespace rapideye::coordinator {
namespace {

using DocumentReactor = grpc::ServerWriteReactor<v1::DocumentPart>;

absl::Status Stopping() { return absl::UnavailableError("the coordinator is stopping"); }

std::shared_ptr<const std::string> Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// A document of the archive, and with `capture` the capture, too.
absl::StatusOr<Document> ReadDocument(const IncidentArchive& archive, const std::string& id,
                                      IncidentForm form, bool capture) {
  Document document;
  absl::StatusOr<std::string> text = archive.Read(id, form);
  if (!text.ok()) return text.status();
  document.document = Shared(*std::move(text));
  if (capture) {
    absl::StatusOr<std::string> bytes = archive.Read(id, IncidentForm::kCapture);
    if (!bytes.ok()) return bytes.status();
    document.capture = Shared(*std::move(bytes));
  }
  return document;
}

}  // namespace

OperatorService::OperatorService(EventQueue& queue, StatusCache& cache,
                                 std::shared_ptr<const IncidentArchive> archive,
                                 digest::TextFormat format, std::vector<std::string> identities)
    : queue_(queue),
      cache_(cache),
      archive_(std::move(archive)),
      format_(format),
      identities_(std::move(identities)),
      disk_(kMaxOperatorCalls),
      examiner_(kMaxSnapshotRequests) {}

void OperatorService::CheckPeers(std::shared_ptr<const transport::PeerChecker> checker) {
  const MutexLock lock(mutex_);
  checker_ = std::move(checker);
}

absl::Status OperatorService::CheckCaller(const grpc::CallbackServerContext& context) {
  const std::string chain = transport::PeerChain(*context.auth_context());
  std::shared_ptr<const transport::PeerChecker> checker;
  {
    const MutexLock lock(mutex_);
    checker = checker_;
  }
  if (checker != nullptr && !chain.empty()) {
    if (absl::Status status = checker->Check(chain); !status.ok()) return status;
  }
  if (identities_.empty()) return absl::OkStatus();
  const std::vector<std::string> names = transport::PeerNames(*context.auth_context());
  if (transport::MatchesIdentity(names, identities_)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the certificate is of ", transport::JoinNames(names),
                   ", which the coordinator's --operator-identity does not name"));
}

absl::Status OperatorService::CountLook(const grpc::CallbackServerContext& context,
                                        absl::Duration now) {
  const std::string identity = transport::PeerIdentity(*context.auth_context());
  if (identity.empty()) return absl::OkStatus();
  const MutexLock lock(mutex_);
  std::erase_if(looks_, [now](const auto& look) { return now - look.second >= kLookInterval; });
  const auto [look, first] = looks_.try_emplace(identity, now);
  if (first) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("this certificate asked for a snapshot ",
                   absl::FormatDuration(absl::Trunc(now - look->second, absl::Seconds(1))),
                   " ago, and may do so once in ", absl::FormatDuration(kLookInterval),
                   ": each has runtimes asked for HLO; try again later, or see rapideye status"));
}

std::shared_ptr<UnaryCall> OperatorService::Admit(const absl::Status& allowed,
                                                  grpc::ServerUnaryReactor*& reactor) {
  std::shared_ptr<UnaryCall> call = UnaryCall::Begin(limiter_, reactor);
  if (call == nullptr || allowed.ok()) return call;
  call->Refuse(allowed);
  return nullptr;
}

grpc::ServerUnaryReactor* OperatorService::GetStatus(grpc::CallbackServerContext* context,
                                                     const v1::GetStatusRequest* /*request*/,
                                                     v1::GetStatusReply* reply) {
  grpc::ServerUnaryReactor* reactor = nullptr;
  const std::shared_ptr<UnaryCall> call = Admit(CheckCaller(*context), reactor);
  if (call == nullptr) return reactor;
  cache_.Ask(MonotonicTime(), [call, reply](const std::shared_ptr<const JobStatus>& status) {
    if (status == nullptr) {
      call->Refuse(Stopping());
    } else {
      call->Answer([&] { *reply = ToWire(*status); });
    }
  });
  return reactor;
}

grpc::ServerUnaryReactor* OperatorService::ListIncidents(grpc::CallbackServerContext* context,
                                                         const v1::ListIncidentsRequest* request,
                                                         v1::ListIncidentsReply* reply) {
  grpc::ServerUnaryReactor* reactor = nullptr;
  const std::shared_ptr<UnaryCall> call = Admit(CheckCaller(*context), reactor);
  if (call == nullptr) return reactor;
  if (request->limit() < 0) {
    call->Refuse(absl::InvalidArgumentError("limit: must not be negative"));
    return reactor;
  }
  const size_t asked = static_cast<size_t>(request->limit());
  const size_t limit = asked == 0 ? kMaxListedIncidents : std::min(asked, kMaxListedIncidents);
  const bool taken = disk_.Post([call, reply, limit, archive = archive_] {
    const absl::StatusOr<std::vector<IncidentSummary>> list = archive->List(limit);
    if (!list.ok()) {
      call->Refuse(list.status());
      return;
    }
    call->Answer([&] {
      for (const IncidentSummary& one : *list) *reply->add_incidents() = ToWire(one);
    });
  });
  if (!taken) call->Refuse(Stopping());
  return reactor;
}

DocumentReactor* OperatorService::GetIncident(grpc::CallbackServerContext* context,
                                              const v1::GetIncidentRequest* request) {
  DocumentReactor* reactor = nullptr;
  const std::shared_ptr<DocumentCall> call = DocumentCall::Begin(limiter_, context, reactor);
  if (call == nullptr) return reactor;
  if (absl::Status status = CheckCaller(*context); !status.ok()) {
    call->Refuse(status);
    return reactor;
  }
  const absl::StatusOr<IncidentForm> form = FormFromWire(request->form());
  if (!form.ok()) {
    call->Refuse(form.status());
    return reactor;
  }
  // The id is checked before it becomes a path: IncidentArchive::Read.
  const bool taken = disk_.Post([call, id = request->id(), form = *form, archive = archive_] {
    absl::StatusOr<Document> document = ReadDocument(*archive, id, form, /*capture=*/false);
    if (document.ok()) {
      call->Deliver(*std::move(document));
    } else {
      call->Refuse(document.status());
    }
  });
  if (!taken) call->Refuse(Stopping());
  return reactor;
}

DocumentReactor* OperatorService::Snapshot(grpc::CallbackServerContext* context,
                                           const v1::SnapshotRequest* request) {
  DocumentReactor* reactor = nullptr;
  const std::shared_ptr<DocumentCall> call = DocumentCall::Begin(limiter_, context, reactor);
  if (call == nullptr) return reactor;
  if (absl::Status status = CheckCaller(*context); !status.ok()) {
    call->Refuse(status);
    return reactor;
  }
  const absl::StatusOr<IncidentForm> form = FormFromWire(request->form());
  if (!form.ok() || *form == IncidentForm::kCapture) {
    call->Refuse(form.ok() ? absl::InvalidArgumentError(
                                 "form: CAPTURE is no form of a digest; set `capture` instead")
                           : form.status());
    return reactor;
  }
  if (absl::Status status = CountLook(*context, MonotonicTime()); !status.ok()) {
    call->Refuse(status);
    return reactor;
  }
  Ticket ticket = 0;
  {
    const MutexLock lock(mutex_);
    ticket = next_++;
    pending_[ticket] = {.call = call, .form = *form, .capture = request->capture()};
  }
  queue_.Post(SnapshotRequested{ticket});
  return reactor;
}

absl::Status OperatorService::CheckOperator(const grpc::CallbackServerContext& context) {
  const bool tls = !transport::PeerChain(*context.auth_context()).empty();
  if (tls && identities_.empty()) {
    return absl::PermissionDeniedError(
        "only callers whom the coordinator's --operator-identity names may pause the watch or "
        "acknowledge, and it is not set");
  }
  return CheckCaller(context);
}

grpc::ServerUnaryReactor* OperatorService::Pause(grpc::CallbackServerContext* context,
                                                 const v1::PauseRequest* request,
                                                 v1::PauseReply* reply) {
  grpc::ServerUnaryReactor* reactor = nullptr;
  const std::shared_ptr<UnaryCall> call = Admit(CheckOperator(*context), reactor);
  if (call == nullptr) return reactor;
  std::string by = CallerName(*context, request->by());
  Ticket ticket = 0;
  {
    const MutexLock lock(mutex_);
    ticket = next_++;
    pauses_[ticket] = {call, reply};
  }
  queue_.Post(PauseRequested{.ticket = ticket,
                             .duration = absl::Milliseconds(request->duration_ms()),
                             .reason = request->reason(),
                             .by = std::move(by)});
  return reactor;
}

void OperatorService::SetPipeline(IncidentPipeline* pipeline) {
  const MutexLock lock(mutex_);
  pipeline_ = pipeline;
}

std::string OperatorService::CallerName(const grpc::CallbackServerContext& context,
                                        const std::string& by) {
  const std::string identity = transport::PeerIdentity(*context.auth_context());
  std::string name = by.empty() ? std::string(context.peer()) : by;
  if (!identity.empty()) absl::StrAppend(&name, " (", identity, ")");
  return name;
}

grpc::ServerUnaryReactor* OperatorService::Acknowledge(grpc::CallbackServerContext* context,
                                                       const v1::AcknowledgeRequest* request,
                                                       v1::AcknowledgeReply* reply) {
  grpc::ServerUnaryReactor* reactor = nullptr;
  const std::shared_ptr<UnaryCall> call = Admit(CheckOperator(*context), reactor);
  if (call == nullptr) return reactor;
  const std::string& id = request->id();
  if (!IsIncidentId(id)) {
    call->Refuse(
        absl::InvalidArgumentError("not an incident id; one looks like 20261120T124419Z-5dc4d1c8"));
    return reactor;
  }
  const Acknowledgement acknowledgement = {
      .at = absl::Now(),
      .reason = text::EscapeText(request->reason(), text::kMaxSentenceBytes),
      .by = text::EscapeText(CallerName(*context, request->by()), text::kMaxNameBytes)};
  std::shared_ptr<std::future<absl::Status>> written;
  {
    const MutexLock lock(mutex_);
    if (pipeline_ != nullptr) {
      written =
          std::make_shared<std::future<absl::Status>>(pipeline_->Acknowledge(id, acknowledgement));
    }
  }
  if (written == nullptr) {
    call->Refuse(absl::UnavailableError("the coordinator is starting; try again"));
    return reactor;
  }
  const bool taken = disk_.Post([this, call, reply, id, acknowledgement, written] {
    if (written->wait_for(absl::ToChronoNanoseconds(kDiskPatience)) != std::future_status::ready) {
      call->Refuse(absl::UnavailableError("the state directory does not answer; try again"));
      return;
    }
    const absl::Status status = written->get();
    if (absl::IsNotFound(status)) {
      call->Refuse(absl::NotFoundError(absl::StrCat("no incident ", id)));
    } else if (!status.ok()) {
      call->Refuse(absl::UnavailableError(std::string(status.message())));
    } else {
      queue_.Post(IncidentAcknowledged{id, acknowledgement});
      cache_.Expire();
      call->Answer([&] { *reply->mutable_acknowledged() = ToWire(acknowledgement); });
    }
  });
  if (!taken) call->Refuse(Stopping());
  return reactor;
}

void OperatorService::Handle(const PauseAnswered& effect) {
  PendingPause pending;
  {
    const MutexLock lock(mutex_);
    const auto found = pauses_.extract(effect.ticket);
    if (found.empty()) return;
    pending = found.mapped();
  }
  if (!effect.status.ok()) {
    pending.call->Refuse(effect.status);
    return;
  }
  cache_.Expire();
  pending.call->Answer([&] {
    if (effect.pause) *pending.reply->mutable_pause() = ToWire(*effect.pause);
  });
}

OperatorService::PendingSnapshot OperatorService::Take(Ticket ticket) {
  const MutexLock lock(mutex_);
  auto found = pending_.extract(ticket);
  return found.empty() ? PendingSnapshot{} : std::move(found.mapped());
}

void OperatorService::Handle(const SnapshotRefused& effect) {
  const PendingSnapshot pending = Take(effect.ticket);
  if (pending.call != nullptr) pending.call->Refuse(effect.status);
}

void OperatorService::Handle(const SnapshotAnswered& effect) {
  const PendingSnapshot pending = Take(effect.ticket);
  if (pending.call == nullptr) return;
  const bool taken = disk_.Post([pending, id = effect.incident_id, archive = archive_] {
    absl::StatusOr<Document> document = ReadDocument(*archive, id, pending.form, pending.capture);
    if (!document.ok()) {
      pending.call->Refuse(absl::Status(
          document.status().code(), absl::StrCat("the job hangs: incident ", id,
                                                 "; its digest is in the coordinator's log, "
                                                 "but cannot be read from its state directory: ",
                                                 std::string(document.status().message()))));
      return;
    }
    document->result.emplace();
    document->result->set_incident_id(id);
    pending.call->Deliver(*std::move(document));
  });
  if (!taken) pending.call->Refuse(Stopping());
}

void OperatorService::Handle(Examine effect) {
  std::vector<PendingSnapshot> asked;
  for (const Ticket ticket : effect.tickets) {
    PendingSnapshot pending = Take(ticket);
    if (pending.call != nullptr) asked.push_back(std::move(pending));
  }
  const auto capture = std::make_shared<const Capture>(std::move(effect.capture));
  const bool taken = examiner_.Post([asked, capture, format = format_] {
    const digest::Report report = digest::BuildReport(*capture, Classify(*capture), {});
    std::map<IncidentForm, std::shared_ptr<const std::string>> rendered;
    std::shared_ptr<const std::string> bytes;
    for (const PendingSnapshot& pending : asked) {
      Document document{.result = v1::SnapshotResult(), .document = {}, .capture = {}};
      auto [text, first] = rendered.try_emplace(pending.form);
      if (first) text->second = Shared(RenderAs(report, pending.form, format));
      document.document = text->second;
      if (pending.capture && bytes == nullptr) {
        absl::StatusOr<std::string> written =
            wire::WriteCapture(*capture, {.encoding = wire::Encoding::kJsonLines, .gzip = true});
        if (!written.ok()) {
          pending.call->Refuse(written.status());
          continue;
        }
        bytes = Shared(*std::move(written));
      }
      if (pending.capture) document.capture = bytes;
      pending.call->Deliver(std::move(document));
    }
  });
  if (taken) return;
  for (const PendingSnapshot& pending : asked) pending.call->Refuse(Stopping());
}

OperatorService::~OperatorService() {
  examiner_.Abandon(kDiskPatience);
  disk_.Abandon(kDiskPatience);
}

void OperatorService::Stop() {
  disk_.Drop();
  examiner_.Drop();
  limiter_->RefuseAll(Stopping());
}

}  // namespace rapideye::coordinator
