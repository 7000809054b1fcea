#include "agent/sources/identity/identity.h"

#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace rapideye::agent {
namespace {

// Most slices, and most tasks of a slice: far beyond any job.
constexpr int32_t kMaxCount = 1'000'000;

// A setting and where it came from, for error messages.
struct Setting {
  std::string value;
  std::string source;

  bool given() const { return !value.empty(); }
};

class Settings {
 public:
  explicit Settings(const Environment& environment) : environment_(environment) {}

  Setting Variable(const std::string& name) const {
    const auto it = environment_.find(name);
    if (it == environment_.end()) return {};
    return {std::string(absl::StripAsciiWhitespace(it->second)), name};
  }

  // The flag if it is given, else the first variable that is set.
  Setting First(const std::string& flag_name, const std::string& flag,
                std::initializer_list<const char*> variables) const {
    if (!flag.empty()) return {flag, absl::StrCat("--", flag_name)};
    for (const char* name : variables) {
      Setting setting = Variable(name);
      if (setting.given()) return setting;
    }
    return {};
  }

 private:
  const Environment& environment_;
};

absl::StatusOr<int32_t> Number(const Setting& setting, int32_t least, int32_t most) {
  int32_t value = 0;
  if (!absl::SimpleAtoi(setting.value, &value) || value < least || value > most) {
    return absl::InvalidArgumentError(absl::StrCat(setting.source, ": '", setting.value,
                                                   "' is not a number from ", least, " to ", most));
  }
  return value;
}

std::optional<std::string> Optional(Setting setting) {
  if (!setting.given()) return std::nullopt;
  return std::move(setting.value);
}

// Host and port of "host", "host:port", "[v6]:port" or a bare v6 address.
std::pair<absl::string_view, absl::string_view> SplitAddress(absl::string_view address) {
  if (absl::StartsWith(address, "[")) {
    const size_t end = address.find(']');
    if (end == absl::string_view::npos) return {};
    const absl::string_view rest = address.substr(end + 1);
    return {address.substr(0, end + 1), absl::StartsWith(rest, ":") ? rest.substr(1) : rest};
  }
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || address.find(':') != colon) return {address, {}};
  return {address.substr(0, colon), address.substr(colon + 1)};
}

