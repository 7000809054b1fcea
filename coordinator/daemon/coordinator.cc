#include "coordinator/daemon/coordinator.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/core/limits.h"
#include "coordinator/daemon/environment.h"
#include "coordinator/store/incident_archive.h"
#include "coordinator/store/incident_summary.h"
#include "proto/common/clock/clock.h"
#include "proto/common/process/free_memory.h"
#include "proto/common/worker/thread.h"
#include "proto/transport/channel_options.h"

namespace rapideye::coordinator {

namespace {

// A disk that hangs must not hold up a digest.
int64_t RevisionOnDisk(const std::shared_ptr<const IncidentArchive>& archive,
                       const std::string& id) {
  const auto json =
      WithPatience([archive, id] { return archive->Read(id, IncidentForm::kJson); }, kDiskPatience);
  if (!json.has_value() || !json->ok()) return 1;
  const absl::StatusOr<IncidentSummary> summary = SummariseDigest(**json);
  return summary.ok() ? summary->revision : 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(CoordinatorSettings settings) {
  std::unique_ptr<Coordinator> coordinator(new Coordinator(std::move(settings)));
  // A start that fails must leave no state directory behind: it is made after the ports are bound.
  if (absl::Status status = coordinator->Listen(); !status.ok()) return status;
  if (absl::Status status = coordinator->TakeStateDirectory(); !status.ok()) return status;
  coordinator->BeginWork();
  coordinator->WatchCertificates();
  if (absl::Status status = coordinator->ServePages(); !status.ok()) return status;
  return coordinator;
}

Coordinator::Coordinator(CoordinatorSettings settings)
    : settings_(std::move(settings)),
      core_(settings_.core),
      service_(queue_, settings_.credentials.identities),
      status_cache_(queue_),
      operators_(queue_, status_cache_, std::make_shared<IncidentArchive>(settings_.state_dir),
                 settings_.digest_format, settings_.operator_identities) {}

absl::Status Coordinator::TakeStateDirectory() {
  const std::string& directory = settings_.state_dir;
  const absl::Duration deadline = MonotonicTime() + settings_.predecessor_patience;
  for (bool told = false;; told = true) {
    std::optional<absl::StatusOr<file::FileLock>> lock = WithPatience(
        [disk = settings_.disk, directory]() -> absl::StatusOr<file::FileLock> {
          if (absl::Status made = disk->MakeDirectory(directory); !made.ok()) return made;
          return file::FileLock::Take(absl::StrCat(directory, "/coordinator.lock"));
        },
        kDiskPatience);
    if (!lock.has_value()) return absl::OkStatus();
    if (lock->ok()) state_dir_lock_ = *std::move(*lock);
    if (!absl::IsAlreadyExists(lock->status())) return absl::OkStatus();
    if (MonotonicTime() >= deadline) {
      return absl::FailedPreconditionError(
          absl::StrCat("--state-dir=", directory,
                       ": another coordinator works there, and each needs a directory of its own"));
    }
    if (!told) spdlog::info("another coordinator works in {}; waiting for its end", directory);
    absl::SleepFor(kPredecessorLook);
  }
}

void Coordinator::BeginWork() {
  if (!settings_.otlp_endpoint.empty()) {
    otlp_ =
        std::make_unique<OtlpExporter>(OtlpExporter::Settings{.endpoint = settings_.otlp_endpoint});
  }
  hooks_ = std::make_shared<ProcessHookRunner>(HookLimits{.timeout = settings_.removal.hook_timeout,
                                                          .grace = kHookGrace,
                                                          .max_output = kMaxHookOutput},
                                               ProcessEnvironment(), "coordinator",
                                               /*job_by_worker=*/settings_.core.shape.job.empty());
  removal_worker_ = std::make_unique<RemovalWorker>(RemovalWorker::Settings{
      .removal = settings_.removal,
      .state_dir = settings_.state_dir,
      .job =
          settings_.core.shape.job.empty() ? std::nullopt : std::optional(settings_.core.shape.job),
      .disk = settings_.disk,
      .runner = hooks_});
  pipeline_ = std::make_unique<IncidentPipeline>(
      IncidentStore(settings_.state_dir, *settings_.disk),
      IncidentPipeline::Settings{.retention = settings_.retention,
                                 .pending = {},
                                 .wrote =
                                     [telemetry = telemetry_, arrived = removal_worker_->Arrived()](
                                         const std::string& id, absl::Duration took) {
                                       telemetry->CountWrite(took);
                                       arrived(id);
                                     },
                                 .ended = removal_worker_->Ended()});
  writer_ = std::make_unique<IncidentWriter>(
      *pipeline_,
      IncidentWriter::Settings{
          .text_format = settings_.digest_format,
          .disk_patience = kDiskPatience,
          .log_digest = settings_.log_digest,
          .classified = [this](Cause cause,
                               absl::Duration took) { telemetry_->CountVerdict(cause, took); },
          .digested = [this](const WrittenDigest& digest) { NoteDigest(digest); },
          .found =
              [this](IncidentRecord incident) { removal_worker_->Expect(std::move(incident)); },
          .want_texts = [this](TextsWanted event) { queue_.Post(std::move(event)); },
          .revision_on_disk = [archive =
                                   std::make_shared<const IncidentArchive>(settings_.state_dir)](
                                  const std::string& id) { return RevisionOnDisk(archive, id); },
          .concluded = [this](IncidentConcluded event) { queue_.Post(std::move(event)); }});
  operators_.SetPipeline(pipeline_.get());
  pause_file_ = std::make_unique<PauseFile>(settings_.state_dir, settings_.disk);
  learnt_file_ = std::make_unique<LearntFile>(settings_.state_dir, settings_.disk);
  free_memory_ = std::make_unique<PeriodicWorker>([](bool) {
    ReturnFreeMemory(kKeptFreeMemory);
    return MonotonicTime() + kFreeMemoryCheck;
  });
  Recall();
}

namespace {

// Agents remember one incident each, which is among the newest.
constexpr size_t kRecalled = 4;

absl::StatusOr<IncidentsOnDisk> FindLeft(const IncidentArchive& archive) {
  absl::StatusOr<std::vector<std::string>> ids = archive.Ids();
  if (!ids.ok()) return ids.status();
  IncidentsOnDisk left{.ids = *std::move(ids)};
  const absl::StatusOr<std::vector<IncidentSummary>> newest = archive.List(kRecalled);
  if (!newest.ok()) return left;
  if (!newest->empty() && !newest->front().ended.has_value()) left.open = newest->front().id;
  for (const IncidentSummary& incident : *newest) {
    if (incident.acknowledged.has_value() && !left.acknowledged.has_value()) {
      left.acknowledged = {incident.id, *incident.acknowledged};
    }
    if (incident.cause == CauseName(Cause::kUnknown)) left.unknown.push_back(incident.id);
    if (incident.problem.empty()) left.verdicts.emplace(incident.id, VerdictOf(incident));
  }
  return left;
}

}  // namespace

void Coordinator::Recall() {
  const auto archive = std::make_shared<const IncidentArchive>(settings_.state_dir);
  incident_recovery_ = std::make_unique<IncidentRecovery>(
      [archive](const std::string& id) { return archive->Read(id, IncidentForm::kText); },
      settings_.log_digest, [this](Event event) { queue_.Post(std::move(event)); });
  incident_recovery_->FindLeft([archive, state_dir = settings_.state_dir, disk = settings_.disk] {
    absl::StatusOr<IncidentsOnDisk> left = FindLeft(*archive);
    if (left.ok()) left->pause = ReadPause(state_dir, *disk);
    if (left.ok()) left->learnt = ReadLearnt(state_dir, *disk);
    return left;
  });
}

Coordinator::~Coordinator() {
  if (web_ != nullptr) web_->Stop();
  http_.reset();
  certificates_.reset();
  if (acceptor_ != nullptr) acceptor_->Stop();
  // Streams end before the queue to which they post.
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(kStopStreams));
    server_->Wait();
  }
}

absl::Status Coordinator::Listen() {
  const auto credentials =
      transport::MakeServerCredentials(settings_.credentials, settings_.listen);
  if (!credentials.ok()) return credentials.status();
  grpc::ServerBuilder builder;
  transport::ConfigureServer(builder);
  auto acceptor = transport::Acceptor::Listen(settings_.listen);
  std::string problem(acceptor.status().message());
  if (acceptor.ok()) {
    acceptor_ = *std::move(acceptor);
    acceptor_->AddTo(builder, *credentials);
    builder.RegisterService(&service_);
    builder.RegisterService(&operators_);
    server_ = builder.BuildAndStart();
  }
  if (server_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen on ", settings_.listen, ": ", problem,
        "; is another coordinator running, is the address one of this host? Set --listen"));
  }
  acceptor_->Start();
  address_ =
      absl::StrCat(settings_.listen.substr(0, settings_.listen.rfind(':')), ":", acceptor_->port());
  return absl::OkStatus();
}

