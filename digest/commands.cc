#include "digest/commands.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::digest {
namespace {

// Commands for the first few machines show an operator how to treat the others.
constexpr size_t kMaxMachines = 3;
constexpr size_t kMaxCommands = 12;

// A word that every shell and every tool takes for a name: no option, no expansion.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 253 &&
         std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_');
         });
}

// Whether jobs should be kept away from the machine itself.
bool BlamesMachine(const Report& report) {
  switch (report.cause) {
    case Cause::kBadTpuChip:
      return true;
    case Cause::kNetworkingIssue:
      return report.detail == Detail::kDcnHost || report.detail == Detail::kIciLink;
    case Cause::kUnrecoverableError:
      return report.detail == Detail::kCoreHalt || report.detail == Detail::kWorkerLost ||
             report.detail == Detail::kPower || report.detail == Detail::kHostToDevice ||
             report.detail == Detail::kDeviceToHost;
    default:
      return false;
  }
}

class Writer {
 public:
  explicit Writer(const Report& report) : report_(report) {}

  std::vector<Command> Write() {
    if (report_.cause == Cause::kNoHang) return {};
    if (BlamesMachine(report_)) AddMachines();
    AddLinks();
    AddHlo();
    AddProcesses();
    if (stored_) {
      Add("Read the digest in a terminal", absl::StrCat("rapideye show ", report_.incident_id));
      Add("Keep the evidence, and diagnose it anywhere",
          absl::StrCat("rapideye show ", report_.incident_id, " --format=capture > ",
                       report_.incident_id, ".jsonl.gz"));
    }
    if (BlamesMachine(report_)) AddHistory();
    if (commands_.size() > kMaxCommands) commands_.resize(kMaxCommands);
    return std::move(commands_);
  }

 private:
  void Add(std::string purpose, std::string text) {
    commands_.push_back({std::move(purpose), std::move(text)});
  }

  // The culprits' machines by the platform's name, else by their own; each once. In Kubernetes a
  // host's own name is that of its pod, and means no machine.
  std::vector<std::string> Machines() const {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const ReportCulprit& culprit : report_.culprits) {
      if (!culprit.node && report_.scheduler == Scheduler::kKubernetes) continue;
      const std::string& name = culprit.node ? *culprit.node : culprit.worker.host;
      if (!IsPlainName(name) || !seen.insert(name).second) continue;
      if (names.size() == kMaxMachines) break;
      names.push_back(name);
    }
    return names;
  }

  void AddMachines() {
    const std::string cause(CauseName(report_.cause));
    for (const std::string& name : Machines()) {
      Add("Keep new pods off it (Kubernetes)", absl::StrCat("kubectl cordon ", name));
      if (report_.scheduler == Scheduler::kKubernetes) continue;
      Add("Keep new jobs off it (Slurm)",
          absl::StrCat("scontrol update NodeName=", name, " State=DRAIN Reason=rapideye:", cause));
    }
  }

  void AddLinks() {
    if (report_.links.empty()) return;
    const ReportLink& link = report_.links.front();
    if (!IsPlainName(link.from.host) || !IsPlainName(link.to.host)) return;
    const bool nic = link.nic && IsPlainName(*link.nic);
    Add(absl::StrCat("See whether the link is back, on ", link.from.host),
        absl::StrCat("ping -c 3 ", nic ? absl::StrCat("-I ", *link.nic, " ") : "", link.to.host));
  }

  void AddHlo() {
    const bool diverged =
        report_.cause == Cause::kDifferentModule || report_.cause == Cause::kFingerprintMismatch;
    if (!diverged || report_.files.hlo.size() < 2) return;
    std::vector<std::string> names;
    for (const std::string& path : report_.files.hlo) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (IsPlainName(name)) names.push_back(name);
    }
    if (names.size() < 2) return;
    Add("See where the two programs differ, in the incident's folder",
        absl::StrCat("rapideye hlo ", names[0], " ", names[1]));
  }

  void AddProcesses() {
    const bool stopped = report_.detail == Detail::kProcessStopped;
    if (!stopped && report_.cause != Cause::kDataInputStall) return;
    std::set<WorkerId> seen;
    for (const ReportCulprit& culprit : report_.culprits) {
      if (!culprit.pid || *culprit.pid <= 1 || !IsPlainName(culprit.worker.host)) continue;
      if (seen.size() == kMaxMachines || !seen.insert(culprit.worker.id).second) continue;
      if (stopped && culprit.frozen) {
        // A signal reaches a frozen process only once it is thawed.
        Add(absl::StrCat("Thaw the cgroup of the training process, on ", culprit.worker.host,
                         " (or the parent of it that is frozen)"),
            absl::StrCat("echo 0 > /sys/fs/cgroup$(cut -d: -f3 /proc/", *culprit.pid,
                         "/cgroup)/cgroup.freeze"));
      } else if (stopped) {
        Add(absl::StrCat("Let the training process go on, on ", culprit.worker.host),
            absl::StrCat("kill -CONT ", *culprit.pid));
      } else {
        Add(absl::StrCat("See what the training process is in, on ", culprit.worker.host),
            absl::StrCat("py-spy dump --pid ", *culprit.pid));
      }
    }
  }

  void AddHistory() {
    const std::vector<std::string> machines = Machines();
    if (machines.empty()) return;
    Add("Earlier incidents of the machine, and why it was or was not removed",
        absl::StrCat("rapideye fleet history ", machines.front()));
  }

  const Report& report_;
  // No coordinator knows an incident that was diagnosed offline.
  const bool stored_ = report_.stored && IsPlainName(report_.incident_id);
  std::vector<Command> commands_;
};

}  // namespace

std::vector<Command> NextCommands(const Report& report) { return Writer(report).Write(); }

}  // namespace rapideye::digest
