#include "agent/daemon/flags.h"

#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/core/limits.h"
#include "agent/sources/log/fetch_signatures.h"
#include "agent/sources/registry.h"
#include "agent/sources/tcp/peers.h"

namespace rapideye::agent {

void AddFlags(CLI::App& app, Flags& flags) {
  using program::AddFlag;
  IdentityFlags& identity = flags.identity;
  AddFlag(app, "job", identity.job, "name of the job (else JOBSET_NAME, TPU_NAME, SLURM_JOB_NAME)");
  AddFlag(app, "slice", identity.slice, "number of this slice (else MEGASCALE_SLICE_ID)");
  AddFlag(app, "task", identity.task,
          "number of this worker in its slice (else TPU_WORKER_ID, JOB_COMPLETION_INDEX)");
  AddFlag(app, "host", identity.host, "name of this host in the digest (else its host name)");
  AddFlag(app, "node", identity.node, "name of its node (else NODE_NAME, SLURMD_NODENAME)");
  AddFlag(app, "pod", identity.pod, "name of its pod (else POD_NAME)");
  AddFlag(app, "hardware", identity.hardware,
          "what identifies the machine itself, since names are reused: instance id, label of its "
          "physical host (else the serial number in --sys-root, which takes root to read)");
  AddFlag(app, "coordinator", identity.coordinator,
          "HOST:PORT of rapideye-coordinator (else the host of MEGASCALE_COORDINATOR_ADDRESS, port "
          "8490)");
  AddFlag(app, "runtime", identity.runtime,
          "HOST:PORT of the TPU runtime's status service (else TPU_RUNTIME_METRICS_PORTS, "
          "localhost:8431)");
  AddFlag(app, "log", flags.logs.patterns,
          "PATH or GLOB of training log files to follow; may be repeated");
  AddFlag(app, "log-signatures", flags.log_signatures,
          "file of signatures of log lines beyond the built-in ones");
  AddFlag(app, "hlo-dump-dir", flags.hlo_dump_dir,
          "where XLA dumps its programs (--xla_dump_to): their text is read when programs have "
          "diverged");
  AddFlag(app, "device-plugin-metrics", flags.host.device_plugin_metrics,
          "HOST:PORT of the TPU device plugin's metrics, looked at when the job stands still");
  AddFlag(app, "input-pipeline-metrics", flags.host.input_pipeline_metrics,
          "HOST:PORT of the input pipeline's (Grain's) metrics, likewise");
  AddFlag(app, "progress-page", flags.host.progress_page,
          "the progress page that the training loop writes (agent/progress/README.md)");
  AddFlag(app, "peer", flags.peers,
          "SLICE/TASK=ADDRESS of another worker, to know its connections by; may be repeated");
  AddFlag(app, "peer-address-template", flags.peer_address_template,
          "where addresses of workers are computed: an IPv4 address with {slice} and {task} in "
          "place of a number, such as 10.{slice}.0.{task}");
  AddFlag(app, "probe-port", flags.probe_port,
          "where to knock at other workers of the job, TCP and UDP, when the coordinator asks "
          "during a hang; nobody needs to listen there, but firewalls must not drop it");
  AddFlag(app, "disable", flags.disable,
          absl::StrCat("a source of evidence that is not to be read; may be repeated: ",
                       absl::StrJoin(SourceNames(), ", ")));
  AddFlag(app, "proc-root", flags.host.proc_root,
          "where the processes of the training container are to be seen");
  AddFlag(app, "sys-root", flags.host.sys_root,
          "where the host's /sys is to be seen: network interfaces, error counters of chips");
  AddFlag(app, "dev-root", flags.host.dev_root,
          "where the host's /dev is to be seen: the kernel's log, DEV/kmsg, and the chips' files");
  AddFlag(app, "poll-interval", flags.poll_interval, "how often the runtime is asked in health");
  AddFlag(app, "metrics-port", flags.metrics_port,
          "port for Prometheus' /metrics and for /healthz; without it none is opened");
  AddFlag(app, "metrics-address", flags.metrics_address,
          "where that port is; one that others can reach needs --insecure");
  AddFlag(app, "state-dir", flags.state_dir,
          "where is left for the next agent what nobody was told: evidence of a hang, alarms; off: "
          "nowhere");
  AddFlag(app, "exec-log", flags.exec_log,
          "with exec: file for the agent's own log, or stderr, amid what the command writes "
          "(else a file in --state-dir)");
  AddFlag(app, "once", flags.once, "sample once, print the snapshot as JSON, and exit");
  AddFlag(app, "log-format", flags.log_format, "of standard error: text or json")
      .Among({"text", "json"});
  AddFlag(app, "tls-cert", flags.credentials.tls_cert, "certificate of this agent, a PEM file");
  AddFlag(app, "tls-key", flags.credentials.tls_key, "its private key, a PEM file");
  AddFlag(app, "tls-ca", flags.credentials.tls_ca, "who may sign the coordinator, a PEM file");
  AddFlag(app, "tls-identity", flags.credentials.identities,
          "whom the coordinator's certificate must name, a name or a pattern with * and ?; may be "
          "repeated (else the host of --coordinator)");
  AddFlag(app, "insecure", flags.credentials.insecure,
          "speak plaintext with a coordinator that is not on this host, or over --metrics-port");
  CLI::App& exec = program::AddCommand(
      app, "exec",
      "Start the training process: pass on its output and its signals, exit as it does");
  const char* command = "after --: the command and its arguments";
  program::AddArgument(exec, "COMMAND", flags.command, command).Required().TypeText("");
}

absl::Status Check(Flags& flags) {
  if (flags.poll_interval < kShortestPollInterval || flags.poll_interval > kSlowestPoll) {
    return absl::InvalidArgumentError(absl::StrCat("--poll-interval: must be from ",
                                                   absl::FormatDuration(kShortestPollInterval),
                                                   " to ", absl::FormatDuration(kSlowestPoll)));
  }
  if (flags.once && !flags.command.empty()) {
    return absl::InvalidArgumentError("--once starts no command; leave out either");
  }
  if (flags.probe_port < 1 || flags.probe_port > 65535) {
    return absl::InvalidArgumentError("--probe-port: must be from 1 to 65535");
  }
  absl::StatusOr<Peers> peers = Peers::Parse(flags.peers, flags.peer_address_template);
  if (!peers.ok()) return peers.status();
  flags.host.peers = *std::move(peers);
  absl::StatusOr<std::set<std::string>> disabled = ParseSources(flags.disable);
  if (!disabled.ok()) return disabled.status();
  flags.host.disabled = *std::move(disabled);
  if (flags.host.disabled.contains(TrainingLogSource::kName)) flags.logs.patterns.clear();
  if (flags.host.disabled.contains(HloDumpSource::kName)) flags.hlo_dump_dir.clear();
  absl::StatusOr<logs::SignatureTable> signatures = ReadSignatureTable(flags.log_signatures);
  if (!signatures.ok()) return signatures.status();
  flags.logs.signatures = *std::move(signatures);
  return absl::OkStatus();
}

}  // namespace rapideye::agent
