#include "coordinator/server/web.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"
#include "coordinator/server/html_page.h"
#include "coordinator/server/web_pages.h"
#include "coordinator/store/incident_files.h"
#include "digest/html_text.h"
#include "proto/common/clock/clock.h"
#include "proto/common/metrics/metric_page.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {
namespace {

constexpr char kIncidents[] = "/incidents/";
constexpr char kNewest[] = "latest";
constexpr char kHtmlType[] = "text/html; charset=utf-8";
// Pages that wait for the fleet history at once, and their patience: then they come without it.
constexpr int kMaxPagesFromFleet = 2;
constexpr absl::Duration kFleetPatience = absl::Seconds(3);
constexpr char kPolicy[] = "Content-Security-Policy";

http::Response Text(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n", .headers = {}};
}

http::Response HtmlResponse(std::string page) {
  return {.content_type = kHtmlType, .body = std::move(page), .headers = {{kPolicy, PagePolicy()}}};
}

http::Response Failure(const absl::Status& status) {
  const int code = absl::IsNotFound(status)                                           ? 404
                   : absl::IsInvalidArgument(status)                                  ? 400
                   : absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ? 503
                                                                                      : 500;
  return Text(code, std::string(status.message()));
}

// The suffix after an incident's id selects its form.
struct Form {
  const char* suffix;
  IncidentForm form;
  const char* content_type;
};
constexpr Form kForms[] = {
    {".html", IncidentForm::kHtml, kHtmlType},
    {".hooks.json", IncidentForm::kHooks, "application/json"},
    {".json", IncidentForm::kJson, "application/json"},
    {".txt", IncidentForm::kText, "text/plain; charset=utf-8"},
    {".capture.jsonl.gz", IncidentForm::kCapture, "application/gzip"},
    {"", IncidentForm::kHtml, kHtmlType},
};

http::Response DocumentOf(const IncidentArchive& archive, const std::string& id, const Form& form) {
  absl::StatusOr<std::string> document = archive.Read(id, form.form);
  if (!document.ok()) return Failure(document.status());
  http::Response response = {
      .content_type = form.content_type, .body = *std::move(document), .headers = {}};
  if (form.form == IncidentForm::kHtml) {
    // The page is a program of its own, which must not reach the other pages; the capture that it
    // links to is a download.
    response.headers.emplace_back(kPolicy,
                                  "default-src 'none'; style-src 'unsafe-inline'; script-src "
                                  "'unsafe-inline'; sandbox allow-scripts allow-downloads");
  } else if (form.form == IncidentForm::kCapture) {
    response.headers.emplace_back("Content-Disposition",
                                  absl::StrCat("attachment; filename=\"", id, form.suffix, "\""));
  }
  return response;
}

// Shows later events of the incident, after its page was written; "" for none.
std::string StateHtml(const IncidentArchive& archive, const std::string& id) {
  std::string html;
  if (const std::optional<EndedIncident> ended = archive.EndOf(id)) {
    IncidentSummary summary;
    summary.detected_at = TimeOfId(id);
    summary.ended = ended;
    absl::StrAppend(&html, "<p>Recovered after ",
                    AgeText(Lasted(summary).value_or(absl::ZeroDuration())),
                    ended->why.empty() ? "" : ": ", digest::Html(ended->why), "</p>\n");
  }
  if (const std::optional<Acknowledgement> by = archive.AcknowledgementOf(id)) {
    absl::StrAppend(&html, "<p>Acknowledged by ", digest::Html(by->by),
                    by->reason.empty() ? "" : ": ", digest::Html(by->reason), "</p>\n");
  }
  return html.empty() ? html : absl::StrCat("<h2>What has become of it</h2>\n", html);
}

// The page of an incident with links to the coordinator's other pages, which its file on disk
// cannot have. Unchanged if it has no links at all.
std::string WithWayBack(std::string page) {
  constexpr std::string_view kLinks = "<nav aria-label=\"Documents of the incident\">\n";
  const size_t at = page.find(kLinks);
  if (at == std::string::npos) return page;
  page.insert(at + kLinks.size(), "<a href=\"/\">Job</a>\n<a href=\"/incidents\">Incidents</a>\n");
  return page;
}

// The page of an incident, with the decisions since it was written.
http::Response WithDecisions(http::Response page, const IncidentArchive& archive,
                             const std::string& id) {
  const absl::StatusOr<std::string> record = archive.Read(id, IncidentForm::kHooks);
  const std::string decisions = record.ok() ? DecisionsHtml(*record) : "";
  page.body = WithLastSection(
      WithWayBack(std::move(page.body)),
      absl::StrCat(StateHtml(archive, id), "<h2>What was decided about the machines</h2>\n",
                   decisions.empty() ? "<p>Nothing is decided yet.</p>\n" : decisions));
  return page;
}

}  // namespace

