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

namespace {

void AddIdentityFlags(CLI::App& app, IdentityFlags& identity) {
  using program::AddFlag;
  AddFlag(app, "job", identity.job,
          "name of the job, the same for all of its workers (else JOBSET_NAME, TPU_NAME, "
          "SLURM_JOB_NAME)");
  AddFlag(app, "slice", identity.slice,
          "index of this worker's slice, from 0 (else MEGASCALE_SLICE_ID)");
  AddFlag(app, "task", identity.task,
          "index of this worker in its slice, from 0 (else TPU_WORKER_ID, or the rank that a "
          "launcher sets: JAX_PROCESS_ID, SLURM_PROCID, RANK, JOB_COMPLETION_INDEX and others)");
  AddFlag(app, "host", identity.host,
          "name of this host in digests, for hooks and in the fleet history (else its host name)");
  AddFlag(app, "node", identity.node,
          "name of this host as the cluster manager knows it, which hooks cordon or drain (else "
          "NODE_NAME, SLURMD_NODENAME)");
  AddFlag(app, "pod", identity.pod,
          "name of this worker's Kubernetes pod; digests then give commands for Kubernetes (else "
          "POD_NAME)");
  AddFlag(app, "hardware", identity.hardware,
          "identity of the physical machine: instance id or label of the host; without one, a "
          "machine whose host name may be reused is never removed (else the serial number below "
          "--sys-root, readable by root only)");
  AddFlag(app, "coordinator", identity.coordinator,
          "HOST:PORT of rapideye-coordinator (else the host of MEGASCALE_COORDINATOR_ADDRESS, port "
          "8490)");
  AddFlag(app, "runtime", identity.runtime,
          "HOST:PORT of the status service of this process's TPU runtime (else "
          "TPU_RUNTIME_METRICS_PORTS, localhost:8431)");
}

void AddSourceFlags(CLI::App& app, Flags& flags) {
  using program::AddFlag;
  AddFlag(app, "log", flags.logs.patterns,
          "PATH or GLOB (quoted) of training log files to follow; may be repeated; exec follows "
          "the command's output without it (else none)");
  AddFlag(app, "log-signatures", flags.log_signatures,
          "file of the site's own patterns of log lines, beside the built-in ones (format: "
          "deploy/BESIDE_A_JOB.md)");
  AddFlag(app, "redact", flags.redact,
          "regular expression (RE2) of a site's own secrets: removes from all that leaves this "
          "host what its groups match, or the whole match if it has none; keys, tokens and "
          "passwords in their usual forms are removed without it; may be repeated");
  AddFlag(app, "hlo-dump-dir", flags.hlo_dump_dir,
          "directory that XLA dumps this worker's programs to (--xla_dump_to), which name the "
          "instruction that hangs; read in a hang only");
  AddFlag(app, "device-plugin-metrics", flags.host.device_plugin_metrics,
          "HOST:PORT of the metrics of the TPU device plugin (Kubernetes); read only while the job "
          "stands still");
  AddFlag(app, "input-pipeline-metrics", flags.host.input_pipeline_metrics,
          "HOST:PORT of the metrics of the input pipeline (Grain); read only while the job stands "
          "still");
  AddFlag(app, "progress-page", flags.host.progress_page,
          "file in which the training loop reports its progress, so that no checkpoint or "
          "compilation is taken for a hang (agent/progress/README.md)");
  AddFlag(app, "peer", flags.peers,
          "SLICE/TASK=ADDRESS of another worker, so that a stuck TCP connection is told as one to "
          "that worker; may be repeated");
  AddFlag(app, "peer-address-template", flags.peer_address_template,
          "IPv4 address of every worker, with {slice} and {task} in place of numbers, such as "
          "10.{slice}.0.{task}; saves listing each as --peer");
  AddFlag(app, "probe-port", flags.probe_port,
          "port (TCP and UDP) of other workers that the agent tries to reach during a hang, when "
          "the coordinator asks, to find a broken network path; nothing needs to listen there, but "
          "firewalls must let it through");
  AddFlag(app, "disable", flags.disable,
          absl::StrCat("source of evidence that the agent does not read; may be repeated: ",
                       absl::StrJoin(SourceNames(), ", ")));
  AddFlag(app, "platform", flags.platforms,
          absl::StrCat("platform that the agent asks what it does or plans to do to this host, "
                       "such as maintenance or draining; may be repeated: ",
                       kComputeEngine, ", ", kKubernetes, ", ", kSlurm, " (else none)"));
  AddFlag(app, "scontrol", flags.host.platform.scontrol,
          "path of Slurm's command scontrol, which --platform=slurm runs");
  AddFlag(app, "proc-root", flags.host.proc_root,
          "path of a /proc that shows the processes of the training container; needed if it runs "
          "in another pid namespace than the agent");
  AddFlag(
      app, "sys-root", flags.host.sys_root,
      "path at which the host's /sys is mounted: network interfaces, error counters of TPU chips");
  AddFlag(app, "dev-root", flags.host.dev_root,
          "path at which the host's /dev is mounted: the kernel log (kmsg) and the device files of "
          "TPU chips");
}

}  // namespace

