#include "coordinator/server/metrics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/metrics/counter_table.h"
#include "proto/common/metrics/metric_page.h"
#include "proto/common/metrics/process_metrics.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kPrefix = "rapideye_coordinator_";

using CoreRow = metrics::CounterRow<Counters>;
constexpr std::array kCoreCounters = {
    CoreRow{&Counters::hellos_admitted, "hellos_admitted_total", "Agents that were admitted."},
    CoreRow{&Counters::hellos_refused, "hellos_refused_total",
            "Agents that were refused; the log says why."},
    CoreRow{&Counters::hello_timeouts, "hello_timeouts_total",
            "Streams closed because they never said who they are."},
    CoreRow{&Counters::superseded, "superseded_total",
            "Streams closed because a newer agent speaks for their worker."},
    CoreRow{&Counters::takeovers, "takeovers_total",
            "Streams closed because a newer one of the same agent took their place."},
    CoreRow{&Counters::duplicate_agents, "duplicate_agents_total",
            "Agents refused because another one speaks for their worker."},
    CoreRow{&Counters::foreign_agents, "foreign_agents_total",
            "Agents refused because one with another certificate speaks for their worker."},
    CoreRow{&Counters::streams_refused, "streams_refused_total",
            "Streams refused before they said anything: --tls-identity, too many."},
    CoreRow{&Counters::cut_off, "streams_cut_off_total",
            "Streams that did not read, or whose messages found no room."},
    CoreRow{&Counters::silent_streams, "silent_streams_total",
            "Streams closed because their agent stopped talking."},
    CoreRow{&Counters::unlogged_lines, "unlogged_lines_total",
            "Lines about refused peers that were left out of the log."},
    CoreRow{&Counters::messages_refused, "messages_refused_total",
            "Messages that broke the protocol; each cost its stream."},
    CoreRow{&Counters::floods, "floods_total", "Streams closed because they sent too fast."},
    CoreRow{&Counters::alarms, "alarms_total",
            "Alarms raised by workers: hang lines, halts, exits."},
    CoreRow{&Counters::job_restarts, "job_restarts_total", "Times the job was seen to restart."},
    CoreRow{&Counters::suspicions, "suspicions_total",
            "Collections of evidence begun because the job seemed to hang."},
    CoreRow{&Counters::further_looks, "further_looks_total",
            "Of the suspicions: at a standstill that was looked at before."},
    CoreRow{&Counters::recovered_in_between, "recovered_in_between_total",
            "Of the suspicions: launches completed after all."},
    CoreRow{&Counters::incidents, "incidents_total", "Of the suspicions: hangs."},
    CoreRow{&Counters::recalled, "incidents_recalled_total",
            "Incidents of a coordinator before this one that were taken up."},
    CoreRow{&Counters::snapshots_requested, "snapshots_requested_total",
            "Looks that operators asked for."},
    CoreRow{&Counters::snapshots_taken, "snapshots_taken_total",
            "Collections begun for these; several requests may share one."},
    CoreRow{&Counters::probes_asked, "probes_asked_total",
            "Probes of other workers that agents were asked for during a hang."},
    CoreRow{&Counters::snapshots_over_budget, "snapshots_over_budget_total",
            "Workers left out of a collection because it was too large."},
};
static_assert(metrics::NamesEveryCounter(kCoreCounters), "a core counter has no metric");

using DiskRow = metrics::CounterRow<DiskCounters>;
constexpr std::array kDiskCounters = {
    DiskRow{&DiskCounters::written, "incidents_written_total",
            "Incidents that came to the state directory."},
    DiskRow{&DiskCounters::write_failures, "incident_write_failures_total",
            "Tries to write an incident that failed; it is tried again."},
    DiskRow{&DiskCounters::hangs, "state_dir_hangs_total",
            "Times the state directory did not answer within a second."},
    DiskRow{&DiskCounters::given_up, "incidents_given_up_total",
            "Incidents that never came to disk: only the log has their digest."},
    DiskRow{&DiskCounters::removed, "incidents_removed_total",
            "Incidents removed by --retain-incidents and --retain-bytes."},
    DiskRow{&DiskCounters::retention_failures, "retention_failures_total",
            "Times that old incidents could not be removed."},
    DiskRow{&DiskCounters::half_written_removed, "half_written_removed_total",
            "Half-written incidents of a crash that were removed at the start."},
};
static_assert(metrics::NamesEveryCounter(kDiskCounters), "a disk counter has no metric");