std::string WithPort(absl::string_view host, int port) {
  const bool bare_v6 = absl::StrContains(host, ':') && !absl::StartsWith(host, "[");
  return bare_v6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<std::string> Address(const Setting& setting, int default_port) {
  const auto [host, port_text] = SplitAddress(setting.value);
  int port = default_port;
  const bool bad_port =
      !port_text.empty() && (!absl::SimpleAtoi(port_text, &port) || port < 1 || port > 65535);
  if (host.empty() || bad_port || absl::EndsWith(setting.value, ":")) {
    return absl::InvalidArgumentError(
        absl::StrCat(setting.source, ": '", setting.value, "' is not HOST:PORT"));
  }
  return WithPort(host, port);
}

std::vector<std::string> Hostnames(const Settings& settings) {
  return absl::StrSplit(settings.Variable("TPU_WORKER_HOSTNAMES").value, ',',
                        absl::SkipWhitespace());
}

// Variables of a launcher: the number of this process in the job, and how many there are.
struct Launcher {
  const char* rank;
  std::vector<const char*> counts;
};

// In the order in which they are believed; JAX's are first, since the job itself uses them.
const std::vector<Launcher>& Launchers() {
  static const auto* const kLaunchers =
      new std::vector<Launcher>{{"JAX_PROCESS_ID", {"JAX_NUM_PROCESSES"}},
                                {"PROCESS_ID", {"NUM_PROCESSES"}},
                                {"SLURM_PROCID", {"SLURM_NTASKS", "SLURM_NPROCS"}},
                                {"RANK", {"WORLD_SIZE"}},
                                {"JOB_COMPLETION_INDEX", {"JOB_COMPLETIONS", "JOB_PARALLELISM"}},
                                {"NODE_RANK", {"NNODES"}}};
  return *kLaunchers;
}

// Returns no number if the variable is unset or holds none: the launcher may mean something else.
std::optional<int32_t> MaybeNumber(const Setting& setting, int32_t least) {
  int32_t value = 0;
  const bool valid = setting.given() && absl::SimpleAtoi(setting.value, &value) && value >= least &&
                     value <= kMaxCount;
  return valid ? std::optional(value) : std::nullopt;
}

// The number of this worker in a job of one slice, by the first launcher that tells that number and
// the number of processes.
std::optional<int32_t> TaskByLauncher(const Settings& settings) {
  for (const Launcher& launcher : Launchers()) {
    const std::optional<int32_t> rank = MaybeNumber(settings.Variable(launcher.rank), 0);
    if (!rank.has_value()) continue;
    for (const char* name : launcher.counts) {
      const std::optional<int32_t> count = MaybeNumber(settings.Variable(name), 1);
      if (count.has_value() && *rank < *count) return rank;
    }
  }
  return std::nullopt;
}

// The number of tasks of a slice, by the first launcher that counts processes as this job counts
// workers: where several processes share an agent, the numbers differ.
std::optional<int32_t> TasksByLauncher(const Settings& settings, const Identity& identity) {
  const int32_t slices = identity.slices.value_or(1);
  for (const Launcher& launcher : Launchers()) {
    const std::optional<int32_t> rank = MaybeNumber(settings.Variable(launcher.rank), 0);
    for (const char* name : launcher.counts) {
      const std::optional<int32_t> count = MaybeNumber(settings.Variable(name), 1);
      if (!count.has_value() || *count % slices != 0) continue;
      const int32_t tasks = *count / slices;
      // The rank is in the whole job, or, with a Job for each slice, in the slice.
      const int64_t in_job = int64_t{identity.worker.slice} * tasks + identity.worker.task;
      if (rank.has_value() && *rank != in_job) continue;
      if (identity.worker.task < tasks) return tasks;
    }
  }
  return std::nullopt;
}

absl::Status FindWorker(const IdentityFlags& flags, const Settings& settings,
                        const std::vector<std::string>& hostnames, Identity& identity) {
  if (const Setting slices = settings.Variable("MEGASCALE_NUM_SLICES"); slices.given()) {
    const absl::StatusOr<int32_t> number = Number(slices, 1, kMaxCount);
    if (!number.ok()) return number.status();
    identity.slices = *number;
  }
  const int32_t last_slice = identity.slices.value_or(kMaxCount) - 1;
  if (const Setting slice = settings.First("slice", flags.slice, {"MEGASCALE_SLICE_ID"});
      slice.given()) {
    const absl::StatusOr<int32_t> number = Number(slice, 0, last_slice);
    if (!number.ok()) return number.status();
    identity.worker.slice = *number;
  } else if (identity.slices.value_or(1) > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("which of the ", *identity.slices,
                     " slices is this? Give --slice, or set MEGASCALE_SLICE_ID"));
  }
  const Setting task =
      settings.First("task", flags.task, {"TPU_WORKER_ID", "JOB_COMPLETION_INDEX"});
  if (task.given()) {
    const absl::StatusOr<int32_t> number = Number(task, 0, kMaxCount - 1);
    if (!number.ok()) return number.status();
    identity.worker.task = *number;
  } else if (const auto rank = TaskByLauncher(settings);
             rank.has_value() && identity.slices.value_or(1) == 1 && hostnames.size() <= 1) {
    identity.worker.task = *rank;
  } else if (hostnames.size() > 1 || identity.slices.value_or(1) > 1) {
    return absl::InvalidArgumentError(
        "which task of its slice is this? Give --task, or set TPU_WORKER_ID");
  } else {
    identity.notes.push_back(
        "nothing tells the number of this worker, it is taken for the only one of its slice (give "
        "--task if it is not)");
  }
  // Several processes on a host make more tasks than hosts: then the list of
  // hosts says nothing about the number of tasks.
  const auto hosts = static_cast<int32_t>(hostnames.size());
  if (hosts > identity.worker.task) {
    identity.tasks_per_slice = hosts;
  } else if (hosts == 0) {
    identity.tasks_per_slice = TasksByLauncher(settings, identity);
  }
  const bool slice_named = !flags.slice.empty() || settings.Variable("MEGASCALE_SLICE_ID").given();
  if (identity.tasks_per_slice.has_value() && !slice_named && !identity.slices.has_value()) {
    identity.slices = 1;
  }
  return absl::OkStatus();
}

absl::Status FindCoordinator(const IdentityFlags& flags, const Settings& settings,
                             const std::vector<std::string>& hostnames, Identity& identity) {
  Setting setting{flags.coordinator, "--coordinator"};
  if (!setting.given()) {
    setting = settings.Variable("MEGASCALE_COORDINATOR_ADDRESS");
    // The port in the address is the training job's own.
    setting.value = std::string(SplitAddress(setting.value).first);
  }
  if (!setting.given() && identity.slices.value_or(1) == 1 && !hostnames.empty()) {
    setting = {hostnames.front(), "TPU_WORKER_HOSTNAMES"};
  }
  if (!setting.given()) return absl::OkStatus();
  absl::StatusOr<std::string> address = Address(setting, kCoordinatorPort);
  if (!address.ok()) return address.status();
  identity.coordinator = *std::move(address);
  return absl::OkStatus();
}

