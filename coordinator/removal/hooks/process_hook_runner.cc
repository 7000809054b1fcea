#include "coordinator/removal/hooks/process_hook_runner.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "coordinator/removal/hooks/hook_environment.h"
#include "coordinator/removal/hooks/hook_run.h"
#include "coordinator/removal/hooks/incident_event.h"

namespace rapideye::coordinator {

ProcessHookRunner::ProcessHookRunner(const HookLimits& limits, std::vector<std::string> environment,
                                     std::string caller, bool job_by_worker)
    : limits_(limits),
      environment_(std::move(environment)),
      caller_(std::move(caller)),
      job_by_worker_(job_by_worker),
      interrupt_(eventfd(0, EFD_CLOEXEC)) {}

ProcessHookRunner::~ProcessHookRunner() {
  if (interrupt_ >= 0) close(interrupt_);
}

HookResult ProcessHookRunner::Run(const HookCall& call) {
  const Finding& finding = call.finding;
  IncidentEvent incident = EventOf(finding.incident);
  // A tenant chooses names in a shared history; the recovery of a job removes no machine.
  if (!finding.host.empty()) incident.end = false;
  HookRun run = {.hook = call.hook,
                 .caller = caller_,
                 .incident = std::move(incident.id),
                 .revision = incident.revision,
                 .event = incident.name(),
                 .ended_at = incident.end ? call.ended_at : "",
                 .cause = finding.cause,
                 .job = finding.job,
                 .job_by_worker = job_by_worker_,
                 .remove_hosts = {}};
  if (!finding.host.empty()) {
    run.remove_hosts = {finding.host};
    run.remove_nodes = {finding.node.value_or("")};
  }
  HookOutcome outcome = RunHookProcess(call.hook, call.digest, HookEnvironment(run, environment_),
                                       limits_, interrupt_);
  return {.ok = outcome.succeeded(),
          .outcome = DescribeEnd(outcome),
          .output = std::move(outcome.output)};
}

void ProcessHookRunner::Stop() {
  const uint64_t one = 1;
  // The write fails only if the descriptor could not be had: then hooks end by themselves.
  [[maybe_unused]] const ssize_t written = write(interrupt_, &one, sizeof one);
}

}  // namespace rapideye::coordinator