using RemovalRow = metrics::CounterRow<RemovalCounters>;
constexpr std::array kRemovalCounters = {
    RemovalRow{&RemovalCounters::incidents_delivered, "incidents_delivered_total",
               "Incidents that the fleet history has taken."},
    RemovalRow{&RemovalCounters::delivery_failures, "delivery_failures_total",
               "Tries to reach the fleet history that failed; what waits is kept."},
    RemovalRow{&RemovalCounters::removes, "decisions_to_remove_total",
               "Decisions to remove a machine; in a dry run nothing came of them."},
    RemovalRow{&RemovalCounters::watches, "decisions_to_watch_total",
               "Decisions that the evidence against a machine does not suffice."},
    RemovalRow{&RemovalCounters::refusals, "decisions_to_refuse_total",
               "Decisions that something stands against a removal that was due."},
    RemovalRow{&RemovalCounters::hooks_succeeded, "hooks_succeeded_total",
               "Runs of hooks that succeeded."},
    RemovalRow{&RemovalCounters::hooks_failed, "hooks_failed_total",
               "Runs of hooks that failed, and are tried again."},
    RemovalRow{&RemovalCounters::hooks_given_up, "hooks_given_up_total",
               "Hooks that failed for good; the log says which."},
};
static_assert(metrics::NamesEveryCounter(kRemovalCounters), "a removal counter has no metric");

using OtlpRow = metrics::CounterRow<OtlpCounters>;
constexpr std::array kOtlpCounters = {
    OtlpRow{&OtlpCounters::sent, "otlp_events_sent_total",
            "Events of incidents that --otlp-endpoint has taken."},
    OtlpRow{&OtlpCounters::failures, "otlp_failures_total",
            "Tries to reach --otlp-endpoint that failed; what waits is sent again."},
    OtlpRow{&OtlpCounters::dropped, "otlp_events_dropped_total",
            "Events that it refused, or that made room for newer ones."},
};
static_assert(metrics::NamesEveryCounter(kOtlpCounters), "a counter of OTLP has no metric");

// A page whose metrics carry the prefix.
class Page {
 public:
  void Gauge(std::string_view name, std::string_view help, double value,
             const metrics::MetricPage::Labels& labels = {}) {
    page_.AddGauge(Name(name), std::string(help), value, labels);
  }
  void States(std::string_view name, std::string_view help, const std::string& label,
              std::initializer_list<std::string_view> states, std::string_view current) {
    page_.AddStates(Name(name), std::string(help), label, states, current);
  }
  void Counter(std::string_view name, std::string_view help, double value,
               const metrics::MetricPage::Labels& labels = {}) {
    page_.AddCounter(Name(name), std::string(help), value, labels);
  }
  void Histogram(std::string_view name, std::string_view help,
                 const metrics::DurationHistogram& histogram) {
    page_.AddHistogram(Name(name), std::string(help), histogram);
  }
  void Histogram(std::string_view name, std::string_view help, const LaunchDurations& launches) {
    page_.AddHistogram(Name(name), std::string(help), LaunchDurations::kBounds, launches.counts,
                       absl::ToDoubleSeconds(launches.sum));
  }
  metrics::MetricPage& page() { return page_; }

 private:
  static std::string Name(std::string_view name) { return std::string(kPrefix).append(name); }

  metrics::MetricPage page_;
};

// The text of a peer's version, as a label.
std::string Label(const std::string& text) { return text::EscapeText(text, text::kMaxNameBytes); }

