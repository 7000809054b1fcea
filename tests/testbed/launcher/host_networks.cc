#include "tests/testbed/launcher/host_networks.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tests/testbed/launcher/child_process.h"

namespace rapideye::testbed {
namespace {

constexpr absl::Duration kIpTimeout = absl::Seconds(20);
// Paths of `nsenter` and `ip` on Debian.
constexpr absl::string_view kNsenter = "/usr/bin/nsenter";
constexpr absl::string_view kIp = "/usr/sbin/ip";
// First of the networks 10.<number>; the switches keep them apart anyway.
constexpr int kFirstNetwork = 20;
// A slice that no worker has: the workers' slices end before.
constexpr int kCoordinatorSlice = 200;
// A hardware address that no NIC has.
constexpr absl::string_view kNobodysHardwareAddress = "02:00:00:00:00:99";

int NumberOf(absl::string_view nic) {
  const std::vector<std::string>& nics = HostNetworks::Nics();
  for (size_t i = 0; i < nics.size(); ++i) {
    if (nics[i] == nic) return static_cast<int>(i);
  }
  return -1;
}

std::string AddressIn(int network, int slice, int task) {
  return absl::StrCat("10.", kFirstNetwork + network, ".", slice, ".", task + 1);
}

// Port of the switch into which this NIC is plugged.
std::string Port(WorkerId worker, absl::string_view nic) {
  return absl::StrCat("p", worker.slice, "-", worker.task, "-", nic);
}

std::string Bridge(absl::string_view nic) { return absl::StrCat("br-", nic); }

// In the child, between fork and the end: async-signal-safe calls only.
[[noreturn]] void Hold(int ready, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // The child mounts its own /sys, too: the inherited one shows the NICs of the parent's namespace.
  const bool held = unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
                    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    mount("sysfs", "/sys", "sysfs", 0, nullptr) == 0;
  const int error = held ? 0 : errno;
  if (write(ready, &error, sizeof error) != sizeof error || !held) _exit(1);
  while (true) pause();
}

}  // namespace

class HostNetworks::Holder {
 public:
  static absl::StatusOr<std::unique_ptr<Holder>> Create() {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return absl::UnavailableError(std::strerror(errno));
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) Hold(ready[1], parent);
    close(ready[1]);
    int error = errno;
    const bool told = pid > 0 && read(ready[0], &error, sizeof error) == sizeof error;
    close(ready[0]);
    std::unique_ptr<Holder> holder(new Holder(pid));
    if (told && error == 0) return holder;
    return absl::UnavailableError(
        absl::StrCat("no network namespace can be made here: ", std::strerror(error)));
  }
  ~Holder() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  pid_t pid() const { return pid_; }

  std::vector<std::string> Enter() const {
    const std::string proc = absl::StrCat("/proc/", pid_, "/ns/");
    return {std::string(kNsenter), absl::StrCat("--net=", proc, "net"),
            absl::StrCat("--mount=", proc, "mnt"), "--"};
  }

  // Runs commands of `ip`, one a line.
  absl::Status Ip(const std::vector<std::string>& commands) const {
    std::string said;
    absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(
        {.command = {std::string(kIp), "-batch", "-"},
         .environment = {},
         .log_path = "",
         .on_line = [&said](absl::string_view line) { absl::StrAppend(&said, line, "; "); },
         .within = Enter()});
    if (!child.ok()) return child.status();
    for (const std::string& command : commands) (*child)->WriteLine(command);
    (*child)->CloseInput();
    const std::optional<int> status = (*child)->Wait(kIpTimeout);
    if (status == 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("ip: ", said, absl::StrJoin(commands, "; ")));
  }

 private:
  explicit Holder(pid_t pid) : pid_(pid) {}
  const pid_t pid_;
};

HostNetworks::~HostNetworks() = default;

absl::string_view CrossSliceNic(WorkerId worker) { return worker.task % 2 == 0 ? "eth1" : "eth2"; }

const std::vector<std::string>& HostNetworks::Nics() {
  static const auto& nics = *new std::vector<std::string>{std::string(kManagementNic), "eth1",
                                                          "eth2", std::string(kSliceNic)};
  return nics;
}

std::string HostNetworks::Address(WorkerId worker, absl::string_view nic) {
  return AddressIn(NumberOf(nic), worker.slice, worker.task);
}

std::string HostNetworks::CoordinatorAddress() {
  return AddressIn(NumberOf(kManagementNic), kCoordinatorSlice, 0);
}

