#include "coordinator/daemon/program.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <stdio.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/core/limits.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/daemon/environment.h"
#include "coordinator/fleet/sqlite.h"
#include "coordinator/removal/removal_flags.h"
#include "proto/common/file/network_file_system.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/logging/logging.h"
#include "proto/common/process/descriptor_limit.h"
#include "proto/common/process/signals.h"
#include "proto/common/worker/thread.h"
#include "proto/transport/tls_files.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {
namespace {

struct Flags {
  CoordinatorSettings settings;
  program::ByteSize retain_bytes = {Retention{}.bytes};
  std::string digest_format = "classic";
  RemovalFlags removal;
  std::string http = "127.0.0.1:9490";
  std::optional<program::AddedOption> http_flag;
  std::string log_format = "text";
};

// Flags for the right to connect, and for what each peer may state and ask.
void AddIdentityFlags(CLI::App& app, CoordinatorSettings& s) {
  using program::AddFlag;
  AddFlag(app, "tls-cert", s.credentials.tls_cert,
          "PEM file: certificate of this coordinator; turns TLS on, together with --tls-key and "
          "--tls-ca (all three or none)");
  AddFlag(app, "tls-key", s.credentials.tls_key,
          "PEM file: private key of --tls-cert, without passphrase");
  AddFlag(app, "tls-ca", s.credentials.tls_ca,
          "PEM file: CA that must have signed the certificates of agents and operators");
  AddFlag(app, "tls-identity", s.credentials.identities,
          "name that a client's certificate must hold, or a pattern with * and ?; may be repeated "
          "(else any certificate that --tls-ca has signed)");
  AddFlag(app, "tls-crl-dir", s.credentials.tls_crl_dir,
          "directory of certificate revocation lists, named by hash (openssl rehash): refuses "
          "certificates that they revoke, and those whose issuer has no list there (else none is "
          "checked for revocation)");
  AddFlag(app, "agent-identity-template", s.core.identity.templates,
          "name that an agent's certificate must hold to speak for a worker; {slice}, {task} and "
          "{job} stand for that worker's, as in rapideye-agent-{slice}-{task}; may be repeated "
          "(else any agent may speak for any worker)");
  AddFlag(app, "direct-evidence-from", s.core.identity.direct_evidence_from,
          "name, or pattern with * and ?, in the certificates of agents that the job's user cannot "
          "control: what these read in the kernel log and PCIe counters removes a machine at its "
          "first hang, if their certificate names it; may be repeated (else no agent's word does)");
  AddFlag(app, "operator-identity", s.operator_identities,
          "name that an operator's certificate (the rapideye command's) must hold, or a pattern "
          "with * and ?; may be repeated (else any certificate that --tls-ca has signed)");
  AddFlag(app, "insecure", s.credentials.insecure,
          "allows plaintext, which others on the network can read and alter, on an address that is "
          "not loopback, for --listen and --http");
}

void AddFlags(CLI::App& app, Flags& flags) {
  using program::AddFlag;
  CoordinatorSettings& s = flags.settings;
  AddFlag(app, "listen", s.listen,
          "ADDRESS:PORT for agents and operators; any address but loopback needs TLS or "
          "--insecure; port 0: any free port");
  AddFlag(app, "job", s.core.shape.job,
          "name of the job (else JOBSET_NAME, TPU_NAME, SLURM_JOB_NAME, the name that the first "
          "worker reports)");
  AddFlag(app, "slices", s.core.shape.slices,
          "number of slices that the job should have; absent ones are then told (else "
          "MEGASCALE_NUM_SLICES, else what the workers report)");
  AddFlag(app, "tasks-per-slice", s.core.shape.tasks_per_slice,
          "number of workers that each slice should have (else the number of TPU_WORKER_HOSTNAMES, "
          "else what the workers report)");
  AddFlag(app, "state-dir", s.state_dir,
          "directory for incidents and the fleet history, not shared with another coordinator; put "
          "it on a volume that outlives the pod");
  AddFlag(app, "retain-incidents", s.retention.incidents,
          "number of incidents that --state-dir keeps; the oldest are deleted first");
  AddFlag(app, "retain-bytes", flags.retain_bytes,
          "total size of the incidents in --state-dir; the oldest are deleted first, the newest "
          "never");
  AddFleetDbFlag(app, flags.removal.fleet_db,
                 "(else sqlite:<state-dir>/fleet.db, for this job alone)");
  AddRemovalFlags(app, flags.removal);
  AddFlag(app, "launch-threshold", s.core.thresholds.launch,
          "raises an alarm when programs run on the TPUs and none completes for this long; auto: "
          "the larger of 10s and 5 x the longest healthy launch, at most 5m")
      .DefaultText("auto");
  AddFlag(app, "hang-threshold", s.core.thresholds.hang,
          "raises an alarm when no program runs on the TPUs for this long; auto: the larger of 5m "
          "and 3 x the longest healthy pause")
      .DefaultText("auto");
  AddFlag(app, "startup-grace", s.core.thresholds.startup_grace,
          "raises an alarm when the first launch of a job, or of a new program, has not completed "
          "after this long, or nothing shows any step and most processes only wait");
  AddFlag(app, "longest-pause", s.core.thresholds.longest_pause,
          "longest time for which a checkpoint, an evaluation, a compilation or a busy host holds "
          "an alarm back, whatever was learnt from this job; set it above the job's longest save");
  AddFlag(app, "collect-deadline", s.core.collect_deadline,
          "longest time to collect evidence from all workers after an alarm, at least 2s; who has "
          "not answered by then counts as missing");
  AddFlag(app, "digest-format", flags.digest_format,
          "layout of the TPU states in the text digest; grouped: the layout that newer TPU "
          "runtimes print")
      .Among({"classic", "grouped"});
  flags.http_flag =
      AddFlag(app, "http", flags.http,
              "ADDRESS:PORT of the status page, /incidents and /metrics (Prometheus), or off; any "
              "address but loopback needs --insecure, because it has no TLS");
  AddFlag(app, "otlp-endpoint", flags.settings.otlp_endpoint,
          "URL of an OpenTelemetry receiver (http://HOST:4318): gets a log record when an incident "
          "opens, changes or ends, by OTLP over HTTP with JSON (else none is sent)");
  AddFlag(app, "log-format", flags.log_format,
          "format of the log on standard error; json: one object per line")
      .Among({"text", "json"});
  AddIdentityFlags(app, s);
}

absl::Status CheckThreshold(const char* flag, std::optional<absl::Duration> value) {
  if (!value.has_value()) return absl::OkStatus();
  if (*value >= kMinThreshold && *value <= kMaxThreshold) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      flag, ": ", absl::FormatDuration(*value), " is not between ",
      absl::FormatDuration(kMinThreshold), " and ", absl::FormatDuration(kMaxThreshold)));
}

