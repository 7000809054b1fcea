// Writes pages of the coordinator, of invented jobs, into a folder for the browser tests.
//
// usage: example-pages FOLDER
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/server/fleet_page.h"
#include "coordinator/server/html_page.h"
#include "coordinator/server/web_pages.h"
#include "tests/fleet/incidents.h"

namespace rapideye::coordinator {
namespace {

constexpr char kId[] = "20261120T124419Z-5dc4d1c8";
constexpr char kHostile[] = "<img src=x onerror=\"document.title='taken'\">'&</script>";

JobStatus Job(int slices, int tasks) {
  JobStatus status;
  status.job = "llama-405b";
  status.activity = Activity::kArmed;
  status.incarnation = "b1946ac9";
  status.generation = "TPU v5p";
  status.longest_launch = absl::Milliseconds(850);
  status.longest_pause = absl::Seconds(40);
  status.since_completion = absl::Milliseconds(400);
  for (int slice = 0; slice < slices; ++slice) {
    for (int task = 0; task < tasks; ++task) {
      status.workers.push_back({.id = {slice, task},
                                .host = absl::StrFormat("gke-tpu-%02d-%03d", slice, task),
                                .state = WorkerState::kAdvancing,
                                .since_completion = absl::Milliseconds(100 * (task % 9)),
                                .step = 41'372,
                                .phase = Phase::kStep});
    }
  }
  status.expected = status.connected = status.running = status.workers.size();
  for (int minute = 0; minute < 60; ++minute) {
    const bool slow = minute % 17 == 5;
    status.last_hour.push_back({.launches = minute == 30 ? 0 : 70 - minute % 7,
                                .mean = absl::Milliseconds(slow ? 1900 : 830 + minute % 5 * 10),
                                .longest = absl::Milliseconds(slow ? 4000 : 900)});
  }
  return status;
}

JobStatus Late() {
  JobStatus status = Job(4, 16);
  status.workers[17].state = WorkerState::kLate;
  status.workers[17].since_completion = absl::Seconds(8);
  status.workers[40].state = WorkerState::kAway;
  --status.connected;
  status.workers[3].state = WorkerState::kPaused;
  status.workers[3].phase = Phase::kCheckpoint;
  status.workers[5].state = WorkerState::kStarting;
  status.workers[6].state = WorkerState::kNotRunning;
  WorkerStatus& missing = status.missing.emplace_back();
  missing.id = status.workers[40].id;
  missing.host = status.workers[40].host;
  WorkerStatus& slowest = status.slowest.emplace_back();
  slowest.id = status.workers[17].id;
  slowest.host = status.workers[17].host;
  slowest.since_completion = slowest.in_flight_for = absl::Seconds(8);
  slowest.module = "jit_train_step";
  status.cohorts = {{"train", 60, {"jit_train_step"}}, {"eval", 4, {"jit_eval"}}};
  status.cohort_count = 2;
  status.waiting = JobStatus::Waiting{.still_for = absl::Milliseconds(400),
                                      .threshold = absl::Seconds(15),
                                      .why = "launches of jit_train_step took 850 ms"};
  return status;
}

JobStatus Hang(int slices, int tasks, const std::string& host) {
  JobStatus status = Job(slices, tasks);
  status.activity = Activity::kWaiting;
  for (WorkerOnMap& worker : status.workers) {
    worker.state = WorkerState::kLate;
    worker.since_completion = absl::Seconds(95);
  }
  status.workers[status.workers.size() - 9].host = host;
  status.last_incident = kId;
  status.last_verdict = ToldVerdict{
      .cause = "BAD_TPU_CHIP",
      .detail = "TENSOR_CORE",
      .confidence = 0.97,
      .headline = "Megascale detects a hang.",
      .sentence = absl::StrCat(host, " chip 2 stopped in fusion.7. ", "63 cores wait for it."),
      .culprits = {host},
      .culprit_hosts = 1};
  for (const size_t place : {status.workers.size() - 9, size_t{0}}) {
    WorkerStatus& slowest = status.slowest.emplace_back();
    slowest.id = status.workers[place].id;
    slowest.host = status.workers[place].host;
    slowest.connected = true;
    slowest.since_completion = absl::Seconds(95);
    slowest.accused = place != 0;
  }
  return status;
}

std::vector<IncidentSummary> Incidents(const std::string& host) {
  std::vector<IncidentSummary> incidents;
  const char* causes[] = {"BAD_TPU_CHIP", "NETWORKING_ISSUE", "DATA_INPUT_STALL"};
  for (int i = 0; i < 40; ++i) {
    IncidentSummary& one = incidents.emplace_back();
    one.id = absl::StrFormat("202611%02dT124419Z-5dc4d1%02d", 28 - i / 2, i);
    one.detected_at = absl::StrFormat("2026-11-%02dT12:44:%02d.139Z", 28 - i / 2, i);
    one.job = "llama-405b";
    one.cause = causes[i % 3];
    one.confidence = 0.97;
    if (i % 3 != 0) one.sentence = absl::StrCat(host, " launches nothing more. 63 cores wait.");
    one.culprits = {i % 5 == 0 ? host : absl::StrCat("gke-tpu-00-00", i % 4)};
    one.culprit_hosts = 1 + static_cast<size_t>(i % 3);
  }
  incidents[7].problem = "digest.json is missing";
  return incidents;
}

// A machine that failed four times and was removed, one that is watched, a breaker that opened.
bool MakeFleet(Database& database, const std::string& host) {
  History history(database);
  const absl::Time then = testing::kThen;
  bool made = Migrate(database, FleetMigrations()).ok();
  for (int i = 0; made && i < 5; ++i) {
    const std::string id = absl::StrFormat("20261120T1%d4419Z-5dc4d1c8", i);
    CulpritRecord culprit = testing::BadChip(i < 4 ? "4b1d" : "77aa", i);
    culprit.host = i < 4 ? host : "gke-tpu-01-002";
    const absl::Time at = then + absl::Hours(20 * i);
    made = history.Record(testing::Incident(id, at, {culprit}), at).ok();
    const auto finding = history.FindingOf(id, culprit.machine);
    const Decision decision = {i == 3 ? Action::kRemove : Action::kWatch, "repetition",
                               absl::StrCat("failed in ", i % 4 + 1, " incidents"),
                               at + absl::Hours(1), i == 3};
    made = made && finding.ok() &&
           history.AddDecision(*finding, RemovalMode::kDryRun, decision, at).value_or(false);
  }
  return made &&
         history.SetBreaker(RemovalMode::kDryRun, true, "1 removal in 1h0m0s", "", then).ok();
}

std::string Fleet(const std::string& folder, const std::string& name, const std::string& host) {
  const std::string url = absl::StrCat("sqlite:", folder, "/", name, ".db");
  const auto database = OpenDatabase(url);
  if (!database.ok() || !MakeFleet(**database, host)) return "";
  return FleetPage({.url = url}, testing::kThen + absl::Hours(100)).value_or("");
}

bool Write(const std::string& folder, const std::string& name, const std::string& page) {
  std::ofstream file(absl::StrCat(folder, "/", name), std::ios::binary);
  file << page;
  return file.good() && !page.empty();
}

bool WriteAll(const std::string& folder) {
  const JobStatus healthy = Job(2, 8);
  const JobStatus late = Late();
  JobStatus hang = Hang(4, 16, "gke-tpu-03-007");
  const JobStatus large = Hang(64, 64, "gke-tpu-63-055");
  JobStatus hostile = Hang(2, 8, kHostile);
  hostile.job = kHostile;
  DiskReport disk;
  disk.problem = "No space left on device";
  disk.pending_incidents = 1;
  std::vector<IncidentSummary> incidents = Incidents("gke-tpu-03-007");
  hang.last_incident = incidents[0].id;
  hang.ended = {{incidents[1].id, absl::FromUnixSeconds(1'795'956'500)}};
  return Write(folder, "live-healthy.html", StatusPage(&healthy, {})) &&
         Write(folder, "live-late.html", StatusPage(&late, {})) &&
         Write(folder, "live-hang.html", StatusPage(&hang, disk)) &&
         Write(folder, "live-large.html", StatusPage(&large, {})) &&
         Write(folder, "live-hostile.html", StatusPage(&hostile, {})) &&
         Write(folder, "live-busy.html", StatusPage(nullptr, disk)) &&
         Write(folder, "incidents.html", IncidentsPage(incidents, true, &hang)) &&
         Write(folder, "incidents-hostile.html",
               IncidentsPage(Incidents(kHostile), false, nullptr)) &&
         Write(folder, "incidents-none.html", IncidentsPage({}, false, &healthy)) &&
         Write(folder, "fleet.html", Fleet(folder, "fleet", "gke-tpu-03-007")) &&
         Write(folder, "fleet-hostile.html", Fleet(folder, "hostile", kHostile)) &&
         Write(folder, "policy.txt", PagePolicy());
}

}  // namespace
}  // namespace rapideye::coordinator

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example-pages FOLDER\n");
    return 2;
  }
  return rapideye::coordinator::WriteAll(argv[1]) ? 0 : 1;
}
