#include "agent/core/host_view.h"

#include "absl/strings/str_cat.h"

namespace rapideye::agent {
namespace {

// A source says once why it has nothing to say.
void LogOnce(const std::string& source, const std::string& why, std::string& logged,
             Effects& effects) {
  if (why.empty() || why == logged) return;
  logged = why;
  effects.push_back(Log{LogLevel::kWarning, absl::StrCat(source, ": ", why)});
}

}  // namespace

void HostView::Observe(const HostReading& reading, absl::Duration now, WorkerView& worker,
                       Alarms& alarms, Effects& effects) {
  if (reading.process.has_value()) {
    ObserveProcess(*reading.process, now, worker, alarms, effects);
  }
}

void HostView::ObserveProcess(const ProcessReading& reading, absl::Duration now, WorkerView& worker,
                              Alarms& alarms, Effects& effects) {
  LogOnce("nothing is known of the training process", reading.unavailable, process_unavailable_,
          effects);
  const ProcessTracker::Change change = process_.Observe(reading, now);
  worker.SetProcess(process_.alive());
  if (!change.ended) return;
  effects.push_back(Log{LogLevel::kWarning, process_.DescribeEnd()});
  // A job that is done ends between two launches, and well.
  const bool in_midst =
      process_.EndIsKnown() ? process_.EndedBadly() && worker.EverLaunched() : worker.AnyInLaunch();
  if (in_midst) alarms.Raise(wire::AlarmKind::kProcessExit, process_.DescribeEnd(), now);
}

}  // namespace rapideye::agent
