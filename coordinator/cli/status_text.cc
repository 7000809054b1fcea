#include "coordinator/cli/status_text.h"

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "coordinator/cli/incident_text.h"
#include "coordinator/cli/table.h"
#include "digest/report_json.h"

namespace rapideye::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Span(int64_t milliseconds) {
  return absl::FormatDuration(absl::Milliseconds(milliseconds));
}

const char* Meaning(v1::GetStatusReply::Activity activity) {
  switch (activity) {
    case v1::GetStatusReply::LEARNING:
      return "learning (no launch has completed yet, or workers are still expected)";
    case v1::GetStatusReply::ARMED:
      return "armed (the job is watched)";
    case v1::GetStatusReply::COLLECTING:
      return "COLLECTING (a hang is suspected)";
    case v1::GetStatusReply::CONCLUDING:
      return "CONCLUDING (the evidence is classified)";
    case v1::GetStatusReply::WAITING:
      return "WAITING (the job hangs, its digest is out; waits for it to advance again)";
    default:
      return "unknown to this version of rapideye";
  }
}

std::string ProgramOf(const v1::WorkerStatus& worker) {
  if (worker.has_module()) return worker.module();
  return worker.has_fingerprint() ? worker.fingerprint() : "-";
}

std::string WorkerTable(const google::protobuf::RepeatedPtrField<v1::WorkerStatus>& workers) {
  Table table({"SLICE", "TASK", "HOST", "LAST LAUNCH", "IN FLIGHT", "PROGRAM", "RUNTIME"});
  for (const v1::WorkerStatus& worker : workers) {
    table.Add({absl::StrCat(worker.worker().slice()), absl::StrCat(worker.worker().task()),
               absl::StrCat(worker.host().empty() ? "-" : worker.host(),
                            worker.accused() ? " (culprit)" : ""),
               worker.has_since_completion_ms() ? Span(worker.since_completion_ms()) + " ago"
                                                : "none yet",
               worker.has_in_flight_ms() ? Span(worker.in_flight_ms()) : "-", ProgramOf(worker),
               !worker.connected()        ? "-"
               : worker.runtime_answers() ? "answers"
                                          : "does not answer"});
  }
  return table.Text("  ");
}

using Workers = google::protobuf::RepeatedPtrField<v1::WorkerStatus>;

// "2: slice 0 task 3 (host-3), slice 0 task 5"
std::string Named(const Workers& workers, int count) {
  std::string text = absl::StrCat(count, ": ");
  for (int i = 0; i < workers.size(); ++i) {
    const v1::WorkerStatus& worker = workers[i];
    absl::StrAppend(&text, i == 0 ? "" : ", ", "slice ", worker.worker().slice(), " task ",
                    worker.worker().task());
    if (!worker.host().empty()) absl::StrAppend(&text, " (", Shown(worker.host()), ")");
  }
  if (count > workers.size()) absl::StrAppend(&text, " and ", count - workers.size(), " more");
  return text;
}

std::string StartUp(const v1::GetStatusReply& status) {
  if (!status.has_starting_ms()) return "";
  std::string text = absl::StrCat("start-up   for ", Span(status.starting_ms()), " of ",
                                  Span(status.startup_grace_ms()), "\n");
  for (const v1::StartUpPhase& phase : status.phases()) {
    absl::StrAppend(&text, "           ", phase.workers(),
                    phase.workers() == 1 ? " worker: " : " workers: ", Shown(phase.name()), "\n");
  }
  for (const v1::WorkerStatus& worker : status.behind()) {
    absl::StrAppend(&text, "behind     slice ", worker.worker().slice(), " task ",
                    worker.worker().task(), " (", Shown(worker.host()),
                    "): ", Shown(worker.start_up()), "\n");
  }
  if (status.behind_count() > status.behind_size()) {
    absl::StrAppend(&text, "           … and ", status.behind_count() - status.behind_size(),
                    " more behind\n");
  }
  if (status.not_come_count() > 0) {
    absl::StrAppend(&text, "not come   ", Named(status.not_come(), status.not_come_count()), "\n");
  }
  if (status.without_process_count() > 0) {
    absl::StrAppend(&text, "no process ",
                    Named(status.without_process(), status.without_process_count()), "\n");
  }
  return text;
}

// SGR codes of terminals.
constexpr char kRed[] = "31;1";
constexpr char kYellow[] = "33";
constexpr char kGreen[] = "32";

std::string Coloured(const std::string& text, const char* colour, bool colours) {
  return colours ? absl::StrCat("\x1b[", colour, "m", text, "\x1b[0m") : text;
}

const char* ColourOf(const v1::GetStatusReply& status) {
  switch (status.activity()) {
    case v1::GetStatusReply::WAITING:
      return kRed;
    case v1::GetStatusReply::ARMED:
      return kGreen;
    default:
      return kYellow;
  }
}

// "BAD_TPU_CHIP TENSOR_CORE: host-1, host-2".
std::string VerdictOf(const v1::IncidentSummary& incident) {
  const std::string culprits = CulpritsOf(incident);
  return absl::StrCat(Shown(CauseOf(incident)), ": ",
                      culprits == "-" ? "nobody can be named" : Shown(culprits));
}

