#include "coordinator/server/fleet_page.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "coordinator/fleet/reports.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/server/html_page.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

using digest::Html;

constexpr size_t kMaxOffenders = 100;
constexpr size_t kMaxMachines = 8;
constexpr size_t kMaxHappenings = 20;

absl::StatusOr<std::unique_ptr<Database>> OpenHistory(const std::string& url) {
  auto database = OpenDatabase(url, IfMissing::kFail);
  if (!database.ok()) return database.status();
  if (absl::Status status = CheckSchema(**database); !status.ok()) return status;
  return database;
}

const char* Tone(const std::string& action) {
  return action == "remove" ? "red" : action == "watch" ? "amber" : "grey";
}

std::string ActionHtml(const std::string& action, const std::string& reason,
                       const std::string& rule) {
  return absl::StrCat("<span class=\"pill ", Tone(action), "\">", Html(action), "</span> ",
                      Html(reason), " <code>", Html(rule), "</code>");
}

absl::StatusOr<std::string> BreakerHtml(Database& database, RemovalMode mode) {
  History history(database);
  const auto breaker = history.BreakerOf(mode);
  if (!breaker.ok()) return breaker.status();
  const auto roles = history.StoppedRoles(mode);
  if (!roles.ok()) return roles.status();
  std::string html = absl::StrCat("<li>", std::string(RemovalModeName(mode)), ": ");
  if (breaker->open) {
    absl::StrAppend(&html, "<span class=\"pill red\">open</span> since ", TimeHtml(breaker->since),
                    ", no removals: ", Html(breaker->reason));
  } else {
    html +=
        "<span class=\"pill green\">closed</span> removals go on as far as policy and budget "
        "allow";
  }
  if (!roles->empty()) {
    absl::StrAppend(&html, "; open for what ", Html(absl::StrJoin(*roles, ", ")), " recorded");
  }
  if (mode == RemovalMode::kEnforce) {
    const auto waiting = HooksWaiting(database);
    if (!waiting.ok()) return waiting.status();
    absl::StrAppend(&html, "; ", digest::Counted(*waiting, "hook"), " waiting");
  }
  return html + "</li>\n";
}

absl::StatusOr<std::string> OffendersHtml(Database& database, const FleetSource& source,
                                          absl::Time now) {
  const auto offenders = Offenders(database, now - source.window, now, kMaxOffenders);
  if (!offenders.ok()) return offenders.status();
  if (offenders->empty()) return "<p>No machine was named by an incident.</p>\n";
  HtmlTable table({"host", "machine", "incidents", "last", "causes", "latest decision"},
                  /*sortable=*/true);
  for (const Offender& offender : *offenders) {
    const auto decided = LatestDecisionAbout(database, offender.machine, source.mode);
    if (!decided.ok()) return decided.status();
    table.Row({Html(offender.host), absl::StrCat("<code>", Html(offender.machine), "</code>"),
               absl::StrCat(offender.incidents), TimeHtml(offender.last_seen),
               Html(absl::StrJoin(offender.causes, ", ")),
               decided->has_value() ? absl::StrCat(ActionHtml((*decided)->action,
                                                              (*decided)->reason, (*decided)->rule),
                                                   ", ", IncidentLink((*decided)->incident))
                                    : "–"});
  }
  return absl::StrCat("<div class=\"scroll\">\n", std::move(table).Done(), "</div>\n");
}

absl::StatusOr<std::string> PrecisionHtml(Database& database) {
  HtmlTable table({"mode", "cause", "right", "wrong", "not inspected", "precision"},
                  /*sortable=*/true);
  bool any = false;
  for (const RemovalMode mode : {RemovalMode::kEnforce, RemovalMode::kDryRun}) {
    const auto rows = PrecisionOf(database, mode);
    if (!rows.ok()) return rows.status();
    for (const Precision& row : *rows) {
      any = true;
      const int64_t known = row.right + row.wrong;
      table.Row({std::string(RemovalModeName(mode)),
                 absl::StrCat(Html(row.cause), row.detail.empty() ? "" : " ", Html(row.detail)),
                 absl::StrCat(row.right), absl::StrCat(row.wrong), absl::StrCat(row.unknown),
                 known == 0 ? "–"
                            : absl::StrFormat("%.1f %%", 100 * static_cast<double>(row.right) /
                                                             static_cast<double>(known))});
    }
  }
  return any ? std::move(table).Done()
             : std::string("<p>No removal has been decided on yet.</p>\n");
}

