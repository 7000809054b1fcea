// Lists the scenarios that a testbed job can run, and the verdict that each must get.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_SCENARIO_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_SCENARIO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/testbed/launcher/incident.h"
#include "tests/testbed/launcher/made_up_kernel.h"
#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

struct JobOptions;

// The true cause of a hang, in the verdict's words.
struct Truth {
  std::string cause;   // empty: nothing is wrong, and nothing may be raised
  std::string detail;  // empty: the cause has none
  // Culprits that the verdict must name: exactly these, or some of these and no other.
  std::vector<Named> culprits;
  bool any_of_them = false;
  // This hang alone is enough to remove the culprits that the verdict names.
  bool removable = false;
};

// Fault for one worker, as Job::Inject takes it.
struct Order {
  WorkerId worker;
  std::string fault;
};

// Report of a kernel about a chip of its host.
struct KernelTale {
  WorkerId worker;
  KernelFault fault = KernelFault::kLogLine;
  int chip = 0;
};

// One fault, ready to be injected.
struct Injection {
  std::vector<Order> orders;
  std::string description;  // for people
  Truth truth;
  // Workers whose process ends with the fault, or stops, and answers no more.
  std::vector<WorkerId> silenced;
  // Workers whose agent vanishes in the same moment.
  std::vector<WorkerId> agents_lost;
  // Reports of kernels, made once the fault has taken hold.
  std::vector<KernelTale> tales = {};
};

struct JobPlan {
  JobShape shape;
  int programs = 1;
  bool offload = false;
  bool pipeline = false;
  uint64_t seed = 1;  // picks the victim and the place
  int64_t step = 0;   // to which every worker has come
};

struct Scenario {
  absl::string_view name;
  absl::string_view help;
  Injection (*plan)(const JobPlan& plan);  // null: nothing is injected
  // Makes the job one in which this fault can happen; null: any job is.
  void (*prepare)(JobOptions& options) = nullptr;
};

// "none" first.
const std::vector<Scenario>& Scenarios();
// NOT_FOUND lists the names.
absl::StatusOr<Scenario> FindScenario(absl::string_view name);
// none|bad-chip|...
std::string ScenarioNames();

// Differences between the verdict and the truth, as sentences; empty if the verdict is right.
std::vector<std::string> Differences(const Truth& truth, const Finding& finding);

// "BAD_TPU_CHIP TENSOR_CORE, tpu-host-0-1 chip 2", for people.
std::string Describe(const Truth& truth);
std::string Describe(const Finding& finding);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_SCENARIO_H_
