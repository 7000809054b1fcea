#include "tests/testbed/launcher/scenario.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testbed/launcher/job.h"
#include "tests/testbed/launcher/plans.h"

namespace rapideye::testbed {
namespace {

std::string DescribeNamed(const Named& named) {
  return named.chip.has_value() ? absl::StrCat(named.host, " chip ", *named.chip) : named.host;
}

std::string DescribeVerdict(absl::string_view cause, absl::string_view detail,
                            const std::vector<Named>& named) {
  if (cause.empty()) return "nothing is wrong";
  std::vector<std::string> names;
  for (const Named& n : named) names.push_back(DescribeNamed(n));
  return absl::StrCat(cause, detail.empty() ? "" : " ", detail, ": ", absl::StrJoin(names, ", "));
}

// The names to compare: a chip that the truth leaves open does not count.
std::set<Named> Relevant(const std::vector<Named>& named, bool with_chip) {
  std::set<Named> relevant;
  for (Named n : named) {
    if (!with_chip) n.chip.reset();
    relevant.insert(n);
  }
  return relevant;
}

// All processes are gone before the coordinator's own threshold has passed.
void AbortOnHang(JobOptions& options) { options.abort_on_hang = 0.8 * LaunchThreshold(options); }

// Only agents that the operator trusts may report evidence that removes a machine at once.
void MadeUpKernels(JobOptions& options) {
  options.made_up_kernels = true;
  options.tls = true;
  options.trusted_agents = true;
}

// A fault between slices needs at least two.
void AtLeastTwoSlices(JobOptions& options) {
  options.shape.slices = std::max(2, options.shape.slices);
}

void Pipeline(JobOptions& options) {
  AtLeastTwoSlices(options);
  options.pipeline = true;
}

}  // namespace

const std::vector<Scenario>& Scenarios() {
  static const auto& scenarios = *new std::vector<Scenario>{
      {"none", "nothing; for --duration nothing may be raised", nullptr},
      {"bad-chip", "a chip stops in a compute operation before a program's last collective",
       BadChip},
      {"bad-chip-tail", "a chip stops after the last collective: its peers move on", BadChipTail},
      {"bad-chip-abort",
       "a chip stops; all runtimes declare the hang and abort, and nothing is left", BadChipAbort,
       AbortOnHang},
      {"bad-chip-pipeline", "a chip stops in a job whose slices rightly run different modules",
       BadChip, Pipeline},
      {"bad-chip-kernel-log", "a chip stops, and its host's kernel logs a fatal error of it",
       BadChipKernelLog, MadeUpKernels},
      {"bad-chip-pcie", "a chip stops, and PCIe counts a fatal error of it", BadChipPcie,
       MadeUpKernels},
      {"core-loop", "a core loops on its device and never completes", CoreLoop},
      {"core-halt", "a core halts on a failed check of its program", CoreHalt},
      {"core-halt-hardware", "a core halts on a hardware error", CoreHaltHardware},
      {"sparse-core", "a SparseCore stops in work that its TensorCore waits for", SparseCore,
       [](JobOptions& options) { options.offload = true; }},
      {"different-module", "one worker is given another program", DifferentModule},
      {"fingerprint", "one worker is given a different compilation of the same program",
       FingerprintMismatch},
      {"fingerprint-flag", "one worker's program is compiled with another value of a flag",
       FingerprintByFlag},
      {"fingerprint-source", "one worker's program comes of a script with larger batches",
       FingerprintBySource},
      {"launch-order", "one worker queues the two programs of a step in swapped order", LaunchOrder,
       [](JobOptions& options) { options.programs = 2; }},
      {"link-cut", "the link between two workers of neighbour slices is cut", LinkCut,
       AtLeastTwoSlices},
      {"host-cut", "all links of one worker are cut", HostCut, AtLeastTwoSlices},
      {"program-not-queued", "a host queues nothing more", ProgramNotQueued},
      {"input-dry", "the input of one worker dries up before a launch", InputDry},
      {"input-dry-page", "the same, and the training loops have progress pages", InputDrySeen,
       [](JobOptions& options) { options.progress_pages = true; }},
      {"input-dry-metrics", "the same, and metrics say that the input pipelines were always slow",
       InputDrySeen, [](JobOptions& options) { options.slow_input = true; }},
      {"input-dry-several", "the input of several workers dries up before a launch",
       InputDrySeveral},
      {"input-dry-all", "the input of all workers dries up before the same launch", InputDryAll},
      {"input-dry-entry", "one worker's input dries up for a program that was launched",
       InputDryEntry},
      {"process-kill", "a training process is killed", ProcessKill},
      {"process-stop", "a training process is stopped", ProcessStop},
      {"process-exit", "a training process exits with an error", ProcessExit},
      {"out-of-memory", "an allocation fails and the training process exits", OutOfMemory},
      {"worker-lost", "a training process and its agent vanish together", WorkerLost},
  };
  return scenarios;
}

std::string ScenarioNames() {
  return absl::StrJoin(Scenarios(), "|", [](std::string* out, const Scenario& scenario) {
    absl::StrAppend(out, scenario.name);
  });
}

absl::StatusOr<Scenario> FindScenario(absl::string_view name) {
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.name == name) return scenario;
  }
  return absl::NotFoundError(absl::StrCat("--fault=", name, ": give one of ", ScenarioNames()));
}

std::vector<std::string> Differences(const Truth& truth, const Finding& finding) {
  std::vector<std::string> differences;
  const auto expect = [&](absl::string_view what, absl::string_view is, absl::string_view should) {
    if (is == should) return;
    differences.push_back(absl::StrCat("the ", what, " is ", is.empty() ? "not given" : is,
                                       " and should be ", should.empty() ? "none" : should));
  };
  expect("cause", finding.cause, truth.cause);
  expect("detail", finding.detail, truth.detail);
  expect("removal", finding.removable ? "eligible" : "not eligible",
         truth.removable ? "eligible" : "not eligible");
  const bool with_chip = std::any_of(truth.culprits.begin(), truth.culprits.end(),
                                     [](const Named& n) { return n.chip.has_value(); });
  const std::set<Named> should = Relevant(truth.culprits, with_chip);
  const std::set<Named> are = Relevant(finding.culprits, with_chip);
  if (are.empty() && !should.empty()) differences.push_back("no culprit is named");
  for (const Named& n : are) {
    if (!should.contains(n)) {
      differences.push_back(absl::StrCat("an innocent is named: ", DescribeNamed(n)));
    }
  }
  if (!truth.any_of_them) {
    for (const Named& n : should) {
      if (!are.contains(n))
        differences.push_back(absl::StrCat("a culprit is missed: ", DescribeNamed(n)));
    }
  }
  return differences;
}

std::string Describe(const Truth& truth) {
  return DescribeVerdict(truth.cause, truth.detail, truth.culprits);
}

std::string Describe(const Finding& finding) {
  return DescribeVerdict(finding.cause, finding.detail, finding.culprits);
}

}  // namespace rapideye::testbed