// The member of an object, if it is a string; "" otherwise.
std::string TextOf(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return "";
  return text::ValidUtf8(found->get_ref<const std::string&>(), text::kMaxSentenceBytes);
}

}  // namespace

absl::StatusOr<std::string> FleetPage(const FleetSource& source, absl::Time now) {
  const auto database = OpenHistory(source.url);
  if (!database.ok()) return database.status();
  const auto offenders = OffendersHtml(**database, source, now);
  if (!offenders.ok()) return offenders.status();
  std::string breakers;
  for (const RemovalMode mode : {RemovalMode::kEnforce, RemovalMode::kDryRun}) {
    const auto breaker = BreakerHtml(**database, mode);
    if (!breaker.ok()) return breaker.status();
    breakers += *breaker;
  }
  const auto precision = PrecisionHtml(**database);
  if (!precision.ok()) return precision.status();
  return FramePage(
      {.title = "rapideye: fleet", .path = "/fleet"},
      absl::StrCat("<section>\n<h1>Fleet</h1>\n<h2>Breaker</h2>\n<ul>\n", breakers,
                   "</ul>\n</section>\n<section>\n<h2>Offenders</h2>\n<p class=\"soft\">Machines "
                   "that incidents named in the last ",
                   absl::ToInt64Hours(source.window) / 24,
                   " days; decisions: ", std::string(RemovalModeName(source.mode)), ".</p>\n",
                   *offenders, "</section>\n<section>\n<h2>Precision of removals</h2>\n",
                   *precision, "</section>\n"));
}

absl::StatusOr<std::string> MachineHistoryHtml(const FleetSource& source,
                                               const std::string& incident) {
  const auto database = OpenHistory(source.url);
  if (!database.ok()) return database.status();
  const auto machines = MachinesOf(**database, incident);
  if (!machines.ok()) return machines.status();
  std::string html;
  for (size_t i = 0; i < machines->size() && i < kMaxMachines; ++i) {
    const NamedMachine& machine = (*machines)[i];
    const auto happenings = HistoryOf(**database, machine.machine);
    if (!happenings.ok()) return happenings.status();
    absl::StrAppend(&html, "<h3>", Html(machine.host), " <code>", Html(machine.machine),
                    "</code></h3>\n<ul>\n");
    const size_t skipped =
        happenings->size() > kMaxHappenings ? happenings->size() - kMaxHappenings : 0;
    if (skipped > 0) absl::StrAppend(&html, "<li>… ", skipped, " earlier</li>\n");
    for (size_t j = skipped; j < happenings->size(); ++j) {
      const Happening& one = (*happenings)[j];
      absl::StrAppend(&html, "<li>", TimeHtml(one.at), " ", Html(one.kind), ": ", Html(one.text),
                      one.incident.empty() || one.incident == incident
                          ? ""
                          : absl::StrCat(" (", IncidentLink(one.incident), ")"),
                      "</li>\n");
    }
    html += "</ul>\n";
  }
  if (machines->size() > kMaxMachines) {
    absl::StrAppend(&html, "<p>… and ", machines->size() - kMaxMachines, " more machines</p>\n");
  }
  return html;
}

std::string DecisionsHtml(const std::string& record) {
  const auto json = nlohmann::json::parse(record, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  std::string html;
  const auto list = [&](const char* key, const auto& to_html) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array() || found->empty()) return;
    html += "<ul>\n";
    for (size_t i = 0; i < found->size() && i < digest::kMaxListed; ++i) {
      absl::StrAppend(&html, "<li>", to_html((*found)[i]), "</li>\n");
    }
    html += "</ul>\n";
  };
  list("decisions", [&](const nlohmann::json& decision) {
    return absl::StrCat("<b>", Html(TextOf(decision, "host")), "</b> ",
                        ActionHtml(TextOf(decision, "action"), TextOf(decision, "reason"),
                                   TextOf(decision, "rule")),
                        " (", Html(TextOf(json, "mode")), ")");
  });
  list("hooks", [](const nlohmann::json& hook) {
    return absl::StrCat("Hook <code>", Html(TextOf(hook, "hook")),
                        "</code>: ", Html(TextOf(hook, "state")), " ",
                        Html(TextOf(hook, "outcome")));
  });
  return html;
}

std::string WithLastSection(std::string page, const std::string& html) {
  const size_t end = page.rfind("</main>");
  if (end == std::string::npos || html.empty()) return page;
  page.insert(end, absl::StrCat("<section>\n", html, "</section>\n"));
  return page;
}

}  // namespace rapideye::coordinator