struct Web::Waiting {
  Mutex mutex;  // guards the values of slots, too
  ConditionVariable changed;
  int for_disk ABSL_GUARDED_BY(mutex) = 0;
  int for_fleet ABSL_GUARDED_BY(mutex) = 0;
  bool stopping ABSL_GUARDED_BY(mutex) = false;

  // A value that another thread may deliver, or never.
  template <typename T>
  struct Slot {
    std::optional<T> value;
  };
  template <typename T>
  void Fill(Slot<T>& slot, T value) {
    const MutexLock lock(mutex);
    slot.value = std::move(value);
    changed.NotifyAll();
  }
  // nullopt if no value came in time, or Stop was called.
  template <typename T>
  std::optional<T> Await(Slot<T>& slot, absl::Duration patience) {
    const absl::Duration deadline = MonotonicTime() + patience;
    const MutexLock lock(mutex);
    while (!stopping && !slot.value.has_value() && changed.WaitUntil(mutex, deadline)) {
    }
    return std::exchange(slot.value, std::nullopt);
  }
};

Web::Web(Sources sources)
    : sources_(std::move(sources)),
      waiting_(std::make_shared<Waiting>()),
      disk_(kMaxPagesFromDisk),
      fleet_(kMaxPagesFromFleet) {}

Web::~Web() {
  disk_.Abandon(kDiskPatience);
  fleet_.Abandon(kDiskPatience);
}

void Web::Stop() {
  {
    const MutexLock lock(waiting_->mutex);
    waiting_->stopping = true;
    waiting_->changed.NotifyAll();
  }
  disk_.Drop();
  fleet_.Drop();
}

std::shared_ptr<const JobStatus> Web::AskStatus() {
  using Status = std::shared_ptr<const JobStatus>;
  auto slot = std::make_shared<Waiting::Slot<Status>>();
  sources_.cache->Ask(MonotonicTime(), [waiting = waiting_, slot](Status status) {
    waiting->Fill(*slot, std::move(status));
  });
  return waiting_->Await(*slot, kStatusPatience).value_or(nullptr);
}

http::Response Web::FromDisk(std::function<http::Response(const IncidentArchive&)> work) {
  http::Response busy = Text(503, "the state directory is slow, or much is asked; try again");
  busy.headers.emplace_back("Retry-After", "2");
  {
    const MutexLock lock(waiting_->mutex);
    if (waiting_->for_disk >= kMaxPagesFromDisk) return busy;
    ++waiting_->for_disk;
  }
  auto slot = std::make_shared<Waiting::Slot<http::Response>>();
  const bool posted =
      disk_.Post([waiting = waiting_, slot, archive = sources_.archive, work = std::move(work)] {
        waiting->Fill(*slot, work(*archive));
      });
  std::optional<http::Response> response;
  if (posted) response = waiting_->Await(*slot, kDocumentPatience);
  const MutexLock lock(waiting_->mutex);
  --waiting_->for_disk;
  return std::move(response).value_or(std::move(busy));
}

std::optional<std::string> Web::FromFleet(std::function<std::string(const FleetSource&)> work) {
  {
    const MutexLock lock(waiting_->mutex);
    if (waiting_->for_fleet >= kMaxPagesFromFleet) return std::nullopt;
    ++waiting_->for_fleet;
  }
  auto slot = std::make_shared<Waiting::Slot<std::string>>();
  const bool posted = fleet_.Post([waiting = waiting_, slot, source = sources_.fleet,
                                   work = std::move(work)] { waiting->Fill(*slot, work(source)); });
  std::optional<std::string> html;
  if (posted) html = waiting_->Await(*slot, kFleetPatience);
  const MutexLock lock(waiting_->mutex);
  --waiting_->for_fleet;
  return html;
}

http::Response Web::Fleet() {
  const std::optional<std::string> page = FromFleet([](const FleetSource& source) {
    absl::StatusOr<std::string> read = FleetPage(source, absl::Now());
    if (read.ok()) return *std::move(read);
    // A coordinator that may only add to the history cannot read a page of it.
    return FramePage(
        {.title = "rapideye: fleet", .path = "/fleet"},
        absl::StrCat("<section>\n<h1>Fleet</h1>\n<p>The fleet history cannot be read "
                     "here: ",
                     digest::Html(std::string(read.status().message())), "</p>\n</section>\n"));
  });
  if (page.has_value()) return HtmlResponse(*page);
  http::Response busy = Text(503, "the fleet history is slow, or much is asked; try again");
  busy.headers.emplace_back("Retry-After", "2");
  return busy;
}

