#include "coordinator/server/web_pages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "classifier/wording/wording.h"
#include "coordinator/core/launch_times.h"
#include "coordinator/server/html_page.h"
#include "coordinator/server/live_map.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {
namespace {

using digest::Html;

std::string Grouped(size_t number) { return digest::Grouped(static_cast<int64_t>(number)); }

std::string Counted(size_t number, const char* noun) {
  return digest::Counted(static_cast<int64_t>(number), noun);
}

// Hosts and causes that the list of incidents counts.
constexpr size_t kMaxTallied = 12;
// Late workers that the page's headline names.
constexpr size_t kMaxLateNamed = 3;
// A minute whose launches took so many times as long as usual stands out.
constexpr double kLateFactor = 1.5;

std::string Ago(absl::Duration duration) { return AgeText(duration); }

std::string Ago(const std::optional<absl::Duration>& duration) {
  return duration.has_value() ? AgeText(*duration) : "–";
}

// The first few of `all` hosts.
std::string Hosts(const std::vector<std::string>& hosts, size_t all) {
  std::string text;
  for (const std::string& host : hosts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", Html(host));
  }
  if (all > hosts.size()) absl::StrAppend(&text, ", … and ", all - hosts.size(), " more");
  return text;
}

// A part of the live page, which is replaced as a whole when it has changed. It exists
// even if it is empty; a part that begins with a heading is a card.
std::string Part(const char* name, const std::string& html) {
  const char* tag = absl::StartsWith(html, "<h2") ? "section" : "div";
  return absl::StrCat("<", tag, " data-part=\"", name, "\">", html, "</", tag, ">\n");
}

std::string CauseText(const std::string& cause, const std::string& detail) {
  return absl::StrCat(Html(cause), detail.empty() ? "" : " ", Html(detail));
}

std::vector<std::string> LateHosts(const JobStatus& status) {
  std::vector<std::string> hosts;
  for (const WorkerOnMap& one : status.workers) {
    if (one.state == WorkerState::kLate) hosts.push_back(one.host);
  }
  return hosts;
}

struct Said {
  const char* tone;  // of the hero: "" is red
  std::string sentence;
};

Said Describe(const JobStatus& status) {
  switch (status.activity) {
    case Activity::kLearning:
      return {" fine", "Learning: no launch has completed yet, or workers are still expected."};
    case Activity::kArmed: {
      const std::vector<std::string> late = LateHosts(status);
      if (late.empty()) return {" fine", "Watching: launches complete."};
      return {" open", absl::StrCat(late.size() <= kMaxLateNamed ? Hosts(late, late.size())
                                                                 : Counted(late.size(), "worker"),
                                    late.size() == 1 ? " is late" : " are late",
                                    ": no launch has completed for half of the time after which "
                                    "the alarm is raised.")};
    }
    case Activity::kCollecting:
      return {" open", "A hang is suspected: collecting evidence."};
    case Activity::kConcluding:
      return {" open", "A hang is suspected: classifying the evidence."};
    case Activity::kWaiting:
      return {"", "The job hangs; its digest is written. Waiting for the job to advance again."};
  }
  return {"", ""};
}

// The verdict on the present hang, under the same heading as the page of its incident.
std::string VerdictHtml(const ToldVerdict& verdict) {
  const std::string cause = CauseText(verdict.cause, verdict.detail);
  const std::string culprits = verdict.culprits.empty()
                                   ? "nobody can be named"
                                   : Hosts(verdict.culprits, verdict.culprit_hosts);
  if (verdict.sentence.empty()) {
    return absl::StrCat("<h1>", cause, ": ", culprits, "</h1>\n<p>", Html(verdict.headline),
                        "</p>\n");
  }
  return absl::StrCat("<h1>", Html(verdict.sentence), "</h1>\n<p><span class=\"pill ",
                      verdict.cause == CauseName(Cause::kUnknown) ? "amber" : "red", "\">", cause,
                      "</span> ", culprits, "</p>\n");
}

// Shows the state of the job, first. Its words change only with the state: the page's script
// speaks them.
std::string Hero(const JobStatus& status) {
  const auto [tone, sentence] = Describe(status);
  const bool hang = status.activity == Activity::kWaiting;
  std::string html = absl::StrCat("<div class=\"hero", tone, "\">\n<div>\n");
  if (hang && status.last_verdict.has_value()) {
    html += VerdictHtml(*status.last_verdict);
    absl::StrAppend(&html, "<p>", sentence, "</p>\n");
  } else {
    absl::StrAppend(&html, "<h1>", sentence, "</h1>\n");
  }
  if (status.last_incident.has_value()) {
    absl::StrAppend(
        &html, "<p>",
        hang ? "Its incident: " : "Last incident: ", IncidentLink(*status.last_incident),
        status.last_revision > 1 ? absl::StrCat(", revision ", status.last_revision) : "",
        "</p>\n");
  }
  if (status.acknowledged.has_value()) {
    const Acknowledgement& by = *status.acknowledged;
    absl::StrAppend(&html, "<p>Acknowledged by ", Html(by.by), by.reason.empty() ? "" : ": ",
                    Html(by.reason), "</p>\n");
  }
  if (status.pause.has_value()) {
    absl::StrAppend(&html, "<p><strong>The watch is paused</strong> by ", Html(status.pause->by),
                    ": ", Html(status.pause->reason), "</p>\n");
  }
  return html + "</div>\n</div>\n";
}

void AppendFact(const std::string& value, const std::string& what, std::string& page) {
  absl::StrAppend(&page, "<li><b>", value, "</b>", what, "</li>\n");
}

std::string FactsOf(const JobStatus& status) {
  std::string html = absl::StrCat("<h2>", status.job.empty() ? "no job yet" : Html(status.job),
                                  "</h2>\n<ul class=\"facts big\">\n");
  AppendFact(absl::StrCat(Grouped(status.connected), " of ", Grouped(status.expected)),
             "workers connected", html);
  AppendFact(Grouped(status.running), "with a runtime", html);
  AppendFact(status.since_completion.has_value() ? Ago(*status.since_completion) + " ago" : "–",
             "last completion", html);
  AppendFact(Ago(status.longest_launch), "longest healthy launch", html);
  AppendFact(Ago(status.longest_pause), "longest healthy pause", html);
  html += "</ul>\n<ul class=\"facts\">\n";
  if (status.generation.has_value()) {
    absl::StrAppend(&html, "<li>Chips: ", Html(*status.generation), "</li>\n");
  }
  if (status.incarnation.has_value()) {
    absl::StrAppend(&html, "<li>Incarnation: <code>", Html(*status.incarnation), "</code></li>\n");
  }
  html += "</ul>\n";
  if (status.waiting.has_value()) {
    absl::StrAppend(&html, "<p>Still for ", Ago(status.waiting->still_for), ", alarm at ",
                    Ago(status.waiting->threshold), ": ", Html(status.waiting->why), "</p>\n");
  }
  if (status.pause.has_value()) {
    absl::StrAppend(&html, "<p>The pause of the watch ends in ", Ago(status.pause->left),
                    ".</p>\n");
  }
  if (status.next_look.has_value()) {
    absl::StrAppend(&html, "<p>Looking again in ", Ago(status.next_look),
                    ", if the job still stands.</p>\n");
  }
  return html;
}

// The usual time of a launch: the median over minutes that had any.
absl::Duration UsualLaunch(const std::vector<LaunchMinute>& minutes) {
  std::vector<absl::Duration> means;
  for (const LaunchMinute& minute : minutes) {
    if (minute.launches > 0) means.push_back(minute.mean);
  }
  if (means.empty()) return absl::ZeroDuration();
  const auto middle = means.begin() + static_cast<std::ptrdiff_t>(means.size() / 2);
  std::nth_element(means.begin(), middle, means.end());
  return *middle;
}

// Launch times of the last hour, a bar a minute.
std::string Strip(const std::vector<LaunchMinute>& minutes) {
  if (minutes.empty()) return "";
  absl::Duration top = absl::Nanoseconds(1);
  for (const LaunchMinute& minute : minutes) top = std::max(top, minute.mean);
  const absl::Duration usual = UsualLaunch(minutes);
  size_t late = 0;
  size_t none = 0;
  // A coordinator that has just started does not know the rest of the hour.
  const size_t unknown = std::max(LaunchTimes::kMinutes, minutes.size()) - minutes.size();
  std::string bars;
  for (size_t i = 0; i < unknown; ++i) bars += "<span></span>";
  for (size_t i = 0; i < minutes.size(); ++i) {
    const LaunchMinute& minute = minutes[i];
    const size_t ago = minutes.size() - 1 - i;
    const std::string when = ago == 0 ? "this minute" : absl::StrCat(ago, " min ago");
    if (minute.launches == 0) {
      ++none;
      absl::StrAppend(&bars, "<span class=\"none\" title=\"", when, ": no launch\"></span>");
      continue;
    }
    const bool slow = minute.mean > kLateFactor * usual;
    if (slow) ++late;
    absl::StrAppend(
        &bars, "<span title=\"", when, ": ", Ago(minute.mean), " on average, ", Ago(minute.longest),
        " at most, ", minute.launches, " launches\"><i", slow ? " class=\"late\"" : "",
        " style=\"height:", static_cast<int>(100 * absl::FDivDuration(minute.mean, top)),
        "%\"></i></span>");
  }
  const std::string summary = absl::StrCat(
      "usually ", Ago(usual), " a launch, ", Ago(top), " in the slowest minute; ", late, " of ",
      Counted(minutes.size(), "minute"), " slow, ", none, " without a launch");
  return absl::StrCat(
      "<h2>Launch times of the last hour</h2>\n<p class=\"soft\">", summary,
      "</p>\n<div class=\"strip\" role=\"img\" aria-label=\"Launch times by minute: ", summary,
      "\">", bars, "</div>\n<p class=\"ends soft small\"><span>", unknown + minutes.size() - 1,
      " min ago</span><span>now</span></p>\n");
}

std::string Phases(const JobStatus& status) {
  std::map<Phase, size_t> counts;
  for (const WorkerOnMap& worker : status.workers) {
    if (worker.phase.has_value()) ++counts[*worker.phase];
  }
  if (counts.empty() && status.phases.empty()) return "";
  std::string html = "<h2>Phases</h2>\n<ul class=\"facts big\">\n";
  for (const auto& [name, count] : status.phases) {
    AppendFact(Grouped(count), Html(name), html);
  }
  for (const auto& [phase, count] : counts) {
    AppendFact(Grouped(count), std::string(PhaseText(phase)), html);
  }
  return html + "</ul>\n";
}

const char* SlowestTitle(const JobStatus& status) {
  const bool accused = !status.slowest.empty() && status.slowest.front().accused;
  return accused ? "Culprits, then who is longest without a completion"
                 : "Longest without a completion";
}

std::string Workers(const std::string& title, const std::vector<WorkerStatus>& workers) {
  if (workers.empty()) return "";
  HtmlTable table({"slice", "task", "host", "last completion", "launch in flight", "program"},
                  /*sortable=*/false);
  for (const WorkerStatus& worker : workers) {
    table.Row({absl::StrCat(worker.id.slice), absl::StrCat(worker.id.task),
               absl::StrCat(Html(worker.host), worker.accused ? " <b>culprit</b>" : ""),
               Ago(worker.since_completion), Ago(worker.in_flight_for),
               Html(worker.module.value_or(worker.fingerprint.value_or("")))},
              worker.accused ? " class=\"culprit\"" : "");
  }
  return absl::StrCat("<h2>", Html(title), "</h2>\n", std::move(table).Done());
}

std::string Cohorts(const JobStatus& status) {
  if (status.cohorts.size() <= 1) return "";
  HtmlTable table({"cohort", "workers", "programs of a step"}, /*sortable=*/false);
  for (const CohortStatus& cohort : status.cohorts) {
    std::string programs;
    for (const std::string& program : cohort.programs) {
      absl::StrAppend(&programs, programs.empty() ? "" : ", ", Html(program));
    }
    table.Row({Html(cohort.name), absl::StrCat(cohort.workers), programs});
  }
  return absl::StrCat("<h2>Cohorts: ", status.cohort_count, "</h2>\n", std::move(table).Done());
}

std::string DiskProblem(const DiskReport& disk) {
  if (disk.problem.empty()) return "";
  return absl::StrCat("<p class=\"bad\">Incidents do not come to disk (", disk.pending_incidents,
                      " wait in memory): ", Html(disk.problem), "</p>\n");
}

// An incident as its row shows it.
struct IncidentState {
  const char* name;
  std::optional<absl::Duration> lasted;
};

IncidentState StateOf(const IncidentSummary& incident, const JobStatus* status) {
  if (incident.ended.has_value()) return {"recovered", Lasted(incident)};
  if (status == nullptr) return {"unknown", std::nullopt};
  const bool open = status->last_incident == incident.id && status->activity != Activity::kArmed &&
                    status->activity != Activity::kLearning;
  if (open) return {"open", std::nullopt};
  for (const EndedIncident& ended : status->ended) {
    if (ended.id != incident.id) continue;
    absl::Time detected;
    if (!absl::ParseTime(absl::RFC3339_full, incident.detected_at, &detected, nullptr)) break;
    return {"recovered", ended.ended - detected};
  }
  return {"over", std::nullopt};
}

// The most frequent of `counts`, each a button that filters by it.
std::string Tally(const char* title, const char* field,
                  const std::map<std::string, size_t>& counts) {
  if (counts.empty()) return "";
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string html = absl::StrCat("<h2>", title, "</h2>\n<ul class=\"tally\">\n");
  for (size_t i = 0; i < sorted.size() && i < kMaxTallied; ++i) {
    const auto& [name, count] = sorted[i];
    absl::StrAppend(&html, "<li><button type=\"button\" data-field=\"", field, "\" data-value=\"",
                    Html(name), "\">", Html(name), " <b>", count, "</b></button></li>\n");
  }
  if (sorted.size() > kMaxTallied) {
    absl::StrAppend(&html, "<li>… and ", sorted.size() - kMaxTallied, " more</li>\n");
  }
  return html + "</ul>\n";
}

std::string FilterForm(const std::map<std::string, size_t>& causes) {
  std::string html =
      "<form id=\"filter\" class=\"filter\" role=\"search\" hidden>\n<label>Search<input "
      "type=\"search\" name=\"words\" autocomplete=\"off\"></label>\n<label>Cause<select "
      "name=\"cause\"><option value=\"\">any</option>";
  for (const auto& [cause, count] : causes) {
    absl::StrAppend(&html, "<option>", Html(cause), "</option>");
  }
  return html +
         "</select></label>\n<label>State<select name=\"state\"><option value=\"\">any</option>"
         "<option>open</option><option>recovered</option><option>over</option></select></"
         "label>\n<span id=\"shown\" "
         "role=\"status\" class=\"soft\"></span>\n</form>\n";
}

std::string IncidentTable(const std::vector<IncidentSummary>& incidents, const JobStatus* status) {
  HtmlTable table({"detected", "state", "cause", "culprits", "confidence", "job", "incident", "as"},
                  /*sortable=*/true);
  for (const IncidentSummary& incident : incidents) {
    std::string culprits = Hosts(incident.culprits, incident.culprit_hosts);
    if (!incident.problem.empty()) culprits = absl::StrCat("damaged: ", Html(incident.problem));
    const IncidentState state = StateOf(incident, status);
    absl::Time detected;
    const bool known =
        absl::ParseTime(absl::RFC3339_full, incident.detected_at, &detected, nullptr);
    const std::string link = absl::StrCat("<a href=\"/incidents/", Html(incident.id));
    table.Row(
        {known ? TimeHtml(detected) : Html(incident.detected_at),
         absl::StrCat("<span class=\"pill ",
                      std::string_view(state.name) == "open" ? "red" : "grey", "\">", state.name,
                      "</span>", state.lasted.has_value() ? " after " + Ago(*state.lasted) : "",
                      incident.acknowledged.has_value()
                          ? absl::StrCat(" acknowledged by ", Html(incident.acknowledged->by))
                          : ""),
         absl::StrCat(
             CauseText(incident.cause, incident.detail),
             incident.revision > 1 ? absl::StrCat(" (revision ", incident.revision, ")") : "",
             incident.sentence.empty() ? ""
                                       : absl::StrCat("<br><span class=\"soft small\">",
                                                      Html(incident.sentence), "</span>")),
         culprits, incident.confidence ? absl::StrFormat("%.2f", *incident.confidence) : "",
         Html(incident.job), IncidentLink(incident.id),
         absl::StrCat(link, ".txt\">text</a> ", link, ".json\">JSON</a> ", link,
                      ".capture.jsonl.gz\">capture</a> ", link, ".hooks.json\">hooks</a>")},
        absl::StrCat(" data-state=\"", state.name, "\" data-cause=\"", Html(incident.cause), "\""));
  }
  return absl::StrCat("<div class=\"scroll\" id=\"incidents\">\n", std::move(table).Done(),
                      "</div>\n");
}

}  // namespace