// The first lines of a hang: verdict, culprit and what stopped come before all else.
std::string Hang(const v1::GetStatusReply& status, bool colours) {
  if (!Hangs(status) || !status.has_last_incident()) return "";
  const v1::IncidentSummary& incident = status.last_incident();
  std::string text =
      Coloured(absl::StrCat("HANG       ", VerdictOf(incident)), kRed, colours) + "\n";
  if (!incident.sentence().empty()) {
    absl::StrAppend(&text, "           ", Shown(incident.sentence()), "\n");
  }
  return text;
}

// The last incident, and the time of the next look at the standstill.
std::string Incident(const v1::GetStatusReply& status) {
  std::string text;
  if (status.has_last_incident_id()) {
    absl::StrAppend(
        &text, "incident   ", Shown(status.last_incident_id()),
        status.last_revision() > 1 ? absl::StrCat(", revision ", status.last_revision()) : "",
        !Hangs(status) && status.has_last_incident()
            ? absl::StrCat(", over: ", VerdictOf(status.last_incident()))
            : "",
        " (rapideye show ", Shown(status.last_incident_id()), ")\n");
  }
  if (status.has_acknowledged()) {
    const v1::Acknowledgement& by = status.acknowledged();
    absl::StrAppend(&text, "           acknowledged by ", Shown(by.by()),
                    by.reason().empty() ? "" : ": ", Shown(by.reason()), "\n");
  }
  if (status.has_next_look_ms()) {
    absl::StrAppend(&text, "next look  in ", Span(status.next_look_ms()),
                    ", if the job still stands\n");
  }
  return text;
}

std::string Pause(const v1::GetStatusReply& status, bool colours) {
  if (!status.has_pause()) return "";
  const v1::PauseStatus& pause = status.pause();
  return Coloured(absl::StrCat("PAUSED     for ", Span(pause.left_ms()), ", by ", Shown(pause.by()),
                               ": ", Shown(pause.reason()),
                               " (nothing is raised; rapideye pause --end)"),
                  kYellow, colours) +
         "\n";
}

std::string Threshold(const char* name, int64_t milliseconds, bool set) {
  return absl::StrCat(name, " ", Span(milliseconds), set ? " (set)" : " (auto)");
}

Json WorkersJson(const google::protobuf::RepeatedPtrField<v1::WorkerStatus>& workers) {
  Json list = Json::array();
  for (const v1::WorkerStatus& worker : workers) {
    Json one = {{"slice", worker.worker().slice()}, {"task", worker.worker().task()}};
    if (!worker.host().empty()) one["host"] = worker.host();
    one["connected"] = worker.connected();
    one["runtimeAnswers"] = worker.runtime_answers();
    if (worker.has_since_completion_ms()) one["sinceCompletionMs"] = worker.since_completion_ms();
    if (worker.has_in_flight_ms()) one["inFlightMs"] = worker.in_flight_ms();
    if (worker.has_fingerprint()) one["fingerprint"] = worker.fingerprint();
    if (worker.has_module()) one["module"] = worker.module();
    if (worker.has_start_up()) one["startUp"] = worker.start_up();
    if (worker.accused()) one["accused"] = true;
    list.push_back(std::move(one));
  }
  return list;
}

Json StartUpJson(const v1::GetStatusReply& status) {
  Json phases = Json::array();
  for (const v1::StartUpPhase& phase : status.phases()) {
    phases.push_back({{"phase", phase.name()}, {"workers", phase.workers()}});
  }
  return {{"startingMs", status.starting_ms()},
          {"phases", std::move(phases)},
          {"behind", WorkersJson(status.behind())},
          {"behindCount", status.behind_count()},
          {"notCome", WorkersJson(status.not_come())},
          {"notComeCount", status.not_come_count()},
          {"withoutProcess", WorkersJson(status.without_process())},
          {"withoutProcessCount", status.without_process_count()}};
}

}  // namespace

bool Hangs(const v1::GetStatusReply& status) {
  return status.activity() == v1::GetStatusReply::WAITING;
}