absl::Status HostNetworks::Check() {
  for (const absl::string_view tool : {kNsenter, kIp}) {
    if (!std::filesystem::exists(std::string(tool))) {
      return absl::UnavailableError(
          absl::StrCat(tool, " is missing; install util-linux and iproute2"));
    }
  }
  if (geteuid() != 0) return absl::UnavailableError("network namespaces need root");
  return Holder::Create().status();
}

absl::StatusOr<std::unique_ptr<HostNetworks>> HostNetworks::Create(const JobShape& shape) {
  if (absl::Status s = Check(); !s.ok()) return s;
  std::unique_ptr<HostNetworks> networks(new HostNetworks());
  if (absl::Status s = networks->Build(shape); !s.ok()) return s;
  return networks;
}

absl::Status HostNetworks::Build(const JobShape& shape) {
  std::vector<std::string> switches;
  for (const std::string& nic : Nics()) {
    switches.push_back(absl::StrCat("link add ", Bridge(nic), " type bridge"));
    switches.push_back(absl::StrCat("link set ", Bridge(nic), " up"));
  }
  const auto plug = [&](const Holder& host, const std::string& port, const std::string& nic) {
    switches.push_back(
        absl::StrCat("link add ", port, " type veth peer name ", nic, " netns ", host.pid()));
    switches.push_back(absl::StrCat("link set ", port, " master ", Bridge(nic), " up"));
  };
  // Segments stay as they are on a real wire: one frame each.
  const auto set_up = [](const std::string& nic, const std::string& address) {
    return std::vector<std::string>{absl::StrCat("addr add ", address, "/16 dev ", nic),
                                    absl::StrCat("link set ", nic, " up gso_max_segs 1")};
  };
  for (std::unique_ptr<Holder>* one : {&switches_, &coordinator_}) {
    absl::StatusOr<std::unique_ptr<Holder>> holder = Holder::Create();
    if (!holder.ok()) return holder.status();
    *one = *std::move(holder);
  }
  const std::string management(kManagementNic);
  plug(*coordinator_, "coordinator", management);
  for (WorkerId worker : AllWorkers(shape)) {
    absl::StatusOr<std::unique_ptr<Holder>> host = Holder::Create();
    if (!host.ok()) return host.status();
    for (const std::string& nic : Nics()) plug(**host, Port(worker, nic), nic);
    hosts_[worker] = *std::move(host);
  }
  if (absl::Status s = switches_->Ip(switches); !s.ok()) return s;
  std::vector<std::string> own = {"link set lo up"};
  for (const std::string& command : set_up(management, CoordinatorAddress()))
    own.push_back(command);
  if (absl::Status s = coordinator_->Ip(own); !s.ok()) return s;
  for (const auto& [worker, host] : hosts_) {
    std::vector<std::string> commands = {"link set lo up"};
    for (const std::string& nic : Nics()) {
      for (const std::string& command : set_up(nic, Address(worker, nic))) {
        commands.push_back(command);
      }
    }
    if (absl::Status s = host->Ip(commands); !s.ok()) return s;
  }
  return absl::OkStatus();
}

std::vector<std::string> HostNetworks::OnHost(WorkerId worker) const {
  return hosts_.at(worker)->Enter();
}

std::vector<std::string> HostNetworks::OnCoordinatorsHost() const { return coordinator_->Enter(); }

absl::Status HostNetworks::TakeDown(WorkerId worker, absl::string_view nic) {
  return hosts_.at(worker)->Ip({absl::StrCat("link set ", nic, " down")});
}

absl::Status HostNetworks::TakeDownAll(WorkerId worker) {
  std::vector<std::string> commands;
  for (const std::string& nic : Nics()) commands.push_back(absl::StrCat("link set ", nic, " down"));
  return hosts_.at(worker)->Ip(commands);
}

absl::Status HostNetworks::CutPair(WorkerId a, WorkerId b, absl::string_view nic) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const absl::Status status = hosts_.at(from)->Ip(
        {absl::StrCat("neigh replace ", Address(to, nic), " lladdr ", kNobodysHardwareAddress,
                      " dev ", nic, " nud permanent")});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status HostNetworks::LoseLargePackets(WorkerId worker, absl::string_view nic, int mtu) {
  return switches_->Ip({absl::StrCat("link set ", Port(worker, nic), " mtu ", mtu)});
}

}  // namespace rapideye::testbed