std::string StatusPage(const JobStatus* status, const DiskReport& disk) {
  std::string main = "<div id=\"live\">\n";
  if (status == nullptr) {
    absl::StrAppend(&main, Part("disk", DiskProblem(disk)),
                    Part("hero",
                         "<h1>rapideye</h1>\n<p "
                         "class=\"bad\">The coordinator is busy or stopping and has not answered "
                         "in time.</p>\n"));
    for (const char* part : {"facts", "strip", "map", "phases", "missing", "slowest", "cohorts"}) {
      main += Part(part, "");
    }
    return FramePage({.title = "rapideye", .path = "/", .live = true}, main + "</div>\n");
  }
  absl::StrAppend(
      &main, Part("disk", DiskProblem(disk)), Part("hero", Hero(*status)),
      Part("facts", FactsOf(*status)), Part("strip", Strip(status->last_hour)),
      Part("map", LiveMapSection(*status)), Part("phases", Phases(*status)),
      Part("missing", Workers(absl::StrCat("Missing: ",
                                           Counted(status->expected - status->connected, "worker")),
                              status->missing)),
      Part("slowest", Workers(SlowestTitle(*status), status->slowest)),
      Part("cohorts", Cohorts(*status)), "</div>\n");
  return FramePage({.title = absl::StrCat(status->activity == Activity::kWaiting ? "HANG: " : "",
                                          "rapideye: ", status->job),
                    .path = "/",
                    .live = true},
                   main);
}