absl::Status CheckCount(const char* flag, std::optional<int32_t> value) {
  if (value.value_or(1) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", *value, " is not above 0"));
}

// Without TLS no peer has a certificate, so that no rule about certificates can hold.
absl::Status CheckIdentities(const CoordinatorSettings& s) {
  const IdentityRules& rules = s.core.identity;
  for (const auto& [flag, given] :
       {std::pair("--agent-identity-template", !rules.templates.empty()),
        std::pair("--direct-evidence-from", !rules.direct_evidence_from.empty()),
        std::pair("--operator-identity", !s.operator_identities.empty()),
        std::pair("--tls-crl-dir", !s.credentials.tls_crl_dir.empty())}) {
    if (given && s.credentials.tls_cert.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, ": nobody has a certificate without --tls-cert, --tls-key and --tls-ca"));
    }
  }
  for (const std::string& text : rules.templates) {
    if (absl::Status status = CheckIdentityTemplate(text); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--agent-identity-template=", text, ": ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

// Turns the flags into settings; INVALID_ARGUMENT names the wrong flag.
absl::Status Complete(Flags& flags) {
  CoordinatorSettings& s = flags.settings;
  if (s.core.collect_deadline < kMinCollectDeadline) {
    return absl::InvalidArgumentError(absl::StrCat("--collect-deadline: must be at least ",
                                                   absl::FormatDuration(kMinCollectDeadline)));
  }
  if (s.state_dir.empty()) return absl::InvalidArgumentError("--state-dir: must not be empty");
  // A disk that hangs does not tell its type; the pipeline reports the hang.
  const std::optional<std::string> type =
      WithPatience([path = s.state_dir] { return file::NetworkFileSystemOf(path); }, kDiskPatience);
  const absl::Status place = CheckSqlitePlace(s.state_dir, type.value_or(""));
  if (!place.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--state-dir: ", std::string(place.message())));
  }
  if (s.retention.incidents < 1) {
    return absl::InvalidArgumentError("--retain-incidents: must be at least 1");
  }
  s.retention.bytes = flags.retain_bytes.bytes;
  if (absl::Status status = CheckRemoval(flags.removal); !status.ok()) return status;
  if (absl::Status status = CheckIdentities(s); !status.ok()) return status;
  s.removal = {.policy = flags.removal.policy,
               .fleet_db = flags.removal.fleet_db,
               .hooks = flags.removal.hooks,
               .hook_timeout = flags.removal.hook_timeout,
               .tenant_machines = flags.removal.tenant_machines};
  if (!s.otlp_endpoint.empty()) {
    const absl::StatusOr<std::string> url = OtlpLogsUrl(s.otlp_endpoint);
    if (!url.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--otlp-endpoint: ", std::string(url.status().message())));
    }
  }
  s.http = flags.http == "off" ? "" : flags.http;
  s.http_required = flags.http_flag->Given();
  for (const absl::Status& status :
       {CheckCount("--slices", s.core.shape.slices),
        CheckCount("--tasks-per-slice", s.core.shape.tasks_per_slice),
        CheckThreshold("--launch-threshold", s.core.thresholds.launch),
        CheckThreshold("--hang-threshold", s.core.thresholds.hang),
        CheckThreshold("--startup-grace", s.core.thresholds.startup_grace),
        CheckThreshold("--longest-pause", s.core.thresholds.longest_pause)}) {
    if (!status.ok()) return status;
  }
  s.core.shape = WithEnvironment(std::move(s.core.shape), ReadProcessVariable);
  if (int64_t{s.core.shape.slices.value_or(1)} * s.core.shape.tasks_per_slice.value_or(1) >
      kMaxWorkers) {
    return absl::InvalidArgumentError(
        absl::StrCat("--slices x --tasks-per-slice: more than ", kMaxWorkers, " workers"));
  }
  if (flags.digest_format == "grouped") s.digest_format = digest::TextFormat::kGrouped;
  return absl::OkStatus();
}

// With too few descriptors healthy workers appear missing.
void CheckDescriptors(const JobShape& shape) {
  const int64_t limit = program::RaiseDescriptorLimit();
  const int64_t workers =
      int64_t{shape.slices.value_or(1)} * int64_t{shape.tasks_per_slice.value_or(1)};
  const int64_t needed = 2 * workers + kDescriptorsBesideWorkers;
  if (limit >= needed) return;
  spdlog::error(
      "the limit of open files is {}, and {} workers need {}: some of them cannot connect, and "
      "will "
      "be said to be missing; raise it (LimitNOFILE in a unit, ulimit -Hn in a shell)",
      limit, workers, needed);
}

// gRPC itself reads certificates again, and hooks are read whenever they run.
void Reload(const transport::CredentialOptions& credentials) {
  spdlog::info("SIGHUP: reading the files again that flags name");
  if (credentials.tls_cert.empty()) return;
  const absl::Status checked =
      transport::CheckTlsFiles(credentials.tls_cert, credentials.tls_key, credentials.tls_ca);
  if (checked.ok()) {
    spdlog::info("the certificate is in order; new connections use it within a minute");
  } else {
    spdlog::error("{}; connections go on with what was read before",
                  std::string(checked.message()));
  }
}

// Log readers grep for whole lines of the digest: as text the digest stands in the log as it is, in
// one piece; as JSON it is the message of one record, whose own fields hold what a search or an
// alert needs.
void LogDigest(const std::string& incident, const std::string& text,
               const std::optional<ToldVerdict>& verdict, bool json) {
  if (json) {
    nlohmann::ordered_json fields = {{"incident", incident}};
    if (verdict.has_value()) {
      fields["cause"] = verdict->cause;
      if (!verdict->detail.empty()) fields["detail"] = verdict->detail;
      if (verdict->confidence) fields["confidence"] = *verdict->confidence;
      if (!verdict->sentence.empty()) fields["sentence"] = verdict->sentence;
      fields["culprits"] = verdict->culprits;
      fields["culpritHosts"] = verdict->culprit_hosts;
    }
    program::LogJsonError("rapideye-coordinator", text, fields);
    return;
  }
  spdlog::default_logger()->flush();
  fwrite(text.data(), 1, text.size(), stderr);
  fflush(stderr);
}

}  // namespace

int RunProgram(int argc, char** argv, const std::function<void(CoordinatorSettings&)>& adjust) {
  CLI::App app("Watches one TPU training job; when it hangs, says why.", "rapideye-coordinator");
  Flags flags;
  flags.settings.state_dir = "/var/lib/rapideye";
  AddFlags(app, flags);
  program::ConfigureApp(app, wire::kProtocolVersion);
  if (const std::optional<int> code = program::Parse(app, argc, argv)) return *code;
  const bool json = flags.log_format == "json";
  program::SetUpLogging("rapideye-coordinator",
                        json ? program::LogFormat::kJson : program::LogFormat::kText);
  if (absl::Status status = Complete(flags); !status.ok()) {
    spdlog::error("{}", std::string(status.message()));
    return program::kExitUsage;
  }
  flags.settings.log_digest = [json](const std::string& incident, const std::string& text,
                                     const std::optional<ToldVerdict>& verdict) {
    LogDigest(incident, text, verdict, json);
  };

  if (adjust) adjust(flags.settings);

  signal(SIGPIPE, SIG_IGN);  // a log reader that goes away ends nothing
  absl::StatusOr<program::StopSignals> signals = program::StopSignals::Catch();
  if (!signals.ok()) {
    spdlog::error("{}", std::string(signals.status().message()));
    return program::kExitFailure;
  }

  const transport::CredentialOptions credentials = flags.settings.credentials;
  const absl::Status hangup = signals->OnHangup([&credentials] { Reload(credentials); });
  if (!hangup.ok()) spdlog::warn("{}", std::string(hangup.message()));

  CheckDescriptors(flags.settings.core.shape);
  auto coordinator = Coordinator::Start(std::move(flags.settings));
  if (!coordinator.ok()) {
    spdlog::error("{}", std::string(coordinator.status().message()));
    return absl::IsInvalidArgument(coordinator.status()) ? program::kExitUsage
                                                         : program::kExitFailure;
  }
  spdlog::info("listening on {}", (*coordinator)->address());
  Thread stopper([&] {
    const std::optional<int> number = signals->Wait();
    spdlog::info("asked to stop by signal {}", number.value_or(0));
    (*coordinator)->RequestStop();
  });
  (*coordinator)->Run();
  stopper.Join();
  return program::kExitOk;
}

}  // namespace rapideye::coordinator