std::string StatusText(const v1::GetStatusReply& status, bool colours) {
  std::string text = Hang(status, colours) + Pause(status, colours);
  absl::StrAppend(
      &text, "job        ", status.job().empty() ? "not known yet" : Shown(status.job()),
      status.has_generation() ? absl::StrCat(" (", Shown(status.generation()), ")") : "",
      status.has_job_incarnation() ? absl::StrCat(", incarnation ", Shown(status.job_incarnation()))
                                   : "",
      "\n");
  absl::StrAppend(&text, "state      ",
                  Coloured(Meaning(status.activity()), ColourOf(status), colours), "\n");
  absl::StrAppend(&text, "workers    ", status.connected(), " of ", status.expected(),
                  " connected, the runtime of ", status.running(), " answers\n");
  absl::StrAppend(
      &text, "progress   ",
      status.has_since_completion_ms()
          ? absl::StrCat("last launch completed ", Span(status.since_completion_ms()), " ago\n")
          : "no launch has completed yet\n");
  absl::StrAppend(&text, StartUp(status));
  if (status.has_still_for_ms()) {
    absl::StrAppend(&text, "alarm      if ", Shown(status.measure()), ": for ",
                    Span(status.still_for_ms()), " of ", Span(status.threshold_ms()), "\n");
  } else {
    absl::StrAppend(&text, "alarm      by what a worker reports: no runtime answers\n");
  }
  absl::StrAppend(
      &text, "thresholds ",
      Threshold("launch", status.launch_threshold_ms(), status.launch_threshold_set()), ", ",
      Threshold("nothing running", status.hang_threshold_ms(), status.hang_threshold_set()),
      ", startup ", Span(status.startup_grace_ms()), "\n");
  absl::StrAppend(&text, "healthy    longest launch ", Span(status.longest_launch_ms()),
                  ", longest pause ", Span(status.longest_pause_ms()), "\n");
  for (const v1::CohortStatus& cohort : status.cohorts()) {
    absl::StrAppend(&text, "cohort     ", Shown(cohort.name()), ": ", cohort.workers(),
                    " workers; a step runs ",
                    cohort.programs().empty()
                        ? "programs of unknown order"
                        : absl::StrJoin(cohort.programs(), ", ",
                                        [](std::string* out, const std::string& program) {
                                          out->append(Shown(program));
                                        }),
                    "\n");
  }
  if (status.cohort_count() > status.cohorts_size()) {
    absl::StrAppend(&text, "           … and ", status.cohort_count() - status.cohorts_size(),
                    " more cohorts\n");
  }
  absl::StrAppend(&text, Incident(status));
  const int missing = status.expected() - status.connected();
  if (status.missing_size() > 0) {
    absl::StrAppend(&text, "\nMissing (", status.missing_size(), " of ", missing, "):\n",
                    WorkerTable(status.missing()));
  }
  if (status.slowest_size() > 0) {
    absl::StrAppend(
        &text, status.slowest(0).accused() ? "\nCulprits, then slowest (" : "\nSlowest (",
        status.slowest_size(), " of ", status.connected(), "):\n", WorkerTable(status.slowest()));
  }
  return text;
}

std::string StatusJson(const v1::GetStatusReply& status) {
  Json json = {{"job", status.job()}};
  if (status.has_job_incarnation()) json["jobIncarnation"] = status.job_incarnation();
  if (status.has_generation()) json["generation"] = status.generation();
  json["coordinatorVersion"] = status.version();
  json["hangs"] = Hangs(status);
  json["state"] = v1::GetStatusReply::Activity_Name(status.activity());
  if (status.has_last_incident_id()) {
    json["lastIncident"] = status.last_incident_id();
    if (status.last_revision() > 1) json["lastRevision"] = status.last_revision();
    if (status.has_last_incident()) json["lastVerdict"] = IncidentJson(status.last_incident());
  }
  if (status.has_acknowledged()) {
    json["acknowledged"] = AcknowledgementJson(status.acknowledged());
  }
  if (status.has_pause()) {
    json["pause"] = {{"leftMs", status.pause().left_ms()},
                     {"reason", status.pause().reason()},
                     {"by", status.pause().by()}};
  }
  if (status.has_next_look_ms()) json["nextLookMs"] = status.next_look_ms();
  json["workers"] = {{"expected", status.expected()},
                     {"connected", status.connected()},
                     {"running", status.running()},
                     {"missing", WorkersJson(status.missing())},
                     {"slowest", WorkersJson(status.slowest())}};
  if (status.has_starting_ms()) json["startUp"] = StartUpJson(status);
  Json progress = Json::object();
  if (status.has_since_completion_ms())
    progress["sinceCompletionMs"] = status.since_completion_ms();
  if (status.has_still_for_ms()) {
    progress["measure"] = status.measure();
    progress["stillForMs"] = status.still_for_ms();
    progress["thresholdMs"] = status.threshold_ms();
  }
  json["progress"] = std::move(progress);
  json["thresholds"] = {{"launchMs", status.launch_threshold_ms()},
                        {"launchSet", status.launch_threshold_set()},
                        {"hangMs", status.hang_threshold_ms()},
                        {"hangSet", status.hang_threshold_set()},
                        {"startupGraceMs", status.startup_grace_ms()}};
  Json cohorts = Json::array();
  for (const v1::CohortStatus& cohort : status.cohorts()) {
    cohorts.push_back({{"name", cohort.name()},
                       {"workers", cohort.workers()},
                       {"programs", Json(cohort.programs())}});
  }
  json["learnt"] = {{"longestLaunchMs", status.longest_launch_ms()},
                    {"longestPauseMs", status.longest_pause_ms()},
                    {"cohortCount", status.cohort_count()},
                    {"cohorts", std::move(cohorts)}};
  Json counters = Json::object();
  for (const v1::CounterValue& counter : status.counters()) {
    counters[counter.name()] = counter.value();
  }
  json["counters"] = std::move(counters);
  return digest::Dump(json, /*pretty=*/false) + "\n";
}

}  // namespace rapideye::cli