// The version of this program always has a line, so that agents that lag behind show beside it.
void AddVersions(Page& page, const JobStatus& status) {
  std::map<std::string, size_t> agents = {{program::Version(), 0}};
  size_t others = status.connected;
  for (const auto& [version, count] : status.agent_versions) {
    agents[Label(version)] += count;
    others -= std::min(others, count);
  }
  if (others > 0) agents["other"] += others;
  for (const auto& [version, count] : agents) {
    page.Gauge("agents", "Connected agents by version; the rarest of many together as \"other\".",
               static_cast<double>(count), {{"version", version}});
  }
}

void AddJob(Page& page, const JobStatus& status) {
  page.Gauge("job_info", "1; the labels say which job is watched, empty if that is not known yet.",
             1,
             {{"name", Label(status.job)},
              {"incarnation", Label(status.incarnation.value_or(""))},
              {"generation", Label(status.generation.value_or(""))}});
  AddVersions(page, status);
  page.Gauge("workers_expected", "Workers of the job, as far as known.",
             static_cast<double>(status.expected));
  page.Gauge("workers_connected", "Workers whose agent is connected.",
             static_cast<double>(status.connected));
  page.Gauge("workers_running", "Connected workers whose runtime is there.",
             static_cast<double>(status.running));
  page.States("activity", "1 for what the coordinator is about, 0 for the others.", "activity",
              {ActivityName(Activity::kLearning), ActivityName(Activity::kArmed),
               ActivityName(Activity::kCollecting), ActivityName(Activity::kConcluding),
               ActivityName(Activity::kWaiting)},
              ActivityName(status.activity));
  page.Gauge("watch_paused", "1 while an operator has paused the watch: nothing is raised.",
             status.pause.has_value() ? 1 : 0);
  if (status.since_completion.has_value()) {
    page.Gauge("seconds_since_last_completion", "Since a launch completed on any worker.",
               absl::ToDoubleSeconds(*status.since_completion));
  }
  if (status.waiting.has_value()) {
    page.Gauge("still_seconds", "Since anything in the job advanced.",
               absl::ToDoubleSeconds(status.waiting->still_for));
    page.Gauge("threshold_seconds", "How long it may be still now, before the alarm.",
               absl::ToDoubleSeconds(status.waiting->threshold));
  }
  page.Gauge("longest_launch_seconds", "The longest healthy launch of this job so far.",
             absl::ToDoubleSeconds(status.longest_launch));
  page.Gauge("longest_pause_seconds", "The longest healthy pause of this job so far.",
             absl::ToDoubleSeconds(status.longest_pause));
  page.Histogram("launch_seconds",
                 "Launches that completed on any worker, else steps: from one to the next.",
                 status.launches);
  page.Counter("hung_seconds_total", "Time from the last progress before a hang to its recovery.",
               absl::ToDoubleSeconds(status.losses.hung));
  page.Counter("chip_seconds_lost_total",
               "That time for each chip of the job; 0 while no runtime has listed any.",
               absl::ToDoubleSeconds(status.losses.of_chips));
  metrics::AddCounters(page.page(), kPrefix, kCoreCounters, status.counters);
}

void AddDisk(Page& page, const DiskReport& disk) {
  page.Gauge("state_dir_works", "1 unless the state directory fails or hangs; /readyz says why.",
             disk.problem.empty() ? 1 : 0);
  page.Gauge("incidents_pending", "Incidents that wait in memory for the disk.",
             static_cast<double>(disk.pending_incidents));
  page.Gauge("incidents_pending_bytes", "Their size.", static_cast<double>(disk.pending_bytes));
  page.Gauge("incidents_kept", "Incidents on disk.", static_cast<double>(disk.kept_incidents));
  page.Gauge("incidents_kept_bytes", "Their size.", static_cast<double>(disk.kept_bytes));
  metrics::AddCounters(page.page(), kPrefix, kDiskCounters, disk.counters);
}

