#include "agent/core/host_state.h"

#include <type_traits>
#include <utility>

namespace rapideye::agent {
namespace {

JobFacts FactsOf(const WorkerView& worker, const LogState& log) {
  return {.last_progress = worker.last_progress(),
          .ever_launched = worker.EverLaunched(),
          .in_launch = worker.AnyInLaunch(),
          .says_it_ends = log.says_it_ends(),
          .watchdog_at = log.watchdog_at()};
}

void PassOn(Notices notices, absl::Duration now, Alarms& alarms, Effects& effects) {
  for (std::string& text : notices.warnings) {
    effects.push_back(Log{LogLevel::kWarning, std::move(text)});
  }
  for (wire::Alarm& alarm : notices.alarms) alarms.Raise(alarm.kind, std::move(alarm.text), now);
}

}  // namespace

void HostState::Observe(const HostReading& reading, absl::Duration now, WorkerView& worker,
                        Alarms& alarms, Effects& effects) {
  const JobFacts job = FactsOf(worker, Of<LogState>());
  const auto observe = [&](auto& state, const auto& part) {
    Notices notices;
    state.Observe(part, job, now, notices);
    PassOn(std::move(notices), now, alarms, effects);
  };
  // The other readings are of the process that this one shows.
  auto& process = Of<TrainingProcess>();
  if (const auto& shown = reading.Of<ProcessReading>(); shown.has_value()) {
    observe(process, *shown);
    if (process.replaced()) {
      states_.ForEach([&](SourceState& s) { s.ProcessReplaced(process.before_until()); });
    }
  }
  states_.ForEach([&](SourceState& state) { state.Watching(process.alive()); });
  states_.ForEachRead(reading, [&](auto& state, const auto& part) {
    if constexpr (!std::is_same_v<decltype(state), TrainingProcess&>) observe(state, part);
  });
  worker.SetProcess(process.alive());
  worker.SetPauseAnnounced(Of<ProgressPageState>().AnnouncesPause());
  ObserveActivity(reading, now);
}

void HostState::ObserveActivity(const HostReading& reading, absl::Duration now) {
  if (const auto& process = reading.Of<ProcessReading>(); process.has_value()) {
    activity_.Observe(*process, now);
  }
  if (const auto& sockets = reading.Of<SocketReading>();
      sockets.has_value() && sockets->bytes_moved.has_value()) {
    activity_.ObserveTraffic(*sockets->bytes_moved, now);
  }
}

void HostState::Observe(const logs::LogReading& reading, absl::Duration now,
                        const WorkerView& worker, Alarms& alarms, Effects& effects) {
  Notices notices;
  Of<LogState>().Observe(reading, FactsOf(worker, Of<LogState>()), now, notices);
  PassOn(std::move(notices), now, alarms, effects);
}

void HostState::JobProgressed() {
  states_.ForEach([](SourceState& state) { state.JobProgressed(); });
}

void HostState::AddTo(Snapshot& snapshot, Instant now) const {
  states_.ForEach([&](const SourceState& state) { state.AddTo(snapshot, now); });
}

}  // namespace rapideye::agent
