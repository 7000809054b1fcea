#include "coordinator/server/operator_messages.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

std::string Name(const std::string& text) { return text::ValidUtf8(text, text::kMaxNameBytes); }
std::string Sentence(const std::string& text) {
  return text::ValidUtf8(text, text::kMaxSentenceBytes);
}

int64_t Milliseconds(absl::Duration duration) { return absl::ToInt64Milliseconds(duration); }

v1::GetStatusReply::Activity ToWire(Activity activity) {
  switch (activity) {
    case Activity::kLearning:
      return v1::GetStatusReply::LEARNING;
    case Activity::kArmed:
      return v1::GetStatusReply::ARMED;
    case Activity::kCollecting:
      return v1::GetStatusReply::COLLECTING;
    case Activity::kConcluding:
      return v1::GetStatusReply::CONCLUDING;
    case Activity::kWaiting:
      return v1::GetStatusReply::WAITING;
  }
  return v1::GetStatusReply::ACTIVITY_UNSPECIFIED;
}

v1::WorkerStatus ToWire(const WorkerStatus& status) {
  v1::WorkerStatus wire;
  wire.mutable_worker()->set_slice(status.id.slice);
  wire.mutable_worker()->set_task(status.id.task);
  wire.set_host(Name(status.host));
  wire.set_connected(status.connected);
  wire.set_runtime_answers(status.runtime_answers);
  if (status.since_completion) wire.set_since_completion_ms(Milliseconds(*status.since_completion));
  if (status.in_flight_for) wire.set_in_flight_ms(Milliseconds(*status.in_flight_for));
  if (status.fingerprint) wire.set_fingerprint(Name(*status.fingerprint));
  if (status.module) wire.set_module(Name(*status.module));
  if (status.start_up) wire.set_start_up(Sentence(*status.start_up));
  wire.set_accused(status.accused);
  return wire;
}

void AddProgress(const JobStatus& status, v1::GetStatusReply& wire) {
  if (status.waiting) {
    wire.set_still_for_ms(Milliseconds(status.waiting->still_for));
    wire.set_threshold_ms(Milliseconds(status.waiting->threshold));
    wire.set_measure(Sentence(status.waiting->why));
  }
  if (status.since_completion) wire.set_since_completion_ms(Milliseconds(*status.since_completion));
  wire.set_launch_threshold_ms(Milliseconds(status.launch_threshold));
  wire.set_launch_threshold_set(status.launch_threshold_set);
  wire.set_hang_threshold_ms(Milliseconds(status.hang_threshold));
  wire.set_hang_threshold_set(status.hang_threshold_set);
  wire.set_startup_grace_ms(Milliseconds(status.startup_grace));
  wire.set_longest_launch_ms(Milliseconds(status.longest_launch));
  wire.set_longest_pause_ms(Milliseconds(status.longest_pause));
}

}  // namespace

v1::PauseStatus ToWire(const PauseStatus& pause) {
  v1::PauseStatus wire;
  wire.set_left_ms(Milliseconds(pause.left));
  wire.set_reason(pause.reason);
  wire.set_by(pause.by);
  return wire;
}

