#include "digest/render_html.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "digest/fold.h"
#include "digest/html_assets.h"
#include "digest/html_map.h"
#include "digest/stack_groups.h"
#include "digest/text_states.h"
#include "digest/wording.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

// Rows that a browser still sorts at once; the rest is in the JSON.
constexpr size_t kMaxTableRows = 2000;
constexpr size_t kMaxListed = 500;
constexpr size_t kMaxHostsBytes = 600;

std::string Html(std::string_view text) { return text::EscapeHtml(text, text::kMaxSentenceBytes); }

// <ul>, one element each, at most kMaxListed.
template <typename List, typename ToHtml>
void AppendList(std::string& page, const char* tag, const List& list, ToHtml to_html) {
  absl::StrAppend(&page, "<", tag, ">\n");
  for (size_t i = 0; i < list.size() && i < kMaxListed; ++i) {
    absl::StrAppend(&page, "<li>", to_html(list[i]), "</li>\n");
  }
  if (list.size() > kMaxListed) {
    absl::StrAppend(&page, "<li>… and ", list.size() - kMaxListed, " more</li>\n");
  }
  absl::StrAppend(&page, "</", tag, ">\n");
}

std::string CauseHtml(Cause cause, Detail detail) {
  std::string text = PotentialCause(cause);
  if (detail != Detail::kNone) absl::StrAppend(&text, " (", std::string(DetailName(detail)), ")");
  return text;
}

std::string PercentHtml(double confidence) {
  return absl::StrCat(static_cast<int>(confidence * 100 + 0.5), " %");
}

std::string WorkerHtml(const ReportWorker& worker) {
  return absl::StrCat("<code>", Html(text::EscapeName(worker.host)), "</code> (slice ",
                      worker.id.slice, " task ", worker.id.task, ")");
}

std::string CulpritHtml(const ReportCulprit& culprit) {
  std::string html = WorkerHtml(culprit.worker);
  if (culprit.chip) absl::StrAppend(&html, " chip ", *culprit.chip);
  if (culprit.core_type) absl::StrAppend(&html, " ", CoreTypeName(*culprit.core_type));
  if (culprit.core_index) absl::StrAppend(&html, " ", *culprit.core_index);
  if (culprit.nic) absl::StrAppend(&html, " ", Html(*culprit.nic));
  if (!culprit.why.empty()) absl::StrAppend(&html, ": ", Html(culprit.why));
  return html;
}

void AppendFact(std::string& page, const char* what, const std::optional<std::string>& value) {
  if (!value) return;
  absl::StrAppend(&page, "<span>", what, ": <code>", Html(*value), "</code></span>\n");
}

void AppendVerdict(const Report& report, std::string& page) {
  absl::StrAppend(
      &page, "<div class=\"verdict", report.cause == Cause::kNoHang ? " fine" : "", "\">\n<h1>",
      Html(report.headline), "</h1>\n<p>", CauseHtml(report.cause, report.detail),
      report.confidence ? ", confidence " + PercentHtml(*report.confidence) : "", "</p>\n");
  AppendList(page, "ul", report.culprits, CulpritHtml);
  page += "</div>\n<h2>What to do next</h2>\n";
  AppendList(page, "ol", report.actions, [](const RecommendedAction& action) {
    std::string html = Html(action.description);
    // Shown, not linked: the address may come from anywhere.
    if (action.documentation_url) absl::StrAppend(&html, " See ", Html(*action.documentation_url));
    return html;
  });
  absl::StrAppend(&page, "<p>Removal: ", report.removal.eligible ? "eligible" : "not eligible");
  for (const RemovalTarget& target : report.removal.targets) {
    absl::StrAppend(&page, " <code>", Html(text::EscapeName(target.host)), "</code>");
    if (target.nic) absl::StrAppend(&page, " (", Html(*target.nic), ")");
    if (target.chip) absl::StrAppend(&page, " (chip ", *target.chip, ")");
  }
  absl::StrAppend(&page, ": ", Html(report.removal.reason), "</p>\n<p class=\"facts\">\n");
  AppendFact(page, "Job", report.job);
  AppendFact(page, "Incarnation", report.job_incarnation);
  AppendFact(page, "Incident", report.incident_id);
  if (report.revision > 1) AppendFact(page, "Revision", absl::StrCat(report.revision));
  AppendFact(page, "Trigger", report.trigger);
  AppendFact(page, "Noticed by", report.noticed_by);
  absl::StrAppend(&page, "<span>Workers: ", report.reported, " of ", report.workers.size(),
                  " reported</span>\n</p>\n");
}