void AddRemoval(Page& page, const RemovalReport& removal) {
  page.Gauge("fleet_history_works",
             "1 unless the fleet history cannot be reached; the log says why.",
             removal.history_works ? 1 : 0);
  page.States(
      "removal_breaker",
      "1 for the state of the fleet's breaker; open stops removals, unknown: removal is off, "
      "or the history does not tell.",
      "state", {"closed", "open", "unknown"},
      !removal.breaker_open.has_value() ? "unknown"
      : *removal.breaker_open           ? "open"
                                        : "closed");
  metrics::AddCounters(page.page(), kPrefix, kRemovalCounters, removal.counters);
}

void AddShell(Page& page, const Readings& readings, const Telemetry& telemetry) {
  metrics::AddCounters(page.page(), kPrefix, kOtlpCounters, readings.otlp);
  page.Counter("connections_refused_total",
               "Connections closed at once: no descriptors were left, or too many of one peer had "
               "not made a call.",
               static_cast<double>(readings.connections_refused));
  page.Gauge("events_queued", "Events that wait for the core.",
             static_cast<double>(readings.queued_events));
  page.Gauge("events_queued_bytes", "Size of the messages among them.",
             static_cast<double>(readings.queued_bytes));
  page.Gauge("streams", "Open streams, admitted or not.", static_cast<double>(readings.streams));
  for (const auto& [file, end] : {std::pair("cert", readings.certificates.certificate),
                                  std::pair("ca", readings.certificates.authority)}) {
    if (!end.has_value()) continue;
    page.Gauge("tls_expiry_timestamp_seconds",
               "When --tls-cert and --tls-ca end, in seconds since 1970; of several CAs the last.",
               static_cast<double>(absl::ToUnixSeconds(*end)), {{"file", file}});
  }
  // This metric is there from the first scrape on, however early that comes.
  page.Gauge("seconds_since_loop_turn",
             "Since the core's thread was last seen at work; NaN before it began.",
             readings.since_turn < absl::InfiniteDuration()
                 ? absl::ToDoubleSeconds(readings.since_turn)
                 : std::numeric_limits<double>::quiet_NaN());
  for (const auto& [code, count] : telemetry.Closes()) {
    page.Counter("streams_closed_total", "Streams that the coordinator ended, by status.",
                 static_cast<double>(count), {{"status", absl::StatusCodeToString(code)}});
  }
  const std::map<Cause, int64_t> verdicts = telemetry.Verdicts();
  // Causes that never occurred are listed, too: a rate needs a beginning.
  for (int i = 0; i <= static_cast<int>(Cause::kUnknown); ++i) {
    const auto cause = static_cast<Cause>(i);
    const auto found = verdicts.find(cause);
    page.Counter("verdicts_total", "Captures classified, by cause; NO_HANG raises no digest.",
                 found == verdicts.end() ? 0 : static_cast<double>(found->second),
                 {{"cause", std::string(CauseName(cause))}});
  }
  page.Histogram("classification_seconds", "Time to reach a verdict.", telemetry.classifications());
  page.Histogram("detection_seconds",
                 "From the last progress of the job to the alarm, of hangs that got a digest.",
                 telemetry.detections());
  page.Histogram("collection_seconds", "From the alarm to the last answer, of each digest.",
                 telemetry.collections());
  page.Histogram("digest_seconds", "From the last answer until the digest was in the log.",
                 telemetry.digests());
  page.Histogram("incident_write_seconds", "Time to bring an incident to disk.",
                 telemetry.writes());
}

}  // namespace

std::string RenderMetrics(const Readings& readings, const Telemetry& telemetry) {
  Page page;
  page.Gauge("build_info", "1; the version is the label.", 1, {{"version", program::Version()}});
  if (readings.status != nullptr) AddJob(page, *readings.status);
  AddDisk(page, readings.disk);
  AddRemoval(page, readings.removal);
  AddShell(page, readings, telemetry);
  metrics::AddProcessMetrics(page.page());
  return page.page().Render();
}

}  // namespace rapideye::coordinator
