#include "coordinator/server/web_pages.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

constexpr char kStyle[] = R"css(
:root { color-scheme: light dark; --line: #8886; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 1rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1.05rem; margin-top: 1.6rem; }
.state { border-left: .4rem solid #2e7d32; padding: .1rem 1rem; }
.state.suspicious { border-color: #f5a623; }
.state.bad, p.bad { border-left: .4rem solid #d32f2f; padding: .1rem 1rem; }
code, td { font-family: ui-monospace, monospace; font-size: .85rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
)css";

std::string Html(std::string_view text) { return text::EscapeHtml(text, text::kMaxSentenceBytes); }

std::string Ago(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(100)));
}

std::string Ago(const std::optional<absl::Duration>& duration) {
  return duration.has_value() ? Ago(*duration) : "–";
}

std::string Page(const std::string& title, bool refresh, const std::string& body) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
      refresh ? "<meta http-equiv=\"refresh\" content=\"5\">\n" : "",
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      Html(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n", body,
      "<p><a href=\"/\">now</a> · <a href=\"/incidents\">incidents</a> · <a "
      "href=\"/metrics\">metrics</a> · rapideye-coordinator ",
      Html(program::Version()), "</p>\n</body>\n</html>\n");
}

// A table whose cells are HTML already.
class Table {
 public:
  explicit Table(const std::vector<std::string_view>& heads) {
    html_ = "<table>\n<tr>";
    for (const std::string_view head : heads) absl::StrAppend(&html_, "<th>", Html(head), "</th>");
    html_ += "</tr>\n";
  }
  void Row(const std::vector<std::string>& cells) {
    html_ += "<tr>";
    for (const std::string& cell : cells) absl::StrAppend(&html_, "<td>", cell, "</td>");
    html_ += "</tr>\n";
  }
  std::string Done() && { return std::move(html_) + "</table>\n"; }

 private:
  std::string html_;
};

std::string IncidentLink(const std::string& id) {
  return absl::StrCat("<a href=\"/incidents/", Html(id), "\">", Html(id), "</a>");
}

// The activity of the coordinator, and its style.
std::pair<const char*, const char*> Describe(Activity activity) {
  switch (activity) {
    case Activity::kLearning:
      return {"", "Learning: no launch has completed yet, or workers are still expected."};
    case Activity::kArmed:
      return {"", "Watching: launches complete."};
    case Activity::kCollecting:
      return {" suspicious", "A hang is suspected: collecting evidence."};
    case Activity::kConcluding:
      return {" suspicious", "A hang is suspected: classifying the evidence."};
    case Activity::kWaiting:
      return {" bad",
              "The job hangs; its digest is written. Waiting for the job to advance again."};
  }
  return {"", ""};
}

std::string Workers(const std::string& title, const std::vector<WorkerStatus>& workers) {
  if (workers.empty()) return "";
  Table table({"slice", "task", "host", "last completion", "launch in flight", "program"});
  for (const WorkerStatus& worker : workers) {
    table.Row({absl::StrCat(worker.id.slice), absl::StrCat(worker.id.task), Html(worker.host),
               Ago(worker.since_completion), Ago(worker.in_flight_for),
               Html(worker.module.value_or(worker.fingerprint.value_or("")))});
  }
  return absl::StrCat("<h2>", Html(title), "</h2>\n", std::move(table).Done());
}

std::string Job(const JobStatus& status) {
  std::string body =
      absl::StrCat("<h1>", status.job.empty() ? "no job yet" : Html(status.job), "</h1>\n");
  const auto [mark, sentence] = Describe(status.activity);
  absl::StrAppend(&body, "<div class=\"state", mark, "\"><p>", sentence, "</p>\n");
  if (status.waiting.has_value()) {
    absl::StrAppend(&body, "<p>Still for ", Ago(status.waiting->still_for), ", alarm at ",
                    Ago(status.waiting->threshold), ": ", Html(status.waiting->why), "</p>\n");
  }
  absl::StrAppend(&body, "</div>\n<p>", status.connected, " of ", status.expected,
                  " workers connected, ", status.running, " with a runtime; ",
                  status.since_completion.has_value()
                      ? absl::StrCat("last completion ", Ago(status.since_completion), " ago")
                      : "no launch has completed yet",
                  "; longest healthy launch ", Ago(status.longest_launch), ", pause ",
                  Ago(status.longest_pause));
  if (status.generation.has_value()) absl::StrAppend(&body, "; ", Html(*status.generation));
  if (status.incarnation.has_value()) {
    absl::StrAppend(&body, "; incarnation <code>", Html(*status.incarnation), "</code>");
  }
  body += "</p>\n";
  if (status.last_incident.has_value()) {
    absl::StrAppend(
        &body, "<p>Last incident: ", IncidentLink(*status.last_incident),
        status.last_revision > 1 ? absl::StrCat(", revision ", status.last_revision) : "",
        "</p>\n");
  }
  if (status.next_look.has_value()) {
    absl::StrAppend(&body, "<p>Looking again in ", Ago(status.next_look),
                    ", if the job still stands.</p>\n");
  }
  body += Workers(absl::StrCat("Missing: ", status.expected - status.connected, " workers"),
                  status.missing);
  body += Workers("Slowest", status.slowest);
  if (status.cohorts.size() > 1) {
    Table table({"cohort", "workers", "programs of a step"});
    for (const CohortStatus& cohort : status.cohorts) {
      std::string programs;
      for (const std::string& program : cohort.programs) {
        absl::StrAppend(&programs, programs.empty() ? "" : ", ", Html(program));
      }
      table.Row({Html(cohort.name), absl::StrCat(cohort.workers), programs});
    }
    absl::StrAppend(&body, "<h2>Cohorts: ", status.cohort_count, "</h2>\n",
                    std::move(table).Done());
  }
  return body;
}

}  // namespace