http::Response Web::Health(bool readiness) {
  const Readings readings = sources_.read();
  const bool turns = readings.since_turn <= kLoopPatience;
  std::string text = turns ? "ok: the event loop turns"
                           : absl::StrCat("the event loop has not turned for ",
                                          absl::FormatDuration(readings.since_turn));
  // A coordinator that turned connections away so recently is still short of descriptors.
  const bool starved = readings.since_starved <= kStarvedPatience;
  const bool takes_agents = turns && !readings.stopping && !starved;
  if (readiness) {
    absl::StrAppend(
        &text,
        takes_agents ? "\nok: takes agents\n"
        : starved    ? "\ntakes no agents: no descriptors are left; raise the limit of open files "
                       "(LimitNOFILE, ulimit -n)\n"
                     : "\ntakes no agents\n",
        readings.disk.problem.empty() ? "ok: the state directory takes incidents"
                                      : absl::StrCat("degraded: ", readings.disk.problem));
  }
  return Text((readiness ? takes_agents : turns) ? 200 : 503, std::move(text));
}

http::Response Web::WithHistory(http::Response page, const std::string& id) {
  const std::optional<std::string> history =
      FromFleet([id](const FleetSource& source) -> std::string {
        absl::StatusOr<std::string> html = MachineHistoryHtml(source, id);
        if (html.ok() && html->empty()) return "<p>No machine is named.</p>\n";
        if (html.ok()) return *std::move(html);
        return absl::StrCat(
            "<p>Not known here: ", digest::Html(std::string(html.status().message())), "</p>\n");
      });
  page.body = WithLastSection(
      std::move(page.body),
      absl::StrCat("<h2>History of the machines</h2>\n",
                   history.value_or("<p>The fleet history has not answered in time.</p>\n")));
  return page;
}

// Leads to the incident's own address, so that a link which somebody copies stays true.
http::Response Web::Newest(const std::string& suffix) {
  return FromDisk([suffix](const IncidentArchive& archive) {
    const auto incidents = archive.List(1);
    if (!incidents.ok()) return Failure(incidents.status());
    if (incidents->empty()) return Text(404, "there are no incidents yet; see /incidents");
    http::Response response = Text(302, "the newest incident has an address of its own");
    response.headers.emplace_back("Location",
                                  absl::StrCat(kIncidents, incidents->front().id, suffix));
    return response;
  });
}

http::Response Web::Incident(const std::string& name) {
  for (const Form& form : kForms) {
    if (!absl::EndsWith(name, form.suffix)) continue;
    std::string id = name.substr(0, name.size() - std::string_view(form.suffix).size());
    if (id == kNewest) return Newest(form.suffix);
    if (!IsIncidentId(id)) break;
    const bool page = form.form == IncidentForm::kHtml;
    http::Response response = FromDisk([id, &form](const IncidentArchive& archive) {
      http::Response document = DocumentOf(archive, id, form);
      return form.form == IncidentForm::kHtml && document.status == 200
                 ? WithDecisions(std::move(document), archive, id)
                 : document;
    });
    return page && response.status == 200 ? WithHistory(std::move(response), id) : response;
  }
  return Text(404, "no incident has such a name; see /incidents");
}

http::Response Web::Answer(const http::Request& request) {
  const std::string& path = request.path;
  if (path == "/metrics") {
    Readings readings = sources_.read();
    readings.status = AskStatus();
    return {.content_type = metrics::kContentType,
            .body = RenderMetrics(readings, *sources_.telemetry),
            .headers = {}};
  }
  if (path == "/healthz") return Health(/*readiness=*/false);
  if (path == "/readyz") return Health(/*readiness=*/true);
  if (path == "/") return HtmlResponse(StatusPage(AskStatus().get(), sources_.read().disk));
  if (path == "/fleet") return Fleet();
  if (path == "/incidents") {
    return FromDisk([status = AskStatus()](const IncidentArchive& archive) {
      const auto incidents = archive.List(kMaxListedOnPage);
      if (!incidents.ok()) return Failure(incidents.status());
      return HtmlResponse(
          IncidentsPage(*incidents, incidents->size() == kMaxListedOnPage, status.get()));
    });
  }
  if (absl::StartsWith(path, kIncidents)) return Incident(path.substr(sizeof(kIncidents) - 1));
  return Text(
      404, "not here; there are / /incidents /incidents/latest /fleet /metrics /healthz /readyz");
}

}  // namespace rapideye::coordinator