void AppendMap(const Report& report, std::string& page) {
  absl::StrAppend(&page,
                  "<h2>Map</h2>\n<p>A box is a host, a column a chip, a cell a core.</p>\n"
                  "<div id=\"map\"></div>\n<p id=\"legend\" class=\"legend\"></p>\n"
                  "<div id=\"tip\"></div>\n<script type=\"application/json\" id=\"map-data\">",
                  MapData(report), "</script>\n");
}

void AppendWaiting(const Report& report, std::string& page) {
  std::vector<const Reason*> steps;
  for (const Reason& reason : report.reasons) {
    if (reason.rule == "wait_graph") steps.push_back(&reason);
  }
  if (steps.empty() && report.links.empty()) return;
  page += "<h2>Who waits for whom</h2>\n";
  AppendList(page, "ul", steps, [](const Reason* reason) { return Html(reason->text); });
  if (report.links.empty()) return;
  if (!report.partition[0].empty()) {
    page += "<p>Cut between:</p>\n";
    AppendList(page, "ul", report.partition, [](const std::vector<ReportWorker>& side) {
      std::vector<std::string> hosts;
      for (const ReportWorker& worker : side) hosts.push_back(WorkerHtml(worker));
      return absl::StrJoin(hosts, ", ");
    });
  }
  page += "<p>Broken links:</p>\n";
  AppendList(page, "ul", report.links, [](const ReportLink& link) {
    std::string html = absl::StrCat(WorkerHtml(link.from), " → ", WorkerHtml(link.to));
    if (link.nic) absl::StrAppend(&html, " over ", Html(*link.nic));
    if (!link.why.empty()) absl::StrAppend(&html, ": ", Html(link.why));
    return html;
  });
}

void AppendStacks(const Report& report, std::string& page) {
  if (report.stack_groups.empty()) return;
  absl::StrAppend(&page, "<h2>Where the main threads stand</h2>\n<p>",
                  Html(StackGroupsText(report)), "</p>\n");
  AppendList(page, "ul", report.stack_groups, [&](const StackGroup& group) {
    std::vector<std::string> hosts;
    for (const size_t worker : group.workers) {
      hosts.push_back(text::EscapeName(report.workers[worker].host));
    }
    return absl::StrCat(Html(text::JoinBounded(FoldNames(std::move(hosts)), kMaxHostsBytes)),
                        ": <span class=\"data\">", Html(absl::StrJoin(group.frames, " ← ")),
                        "</span>");
  });
}

std::string HostsHtml(const Report& report, const Position& position) {
  std::vector<std::string> hosts;
  for (const CoreAt& core : position.cores) {
    hosts.push_back(text::EscapeName(report.workers[core.worker].host));
  }
  return Html(text::JoinBounded(FoldNames(std::move(hosts)), kMaxHostsBytes));
}

