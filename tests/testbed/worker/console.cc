#include "tests/testbed/worker/console.h"

#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/model/control.h"

namespace rapideye::testbed {
namespace {

// Often enough to watch, seldom enough to cost nothing.
constexpr absl::Duration kReportInterval = absl::Milliseconds(250);

void AnnounceProgress(const Worker& worker) {
  const HostProgress progress = worker.host().Progress();
  const absl::Duration idle = absl::Now() - progress.last_completion;
  Announce(absl::StrCat(
      "progress step=", progress.steps, " launches=", progress.launches,
      progress.launches == 0 ? "" : absl::StrCat(" idle-ms=", absl::ToInt64Milliseconds(idle))));
}

// Prints the state of each core, as the worker itself knows it.
void AnnounceCores(const Worker& worker) {
  const WorkerOptions& options = worker.options();
  int id = WorkerNumber(options.shape, options.self) * static_cast<int>(worker.cores().size());
  for (const std::unique_ptr<Core>& core : worker.cores()) {
    const CoreState state = core->State();
    std::string line = absl::StrCat("core ", id++, " type=", static_cast<int>(core->id().type),
                                    " queued=", state.queued.size());
    if (state.running.has_value()) {
      const Program& program = *state.running->program;
      absl::StrAppend(
          &line, " pc=", program.operations[static_cast<size_t>(state.operation)].pc + state.within,
          " launch=", state.running->launch_id, " run=", state.running->run_id,
          " fingerprint=", FingerprintHex(program.fingerprint));
    }
    Announce(line);
  }
}

// Prints "step N" while N grows.
void ReportSteps(const Worker& worker, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  int64_t last = 0;
  while (!stop.stop_requested()) {
    const int64_t steps = worker.host().Progress().steps;
    if (steps != last) Announce(absl::StrCat("step ", steps));
    last = steps;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, absl::ToChronoNanoseconds(kReportInterval), [] { return false; });
  }
}

absl::Status Obey(const ControlLine& line, Worker& worker, std::jthread& reporter) {
  if (line.verb == "peers") {
    absl::StatusOr<MeshAddresses> addresses = ParsePeers(line);
    if (!addresses.ok()) return addresses.status();
    if (absl::Status s = worker.Connect(*addresses); !s.ok()) return s;
    Announce("connected");
    return absl::OkStatus();
  }
  if (line.verb == "start") {
    worker.Start();
    reporter = std::jthread([&worker](const std::stop_token& stop) { ReportSteps(worker, stop); });
    return absl::OkStatus();
  }
  if (line.verb == "progress") {
    AnnounceProgress(worker);
    return absl::OkStatus();
  }
  if (line.verb == "cores") {
    AnnounceCores(worker);
    return absl::OkStatus();
  }
  if (line.verb == "fault") {
    if (absl::Status s = ApplyFault(line, worker); !s.ok()) return s;
    Announce(absl::StrCat("fault-set ", line.subject));
    return absl::OkStatus();
  }
  if (line.verb == "heal") {
    worker.recovery().Heal();
    Announce("healed");
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("'", line.verb, "' is no command"));
}

}  // namespace

void Announce(absl::string_view line) {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void Converse(Worker& worker) {
  std::jthread reporter;
  std::string text;
  while (std::getline(std::cin, text)) {
    absl::StatusOr<ControlLine> line = ParseControlLine(text);
    absl::Status status = line.status();
    if (line.ok()) {
      if (line->verb == "stop") return;
      status = Obey(*line, worker, reporter);
    }
    if (!status.ok()) Announce(absl::StrCat("error ", status.ToString()));
  }
}

}  // namespace rapideye::testbed
