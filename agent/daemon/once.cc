#include "agent/daemon/once.h"

#include <spdlog/spdlog.h>

#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/daemon/host_sources.h"
#include "agent/daemon/instruction_reader.h"
#include "agent/daemon/redaction.h"
#include "agent/daemon/sampler.h"
#include "agent/sources/hlo_dump/fetch.h"
#include "agent/sources/hlo_dump/limits.h"
#include "agent/sources/runtime/fetch.h"
#include "proto/capture/capture_writer.h"
#include "proto/wire/evidence_wire.h"

namespace rapideye::agent {

absl::StatusOr<std::string> SampleOnce(AgentSettings settings, const HostOptions& host,
                                       LogOptions logs, const std::string& hlo_dump_dir,
                                       const secrets::Redactor& redactor) {
  settings.has_coordinator = false;
  settings.watches_host = true;
  Capture capture;
  capture.header.job = settings.hello.job;
  capture.header.expected_workers = {
      {settings.hello.worker, settings.hello.host, settings.hello.node}};
  AgentCore core(std::move(settings));
  RuntimeClient client(host.runtime);
  HostSources sources(host);
  InstructionReader instructions(hlo_dump_dir);
  const absl::Time started = absl::Now();
  const auto moment = [started] { return Instant{absl::Now() - started, absl::Now()}; };
  // Warnings of a source go to the log: they are part of what an agent here would report.
  const auto step = [&](const Event& event) {
    for (const Effect& effect : core.Step(event, moment())) {
      if (const auto* log = std::get_if<Log>(&effect)) {
        std::string text = log->text;
        redactor.Redact(text);
        spdlog::warn("{}", text);
      }
    }
  };
  logs.read_old = true;
  LogFollower follower(std::move(logs));
  for (const Effect& effect : core.Step(Wake{}, moment())) {
    const auto* poll = std::get_if<Poll>(&effect);
    if (poll == nullptr) continue;
    const HostLook everything = {.sockets = true, .hang = true, .counters = true, .only = true};
    step(HostSampled{poll->poll, sources.Read(everything)});
    RuntimeReading reading = ReadRuntime(client, poll->with_hlo, poll->deadline);
    if (reading.sample.has_value()) instructions.AddWaits(*reading.sample, kInstructionPatience);
    step(RuntimeSampled{poll->poll, std::move(reading)});
  }
  if (!hlo_dump_dir.empty()) {
    DumpFingerprints none;
    step(DumpsListed{ListHloDumps(hlo_dump_dir, {.fingerprints = true}, kHloDumpDeadline, none)});
  }
  // The log comes last: a first sample counts as progress, which ends a declared hang.
  step(LogsRead{follower.Read(absl::ZeroDuration())});
  v1::Snapshot snapshot = wire::SnapshotToWire(core.Describe(moment()));
  RedactMessage(redactor, snapshot);
  absl::StatusOr<Snapshot> redacted = wire::SnapshotFromWire(snapshot);
  if (!redacted.ok()) return redacted.status();
  capture.snapshots.push_back(*std::move(redacted));
  absl::StatusOr<std::string> lines = wire::WriteCapture(capture, {});
  if (!lines.ok()) return lines.status();
  // The header comes first; the snapshot is the line after it.
  const size_t begin = lines->find('\n') + 1;
  return lines->substr(begin, lines->find('\n', begin) - begin);
}

}  // namespace rapideye::agent