std::string IncidentsPage(const std::vector<IncidentSummary>& incidents, bool newest_only,
                          const JobStatus* status) {
  std::string main = "<section>\n<h1>Incidents</h1>\n";
  if (incidents.empty()) main += "<p>None.</p>\n";
  if (newest_only) absl::StrAppend(&main, "<p>The newest ", incidents.size(), ".</p>\n");
  std::map<std::string, size_t> causes;
  std::map<std::string, size_t> hosts;
  for (const IncidentSummary& incident : incidents) {
    if (!incident.cause.empty()) ++causes[incident.cause];
    for (const std::string& host : incident.culprits) ++hosts[host];
  }
  if (!incidents.empty()) {
    absl::StrAppend(&main, FilterForm(causes), IncidentTable(incidents, status));
  }
  main += "</section>\n";
  if (!causes.empty()) {
    absl::StrAppend(&main, "<div class=\"two\">\n<section>", Tally("By cause", "cause", causes),
                    "</section>\n");
    if (!hosts.empty()) {
      absl::StrAppend(&main, "<section>", Tally("By host", "words", hosts), "</section>\n");
    }
    main += "</div>\n";
  }
  return FramePage({.title = "rapideye: incidents", .path = "/incidents"}, main);
}

}  // namespace rapideye::coordinator
