// HostNetworks gives hosts networks of their own, so that a fault is the kernel's, not the
// testbed's.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_HOST_NETWORKS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_HOST_NETWORKS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

// The NICs of each host. Management and the traffic between slices are apart, as on TPU
// hosts. There, messages between chips of one slice use no network of the hosts; here they
// have a network to themselves.
inline constexpr absl::string_view kManagementNic = "eth0";
inline constexpr absl::string_view kSliceNic = "ici0";
// The NIC by which this worker talks to other slices: eth1, or eth2 for every other task.
absl::string_view CrossSliceNic(WorkerId worker);

// One network namespace for each worker's host, one for the coordinator's, and one for the
// switches between them: a bridge for each kind of NIC. Namespaces have no names, and are
// held by child processes that die with this one, so that nothing is left behind however
// it ends.
class HostNetworks {
 public:
  // OK if this machine can have such networks; otherwise why not, and what would help.
  static absl::Status Check();
  // Create from the main thread, as ChildProcess.
  static absl::StatusOr<std::unique_ptr<HostNetworks>> Create(const JobShape& shape);
  ~HostNetworks();
  HostNetworks(const HostNetworks&) = delete;
  HostNetworks& operator=(const HostNetworks&) = delete;

  // The beginning of a command line that runs the rest of it on that host.
  std::vector<std::string> OnHost(WorkerId worker) const;
  std::vector<std::string> OnCoordinatorsHost() const;

  static std::string Address(WorkerId worker, absl::string_view nic);
  static std::string CoordinatorAddress();
  static const std::vector<std::string>& Nics();

  // Faults, and their ends. UNAVAILABLE: what `ip` had to say.

  absl::Status TakeDown(WorkerId worker, absl::string_view nic);
  absl::Status TakeDownAll(WorkerId worker);
  // Frames between these two go to a machine that does not exist; nobody is told.
  absl::Status CutPair(WorkerId a, WorkerId b, absl::string_view nic);
  // The switch's port of this NIC drops frames beyond so many bytes, and says nothing.
  absl::Status LoseLargePackets(WorkerId worker, absl::string_view nic, int mtu);

 private:
  // Child process that keeps a namespace alive.
  class Holder;

  HostNetworks() = default;
  absl::Status Build(const JobShape& shape);

  std::unique_ptr<Holder> switches_;
  std::unique_ptr<Holder> coordinator_;
  std::map<WorkerId, std::unique_ptr<Holder>> hosts_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_HOST_NETWORKS_H_