void AppendStates(const Report& report, std::string& page) {
  page +=
      "<h2>TPU states</h2>\n<table id=\"states\">\n<thead><tr><th>Cores</th><th>Module</th>"
      "<th>Launch</th><th>Fingerprint</th><th>Tag:PC(HLO)</th><th>Hosts</th></tr></thead>\n"
      "<tbody>\n";
  size_t rows = 0;
  size_t left_out = 0;
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      // Culprits are always shown, however many rows there are.
      if (rows >= kMaxTableRows && !position.culprit) {
        ++left_out;
        continue;
      }
      ++rows;
      absl::StrAppend(&page, position.culprit ? "<tr class=\"culprit\">" : "<tr>", "<td>",
                      position.cores.size(), "</td><td class=\"data\">", Html(ModuleText(group)),
                      "</td><td class=\"data\">",
                      group.launch_id ? absl::StrCat(*group.launch_id) : "none",
                      "</td><td class=\"data\">", Html(FingerprintText(group)),
                      "</td><td class=\"data\">", Html(PositionText(position)),
                      "</td><td class=\"data\">", HostsHtml(report, position), "</td></tr>\n");
    }
  }
  page += "</tbody>\n</table>\n";
  if (left_out > 0) absl::StrAppend(&page, "<p>… and ", left_out, " more positions</p>\n");
}

void AppendTimeline(const Report& report, std::string& page) {
  page += "<h2>Timeline</h2>\n<ol>\n";
  if (report.first_error) {
    absl::StrAppend(&page, "<li>", report.first_error->at.value_or("unknown time"),
                    ": first error, ", FirstErrorName(report.first_error->type), "</li>\n");
  }
  absl::StrAppend(&page, "<li>", report.detected_at.value_or("unknown time"), ": detected</li>\n");
  if (const auto& timings = report.timings) {
    absl::StrAppend(&page, "<li>", timings->detect_to_collect_ms, " ms later: collection began, ",
                    "took ", timings->collect_ms, " ms</li>\n<li>classified in ",
                    timings->classify_ms, " ms, rendered in ", timings->render_ms, " ms</li>\n");
  }
  page += "</ol>\n";
}

void AppendEvidence(const Report& report, std::string& page) {
  page += "<h2>Evidence</h2>\n";
  AppendList(page, "ul", report.evidence, [](const EvidenceItem& item) {
    return absl::StrCat("<span class=\"strength\">", std::string(StrengthName(item.strength)),
                        "</span> ", Html(item.statement));
  });
  if (!report.lacking.empty()) {
    page += "<h2>Missing evidence</h2>\n";
    AppendList(page, "ul", report.lacking, [](const std::string& text) { return Html(text); });
  }
  if (!report.missing.empty()) {
    page += "<h2>Missing workers</h2>\n";
    AppendList(page, "ul", report.missing, WorkerHtml);
  }
  if (report.alternatives.empty()) return;
  page += "<h2>Alternatives</h2>\n";
  AppendList(page, "ul", report.alternatives, [](const ReportAlternative& alternative) {
    std::string html =
        absl::StrCat(CauseHtml(alternative.cause, alternative.detail), ", confidence ",
                     PercentHtml(alternative.confidence), ": ", Html(alternative.why));
    std::vector<std::string> hosts;
    for (const ReportCulprit& culprit : alternative.culprits) {
      hosts.push_back(text::EscapeName(culprit.worker.host));
    }
    if (!hosts.empty()) {
      absl::StrAppend(&html, " <span class=\"names\">",
                      Html(text::JoinBounded(FoldNames(std::move(hosts)), kMaxHostsBytes)),
                      "</span>");
    }
    return html;
  });
}

void AppendReasons(const Report& report, std::string& page) {
  page += "<h2>How the verdict was reached</h2>\n";
  AppendList(page, "ol", report.reasons, [](const Reason& reason) {
    return absl::StrCat("<code>", Html(reason.rule), "</code> ", Html(reason.text));
  });
}

}  // namespace

std::string RenderHtml(const Report& report) {
  std::string page = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      PotentialCause(report.cause), ": ", Html(report.job), "</title>\n<style>", kPageStyle,
      "</style>\n</head>\n<body>\n");
  AppendVerdict(report, page);
  AppendMap(report, page);
  AppendWaiting(report, page);
  AppendStacks(report, page);
  AppendStates(report, page);
  AppendTimeline(report, page);
  AppendEvidence(report, page);
  AppendReasons(report, page);
  absl::StrAppend(&page, "<script>", kPageScript, "</script>\n</body>\n</html>\n");
  return page;
}

}  // namespace rapideye::digest