void Coordinator::WatchCertificates() {
  const bool tls = !settings_.credentials.tls_cert.empty();
  if (tls && settings_.core.identity.templates.empty()) {
    spdlog::warn(
        "--agent-identity-template is not set: whoever holds an agent's certificate may speak for "
        "any worker");
  }
  certificates_ = std::make_unique<transport::CertificateWatch>(
      settings_.credentials,
      transport::CertificateWatch::Actions{
          .warn = [](const std::string& text) { spdlog::warn("{}", text); },
          .changed =
              [this](const std::shared_ptr<const transport::PeerChecker>& checker) {
                spdlog::info("--tls-ca or --tls-crl-dir has changed: connected agents are checked");
                operators_.CheckPeers(checker);
                service_.CheckPeers(checker);
              }},
      settings_.certificate_interval);
}

absl::Status Coordinator::ServePages() {
  if (settings_.http.empty()) return absl::OkStatus();
  web_ = std::make_unique<Web>(
      Web::Sources{.cache = &status_cache_,
                   .archive = std::make_shared<IncidentArchive>(settings_.state_dir),
                   .telemetry = telemetry_.get(),
                   .read = [this] { return Read(); },
                   .fleet = {.url = settings_.removal.fleet_db.empty()
                                        ? absl::StrCat("sqlite:", settings_.state_dir, "/fleet.db")
                                        : settings_.removal.fleet_db,
                             .mode = settings_.removal.policy.mode,
                             .window = settings_.removal.policy.window}});
  auto server = http::HttpServer::Start(
      {.address = settings_.http, .insecure = settings_.credentials.insecure},
      [this](const http::Request& request) { return web_->Answer(request); });
  if (server.ok()) {
    http_ = *std::move(server);
    spdlog::info("status and metrics at http://{}/", http_->address());
    return absl::OkStatus();
  }
  const std::string problem = absl::StrCat("--http: ", std::string(server.status().message()));
  if (settings_.http_required) return {server.status().code(), problem};
  spdlog::error("{}; going on without pages and metrics (--http=off leaves them out)", problem);
  return absl::OkStatus();
}