std::string StatusPage(const JobStatus* status, const DiskReport& disk) {
  std::string body;
  if (!disk.problem.empty()) {
    absl::StrAppend(&body, "<p class=\"bad\">Incidents do not come to disk (",
                    disk.pending_incidents, " wait in memory): ", Html(disk.problem), "</p>\n");
  }
  if (status == nullptr) {
    body +=
        "<h1>rapideye</h1>\n<p class=\"bad\">The coordinator is busy or stopping and has not "
        "answered in time.</p>\n";
    return Page("rapideye", /*refresh=*/true, body);
  }
  body += Job(*status);
  return Page(absl::StrCat("rapideye: ", status->job), /*refresh=*/true, body);
}

std::string IncidentsPage(const std::vector<IncidentSummary>& incidents, bool newest_only) {
  std::string body = "<h1>Incidents</h1>\n";
  if (incidents.empty()) body += "<p>None.</p>\n";
  if (newest_only) absl::StrAppend(&body, "<p>The newest ", incidents.size(), ".</p>\n");
  if (!incidents.empty()) {
    Table table({"incident", "detected", "job", "cause", "confidence", "culprits", "as"});
    for (const IncidentSummary& incident : incidents) {
      std::string culprits;
      for (const std::string& host : incident.culprits) {
        absl::StrAppend(&culprits, culprits.empty() ? "" : ", ", Html(host));
      }
      if (incident.culprit_hosts > incident.culprits.size()) {
        absl::StrAppend(&culprits, ", … and ", incident.culprit_hosts - incident.culprits.size(),
                        " more");
      }
      if (!incident.problem.empty()) culprits = absl::StrCat("damaged: ", Html(incident.problem));
      const std::string link = absl::StrCat("<a href=\"/incidents/", Html(incident.id));
      table.Row(
          {IncidentLink(incident.id), Html(incident.detected_at), Html(incident.job),
           absl::StrCat(
               Html(incident.cause), incident.detail.empty() ? "" : " ", Html(incident.detail),
               incident.revision > 1 ? absl::StrCat(" (revision ", incident.revision, ")") : ""),
           incident.confidence ? absl::StrFormat("%.2f", *incident.confidence) : "", culprits,
           absl::StrCat(link, ".txt\">text</a> ", link, ".json\">JSON</a> ", link,
                        ".capture.jsonl.gz\">capture</a> ", link, ".hooks.json\">hooks</a>")});
    }
    body += std::move(table).Done();
  }
  return Page("rapideye: incidents", /*refresh=*/false, body);
}

}  // namespace rapideye::coordinator
