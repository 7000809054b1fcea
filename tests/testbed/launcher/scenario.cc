#include "tests/testbed/launcher/scenario.h"

#include <algorithm>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/model/program.h"

namespace rapideye::testbed {
namespace {

// Picks of one scenario: the same for the same seed on every machine, which
// std::uniform_int_distribution does not promise.
class Picks {
 public:
  explicit Picks(uint64_t seed) : engine_(seed) {}
  int Below(int limit) { return static_cast<int>(engine_() % static_cast<uint64_t>(limit)); }
  WorkerId Worker(const JobShape& shape) {
    return AllWorkers(shape)[static_cast<size_t>(Below(shape.workers()))];
  }

 private:
  std::mt19937_64 engine_;
};

Injection StopChip(const JobPlan& plan, absl::string_view where) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int chip = picks.Below(plan.shape.chips);
  const std::vector<ProgramPtr> step =
      MakeStep({.programs = plan.programs, .cross_slice = plan.shape.slices > 1, .step_time = {}});
  const int program = picks.Below(static_cast<int>(step.size()));
  const std::vector<int> places =
      where == "before" ? ComputeBefore(*step[program]) : ComputeAfter(*step[program]);
  const int compute = picks.Below(static_cast<int>(places.size()));
  return {worker,
          absl::StrCat("chip-stop chip=", chip, " where=", where, " program=", program,
                       " compute=", compute),
          absl::StrCat("chip ", chip, " of ", HostName(worker), " stops for ever in ",
                       step[program]->operations[places[compute]].hlo, " of ",
                       step[program]->module, ", ", where, " its last collective"),
          {.cause = "BAD_TPU_CHIP",
           .detail = "TENSOR_CORE",
           .culprits = {{worker, HostName(worker), chip}},
           .any_of_them = false}};
}

Injection BadChip(const JobPlan& plan) { return StopChip(plan, "before"); }
Injection BadChipTail(const JobPlan& plan) { return StopChip(plan, "after"); }

// Those who may be named when one worker runs something else than the others:
// the smaller side, or with two workers either.
std::vector<Named> SmallerSide(const JobShape& shape, WorkerId astray) {
  std::vector<Named> named;
  for (WorkerId worker : AllWorkers(shape)) {
    if (worker == astray || shape.workers() == 2) {
      named.push_back({worker, HostName(worker), std::nullopt});
    }
  }
  return named;
}

Injection DifferentModule(const JobPlan& plan) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int program = picks.Below(plan.programs);
  return {worker,
          absl::StrCat("other-program program=", program),
          absl::StrCat(HostName(worker), " is given jit_eval_step in place of program ", program,
                       " of each step"),
          {.cause = "DIFFERENT_MODULE",
           .detail = "MODULE_DIVERGENCE",
           .culprits = SmallerSide(plan.shape, worker),
           .any_of_them = true}};
}

Injection FingerprintMismatch(const JobPlan& plan) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const int program = picks.Below(plan.programs);
  return {worker,
          absl::StrCat("other-compilation program=", program),
          absl::StrCat(HostName(worker), " is given a different compilation of program ", program,
                       " of each step"),
          {.cause = "FINGERPRINT_MISMATCH",
           .detail = "",
           .culprits = SmallerSide(plan.shape, worker),
           .any_of_them = true}};
}

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

// What of the named the truth tells: a chip that it leaves open does not count.
std::set<Named> Relevant(const std::vector<Named>& named, bool with_chip) {
  std::set<Named> relevant;
  for (Named n : named) {
    if (!with_chip) n.chip.reset();
    relevant.insert(n);
  }
  return relevant;
}

}  // namespace

const std::vector<Scenario>& Scenarios() {
  static const auto& scenarios = *new std::vector<Scenario>{
      {"none", "nothing; 30 s in which nothing may be raised", nullptr},
      {"bad-chip", "a chip stops in a compute operation before a program's last collective",
       BadChip},
      {"bad-chip-tail", "a chip stops after the last collective: its peers move on", BadChipTail},
      {"different-module", "one worker is given another program", DifferentModule},
      {"fingerprint", "one worker is given a different compilation of the same program",
       FingerprintMismatch},
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