std::string Coordinator::http_address() const { return http_ == nullptr ? "" : http_->address(); }

Readings Coordinator::Read() const {
  const EventQueue::Depth depth = queue_.depth();
  return {.status = nullptr,
          .disk = pipeline_->Report(),
          .removal = removal_worker_->Report(),
          .otlp = otlp_ == nullptr ? OtlpCounters() : otlp_->Report(),
          .queued_events = depth.events,
          .queued_bytes = depth.bytes,
          .streams = service_.streams(),
          .certificates = certificates_->expiry(),
          .since_turn = telemetry_->SinceTurn(MonotonicTime()),
          .stopping = telemetry_->stopping(),
          .since_starved = acceptor_->SinceStarved(),
          .connections_refused = acceptor_->refused()};
}

void Coordinator::RequestStop() {
  telemetry_->NoteStopping();
  // A hook takes a second or two to end: meanwhile the incident in progress can end.
  removal_worker_->Stop();
  hooks_->Stop();
  queue_.Post(Stop{});
}

void Coordinator::Run() {
  telemetry_->NoteTurn(MonotonicTime());
  RunEventLoop(core_, queue_, *this, settings_.observer);
  status_cache_.Stop();
  if (web_ != nullptr) web_->Stop();
  operators_.Stop();
  const Counters& c = core_.counters();
  spdlog::info(
      "stopped: {} hellos admitted, {} refused, {} timed out; {} messages refused, {} floods; {} "
      "alarms, {} suspicions, {} recovered, {} incidents, {} job restarts",
      c.hellos_admitted, c.hellos_refused, c.hello_timeouts, c.messages_refused, c.floods, c.alarms,
      c.suspicions, c.recovered_in_between, c.incidents, c.job_restarts);
}