void AddFlags(CLI::App& app, Flags& flags) {
  using program::AddFlag;
  AddIdentityFlags(app, flags.identity);
  AddSourceFlags(app, flags);
  AddFlag(app, "poll-interval", flags.poll_interval,
          "time between two polls of the TPU runtime while the job advances, 50ms to 1h; a job "
          "that stands still is polled faster by itself");
  AddFlag(app, "metrics-port", flags.metrics_port,
          "port of /metrics (Prometheus) and /healthz; 0: any free port (else no port is opened)");
  AddFlag(app, "metrics-address", flags.metrics_address,
          "address on which --metrics-port listens; any but loopback needs --insecure, because it "
          "has no TLS");
  AddFlag(
      app, "state-dir", flags.state_dir,
      "directory for evidence and alarms that have not reached the coordinator, which a restarted "
      "agent sends; not used if other users may write to it; off: keeps none, a restart loses them")
      .DefaultText(
          "rapideye-agent in $XDG_RUNTIME_DIR or /run/user/UID, else "
          "/var/tmp/rapideye-agent-UID");
  AddFlag(app, "exec-log", flags.exec_log,
          "with exec: file for the agent's own log; stderr: mixes it with the command's output "
          "(else a file in --state-dir)");
  AddFlag(app, "once", flags.once,
          "takes one sample of every source, prints it as JSON, and exits; needs no coordinator, "
          "shows what can be seen on this host");
  AddFlag(app, "log-format", flags.log_format,
          "format of the log on standard error; json: one object per line")
      .Among({"text", "json"});
  AddFlag(app, "tls-cert", flags.credentials.tls_cert,
          "PEM file: certificate of this agent; turns TLS on, together with --tls-key and --tls-ca "
          "(all three or none)");
  AddFlag(app, "tls-key", flags.credentials.tls_key,
          "PEM file: private key of --tls-cert, without passphrase");
  AddFlag(app, "tls-ca", flags.credentials.tls_ca,
          "PEM file: CA that must have signed the coordinator's certificate");
  AddFlag(app, "tls-identity", flags.credentials.identities,
          "name that the coordinator's certificate must hold, or a pattern with * and ?; may be "
          "repeated (else the host of --coordinator)");
  AddFlag(app, "insecure", flags.credentials.insecure,
          "allows plaintext, which others on the network can read and alter, to a coordinator on "
          "another host, and --metrics-port on any address");
  CLI::App& exec = program::AddCommand(
      app, "exec",
      "Start the training process; forward its output and signals, exit with its status");
  const char* command = "after --: the training command and its arguments";
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
  for (const std::string& name : flags.platforms) {
    if (name != kComputeEngine && name != kKubernetes && name != kSlurm) {
      return absl::InvalidArgumentError(absl::StrCat("--platform: there is no platform '", name,
                                                     "'; there are ", kComputeEngine, ", ",
                                                     kKubernetes, ", ", kSlurm));
    }
    flags.host.platform.names.insert(name);
  }
  absl::StatusOr<std::set<std::string>> disabled = ParseSources(flags.disable);
  if (!disabled.ok()) return disabled.status();
  flags.host.disabled = *std::move(disabled);
  if (flags.host.disabled.contains(TrainingLogSource::kName)) flags.logs.patterns.clear();
  if (flags.host.disabled.contains(HloDumpSource::kName)) flags.hlo_dump_dir.clear();
  absl::StatusOr<logs::SignatureTable> signatures = ReadSignatureTable(flags.log_signatures);
  if (!signatures.ok()) return signatures.status();
  flags.logs.signatures = *std::move(signatures);
  absl::StatusOr<secrets::Redactor> redactor = secrets::Redactor::Create(flags.redact);
  if (!redactor.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--redact: ", std::string(redactor.status().message())));
  }
  flags.redactor = *std::move(redactor);
  return absl::OkStatus();
}

}  // namespace rapideye::agent