v1::Acknowledgement ToWire(const Acknowledgement& acknowledgement) {
  v1::Acknowledgement wire;
  wire.set_at(absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", acknowledgement.at, absl::UTCTimeZone()));
  wire.set_reason(Sentence(acknowledgement.reason));
  wire.set_by(Sentence(acknowledgement.by));
  return wire;
}

namespace {

v1::IncidentSummary ToWire(const std::string& id, const ToldVerdict& verdict) {
  v1::IncidentSummary wire;
  wire.set_id(id);
  wire.set_cause(verdict.cause);
  wire.set_detail(verdict.detail);
  if (verdict.confidence) wire.set_confidence(*verdict.confidence);
  wire.set_headline(verdict.headline);
  wire.set_sentence(verdict.sentence);
  for (const std::string& host : verdict.culprits) wire.add_culprits(host);
  wire.set_culprit_hosts(static_cast<int32_t>(verdict.culprit_hosts));
  return wire;
}

}  // namespace

v1::GetStatusReply ToWire(const JobStatus& status) {
  v1::GetStatusReply wire;
  wire.set_job(Name(status.job));
  if (status.incarnation) wire.set_job_incarnation(Name(*status.incarnation));
  if (status.generation) wire.set_generation(Name(*status.generation));
  wire.set_version(program::Version());
  wire.set_activity(ToWire(status.activity));
  if (status.last_incident) {
    wire.set_last_incident_id(*status.last_incident);
    wire.set_last_revision(status.last_revision);
    if (status.last_verdict) {
      *wire.mutable_last_incident() = ToWire(*status.last_incident, *status.last_verdict);
    }
    if (status.acknowledged) *wire.mutable_acknowledged() = ToWire(*status.acknowledged);
  }
  if (status.pause) *wire.mutable_pause() = ToWire(*status.pause);
  if (status.next_look) wire.set_next_look_ms(Milliseconds(*status.next_look));
  wire.set_expected(static_cast<int32_t>(status.expected));
  wire.set_connected(static_cast<int32_t>(status.connected));
  wire.set_running(static_cast<int32_t>(status.running));
  for (const WorkerStatus& worker : status.missing) *wire.add_missing() = ToWire(worker);
  if (status.starting.has_value()) wire.set_starting_ms(Milliseconds(*status.starting));
  for (const WorkerStatus& worker : status.not_come) *wire.add_not_come() = ToWire(worker);
  wire.set_not_come_count(static_cast<int32_t>(status.not_come_count));
  for (const WorkerStatus& worker : status.without_process) {
    *wire.add_without_process() = ToWire(worker);
  }
  wire.set_without_process_count(static_cast<int32_t>(status.without_process_count));
  for (const auto& [name, workers] : status.phases) {
    v1::StartUpPhase& phase = *wire.add_phases();
    phase.set_name(Name(name));
    phase.set_workers(static_cast<int32_t>(workers));
  }
  for (const WorkerStatus& worker : status.behind) *wire.add_behind() = ToWire(worker);
  wire.set_behind_count(static_cast<int32_t>(status.behind_count));
  for (const WorkerStatus& worker : status.slowest) *wire.add_slowest() = ToWire(worker);
  AddProgress(status, wire);
  for (const CohortStatus& cohort : status.cohorts) {
    v1::CohortStatus& one = *wire.add_cohorts();
    one.set_name(Name(cohort.name));
    one.set_workers(static_cast<int32_t>(cohort.workers));
    for (const std::string& program : cohort.programs) one.add_programs(Name(program));
  }
  wire.set_cohort_count(static_cast<int32_t>(status.cohort_count));
  for (const auto& [name, value] : NamedCounters(status.counters)) {
    v1::CounterValue& counter = *wire.add_counters();
    counter.set_name(name);
    counter.set_value(value);
  }
  return wire;
}

v1::IncidentSummary ToWire(const IncidentSummary& summary) {
  v1::IncidentSummary wire = ToWire(summary.id, VerdictOf(summary));
  wire.set_detected_at(summary.detected_at);
  wire.set_job(summary.job);
  wire.set_problem(Sentence(summary.problem));
  wire.set_revision(summary.revision);
  if (summary.ended) {
    wire.set_state(v1::IncidentSummary::RECOVERED);
    wire.set_end(Sentence(summary.ended->why));
    if (const auto lasted = Lasted(summary)) wire.set_lasted_ms(Milliseconds(*lasted));
  } else {
    wire.set_state(summary.newest ? v1::IncidentSummary::OPEN : v1::IncidentSummary::OVER);
  }
  if (summary.acknowledged) *wire.mutable_acknowledged() = ToWire(*summary.acknowledged);
  return wire;
}

absl::StatusOr<IncidentForm> FormFromWire(v1::DocumentForm form) {
  switch (form) {
    case v1::DOCUMENT_FORM_UNSPECIFIED:
    case v1::TEXT:
      return IncidentForm::kText;
    case v1::JSON:
      return IncidentForm::kJson;
    case v1::HTML:
      return IncidentForm::kHtml;
    case v1::CAPTURE:
      return IncidentForm::kCapture;
    default:
      return absl::InvalidArgumentError(absl::StrCat("form: ", static_cast<int>(form),
                                                     " is not known to this coordinator (version ",
                                                     program::Version(), ")"));
  }
}

std::vector<std::pair<std::string, int64_t>> NamedCounters(const Counters& c) {
  return {{"hellos_admitted", c.hellos_admitted},
          {"hellos_refused", c.hellos_refused},
          {"hello_timeouts", c.hello_timeouts},
          {"superseded", c.superseded},
          {"takeovers", c.takeovers},
          {"duplicate_agents", c.duplicate_agents},
          {"foreign_agents", c.foreign_agents},
          {"streams_refused", c.streams_refused},
          {"cut_off", c.cut_off},
          {"silent_streams", c.silent_streams},
          {"unlogged_lines", c.unlogged_lines},
          {"messages_refused", c.messages_refused},
          {"floods", c.floods},
          {"alarms", c.alarms},
          {"job_restarts", c.job_restarts},
          {"suspicions", c.suspicions},
          {"further_looks", c.further_looks},
          {"recovered_in_between", c.recovered_in_between},
          {"incidents", c.incidents},
          {"recalled", c.recalled},
          {"snapshots_requested", c.snapshots_requested},
          {"snapshots_taken", c.snapshots_taken},
          {"probes_asked", c.probes_asked},
          {"snapshots_over_budget", c.snapshots_over_budget}};
}

}  // namespace rapideye::coordinator