void Coordinator::Handle(Send effect) {
  if (auto* collect = std::get_if<wire::Collect>(&effect.message)) salt_.AddTo(*collect);
  service_.Send(effect.stream, effect.message);
}
void Coordinator::Handle(Close effect) {
  telemetry_->CountClose(effect.status.code());
  service_.Close(effect.stream, effect.status);
}
void Coordinator::Handle(Retell effect) { incident_recovery_->Begin(effect.incident_id); }
void Coordinator::Handle(Conclude effect) { writer_->Post(std::move(effect)); }
void Coordinator::Handle(TextsGathered effect) { writer_->Post(std::move(effect)); }
void Coordinator::ReadNext(StreamId stream) { service_.ReadNext(stream); }
void Coordinator::Handle(StatusReport effect) {
  status_cache_.Report(MonotonicTime(), std::move(effect.status));
}
void Coordinator::Handle(Examine effect) { operators_.Handle(std::move(effect)); }
void Coordinator::Handle(SnapshotAnswered effect) { operators_.Handle(effect); }
void Coordinator::Handle(SnapshotRefused effect) { operators_.Handle(effect); }
void Coordinator::Handle(PauseAnswered effect) { operators_.Handle(effect); }
void Coordinator::Handle(PauseChanged effect) { pause_file_->Write(std::move(effect.pause)); }
void Coordinator::Handle(PausesLearnt effect) { learnt_file_->Write(std::move(effect.pauses)); }

void Coordinator::Handle(IncidentEnded effect) {
  pipeline_->End(effect.incident);
  if (otlp_ == nullptr) return;
  otlp_->Send({.kind = IncidentEventKind::kRecovered,
               .incident = effect.incident.id,
               .job = effect.job,
               .at = effect.incident.ended,
               .observed = effect.incident.ended,
               .text = effect.incident.why,
               .verdict = std::nullopt});
}

void Coordinator::NoteDigest(const WrittenDigest& digest) {
  telemetry_->CountDigest(digest.times);
  if (otlp_ == nullptr) return;
  otlp_->Send(
      {.kind = digest.revision > 1 ? IncidentEventKind::kChanged : IncidentEventKind::kOpened,
       .incident = digest.incident_id,
       .job = digest.job,
       .at = digest.detected,
       .observed = absl::Now(),
       .revision = digest.revision,
       .text = digest.text,
       .verdict = digest.verdict});
}

void Coordinator::Housekeep() {
  const absl::Duration now = MonotonicTime();
  telemetry_->NoteTurn(now);
  pipeline_->Watch();
  service_.CutOffOverdue(now);
  operators_.CutOffOverdue(now);
}

void Coordinator::Handle(Log effect) {
  switch (effect.level) {
    case LogLevel::kInfo:
      spdlog::info("{}", effect.text);
      return;
    case LogLevel::kWarning:
      spdlog::warn("{}", effect.text);
      return;
    case LogLevel::kError:
      spdlog::error("{}", effect.text);
      return;
  }
}

}  // namespace rapideye::coordinator