absl::Status FindRuntime(const IdentityFlags& flags, const Settings& settings, Identity& identity) {
  if (!flags.runtime.empty()) {
    absl::StatusOr<std::string> address = Address({flags.runtime, "--runtime"}, kRuntimePort);
    if (!address.ok()) return address.status();
    identity.runtime = *std::move(address);
    return absl::OkStatus();
  }
  int port = kRuntimePort;
  const Setting ports = settings.Variable("TPU_RUNTIME_METRICS_PORTS");
  const std::vector<std::string> list = absl::StrSplit(ports.value, ',', absl::SkipWhitespace());
  if (!list.empty()) {
    const std::string first(absl::StripAsciiWhitespace(list.front()));
    const absl::StatusOr<int32_t> number = Number({first, ports.source}, 1, 65535);
    if (!number.ok()) return number.status();
    port = *number;
  }
  if (list.size() > 1) {
    identity.notes.push_back(absl::StrCat(
        "TPU_RUNTIME_METRICS_PORTS names ", list.size(), " processes; this agent reads port ", port,
        " (run one agent for each, with its own --runtime and --task)"));
  }
  identity.runtime = absl::StrCat("localhost:", port);
  return absl::OkStatus();
}

std::string FindJob(const IdentityFlags& flags, const Settings& settings) {
  Setting job = settings.First("job", flags.job, {"JOBSET_NAME", "TPU_NAME"});
  if (job.given()) return std::move(job.value);
  const Setting name = settings.Variable("SLURM_JOB_NAME");
  const Setting id = settings.Variable("SLURM_JOB_ID");
  if (name.given() && id.given()) return absl::StrCat(name.value, "-", id.value);
  if (name.given()) return name.value;
  return "job";
}

std::optional<std::string> FindNode(const IdentityFlags& flags, const Settings& settings,
                                    const std::string& hostname) {
  std::optional<std::string> node =
      Optional(settings.First("node", flags.node, {"NODE_NAME", "SLURMD_NODENAME"}));
  // In a pod the host name is the pod's: no machine that could be cordoned or drained.
  if (!node.has_value() && !hostname.empty() &&
      !settings.Variable("KUBERNETES_SERVICE_HOST").given()) {
    node = hostname;
  }
  return node;
}

// TPU VMs and GKE name their slices like v5litepod-16, v5p-128, tpu7x-64.
std::optional<std::string> FindGeneration(const Settings& settings) {
  static constexpr std::pair<absl::string_view, const char*> kPrefixes[] = {
      {"v4-", "v4"},   {"v5litepod-", "v5e"}, {"v5e-", "v5e"}, {"v5p-", "v5p"},
      {"v6e-", "v6e"}, {"tpu7x-", "7x"},      {"7x-", "7x"},   {"v7x-", "7x"},
  };
  const std::string type = settings.Variable("TPU_ACCELERATOR_TYPE").value;
  for (const auto& [prefix, generation] : kPrefixes) {
    if (absl::StartsWith(type, prefix)) return generation;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Identity> FindIdentity(const IdentityFlags& flags, const Environment& environment,
                                      const std::string& hostname) {
  const Settings settings(environment);
  const std::vector<std::string> hostnames = Hostnames(settings);
  Identity identity;
  identity.job = FindJob(flags, settings);
  if (absl::Status status = FindWorker(flags, settings, hostnames, identity); !status.ok()) {
    return status;
  }
  identity.host = flags.host.empty() ? hostname : flags.host;
  if (identity.host.empty()) {
    return absl::InvalidArgumentError("this machine has no host name; give --host");
  }
  identity.node = FindNode(flags, settings, hostname);
  identity.pod = Optional(settings.First("pod", flags.pod, {"POD_NAME"}));
  identity.hardware = Optional(settings.First("hardware", flags.hardware, {}));
  identity.generation = FindGeneration(settings);
  identity.job_incarnation =
      Optional(settings.First("", "", {"JOBSET_RESTART_ATTEMPT", "SLURM_RESTART_COUNT"}));
  if (absl::Status status = FindCoordinator(flags, settings, hostnames, identity); !status.ok()) {
    return status;
  }
  if (absl::Status status = FindRuntime(flags, settings, identity); !status.ok()) return status;
  return identity;
}

}  // namespace rapideye::agent
