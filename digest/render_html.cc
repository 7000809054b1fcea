#include "digest/render_html.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "digest/commands.h"
#include "digest/html_assets.h"
#include "digest/html_chain.h"
#include "digest/html_map.h"
#include "digest/html_text.h"
#include "digest/html_timeline.h"
#include "digest/html_why.h"
#include "digest/sentence.h"
#include "proto/common/release/release.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

constexpr size_t kMaxCulpritsOnTop = 5;

// The name of a file of the incident's folder, beside which the page stands; empty: it can be none.
std::string FileName(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_');
  });
  return plain && !name.empty() && name.front() != '.' ? name : "";
}

// A link to a file beside the page. Where a coordinator serves the page the file is called after
// the incident: `served` is its suffix there, empty where it is not served.
void AppendLink(const std::string& path, const char* name, const char* served, std::string& page) {
  const std::string file = FileName(path);
  if (file.empty()) return;
  absl::StrAppend(&page, "<a href=\"", file, "\" data-served=\"", served, "\">", name, "</a>\n");
}

void AppendBar(const Report& report, std::string& page) {
  absl::StrAppend(
      &page, "<header class=\"bar\">\n<b>rapideye</b>\n<span>", Html(report.job),
      "</span>\n<code class=\"soft\">", Html(report.incident_id), "</code>\n",
      report.snapshot ? "<span class=\"pill grey\">Snapshot, no incident</span>\n" : "");
  if (report.revision > 1) {
    absl::StrAppend(&page, "<span class=\"pill grey\">Revision ", report.revision, "</span>\n");
  }
  const Files& files = report.files;
  if (!files.html.empty()) {
    page += "<nav aria-label=\"Documents of the incident\">\n";
    AppendLink(files.text, "Text", ".txt", page);
    AppendLink(files.json, "JSON", ".json", page);
    AppendLink(files.capture, "Capture", ".capture.jsonl.gz", page);
    // The store writes this file beside the others once something was decided.
    AppendLink("hooks.json", "Decisions", ".hooks.json", page);
    for (size_t i = 0; i < files.hlo.size() && i < 2; ++i) {
      AppendLink(files.hlo[i], i == 0 ? "HLO" : "HLO of the other side", "", page);
    }
    page += "</nav>\n";
  }
  page += "</header>\n";
}

std::string PlaceHtml(const ReportCulprit& culprit) {
  std::string html = WorkerHtml(culprit.worker);
  if (culprit.chip) absl::StrAppend(&html, " chip ", *culprit.chip);
  if (culprit.core_type && *culprit.core_type != CoreType::kUnspecified) {
    absl::StrAppend(&html,
                    *culprit.core_type == CoreType::kTensorCore ? " TensorCore" : " SparseCore");
    if (culprit.core_index) absl::StrAppend(&html, " ", *culprit.core_index);
  }
  if (culprit.nic) absl::StrAppend(&html, " ", Html(*culprit.nic));
  return html;
}

// A list of culprits; those that follow each other for one reason share an entry: "a, b: why".
void AppendCulprits(std::span<const ReportCulprit> culprits, std::string& page) {
  std::vector<std::string> entries;
  for (size_t i = 0; i < culprits.size();) {
    const size_t first = i;
    const std::string& why = culprits[i].why;
    std::string entry;
    do {
      absl::StrAppend(&entry, entry.empty() ? "" : ", ", PlaceHtml(culprits[i]));
    } while (++i < culprits.size() && culprits[i].why == why);
    // A reason that names its workers needs no label.
    const bool named = std::all_of(
        culprits.begin() + static_cast<std::ptrdiff_t>(first),
        culprits.begin() + static_cast<std::ptrdiff_t>(i),
        [&why](const ReportCulprit& culprit) { return NamesWorker(why, culprit.worker); });
    entries.push_back(why.empty() ? entry
                      : named     ? Html(why)
                                  : absl::StrCat(entry, ": ", Html(why)));
  }
  if (!entries.empty())
    AppendList(page, "ul", entries, [](const std::string& html) { return html; });
}

size_t Chips(const Report& report) {
  std::vector<std::pair<size_t, int32_t>> chips;
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      for (const CoreAt& core : position.cores) {
        if (core.chip) chips.emplace_back(core.worker, *core.chip);
      }
    }
  }
  std::sort(chips.begin(), chips.end());
  return static_cast<size_t>(std::unique(chips.begin(), chips.end()) - chips.begin());
}

void AppendFacts(const Report& report, std::string& page) {
  page += "<ul class=\"facts big\">\n";
  const auto fact = [&page](const std::string& value, const char* what) {
    absl::StrAppend(&page, "<li><b>", Html(value), "</b>", what, "</li>\n");
  };
  const LastMinutes& minutes = report.last_minutes;
  const bool hang = report.cause != Cause::kNoHang;
  if (minutes.step) fact(Grouped(*minutes.step), "step");
  if (hang && minutes.still_ms && *minutes.still_ms > 0) {
    fact(Duration(*minutes.still_ms), "stood still when collected");
    constexpr double kHourMs = 3'600'000;
    const double hours =
        static_cast<double>(Chips(report)) * static_cast<double>(*minutes.still_ms) / kHourMs;
    // A capture from elsewhere may state any age.
    if (hours >= 0.1 && hours < 1e9) {
      fact(absl::StrCat(Grouped(static_cast<int64_t>(hours)), ".",
                        static_cast<int64_t>(hours * 10) % 10),
           "chip-hours lost until then");
    }
  }
  if (report.timings) {
    fact(Duration(report.timings->detect_to_collect_ms + report.timings->collect_ms +
                  report.timings->classify_ms),
         "from alarm to digest");
  }
  fact(absl::StrCat(Grouped(static_cast<int64_t>(report.reported)), " of ",
                    Grouped(static_cast<int64_t>(report.workers.size()))),
       "workers heard");
  page += "</ul>\n<ul class=\"facts\">\n";
  const auto detail = [&page](const char* what, const std::optional<std::string>& value) {
    if (value) absl::StrAppend(&page, "<li>", what, ": <code>", Html(*value), "</code></li>\n");
  };
  detail("Incarnation", report.job_incarnation);
  detail("Trigger", report.trigger);
  detail("Noticed by", report.noticed_by);
  page += "</ul>\n";
}

void AppendVerdict(const Report& report, std::string& page) {
  const OneSentence sentence = WriteSentence(report);
  const bool hang = report.cause != Cause::kNoHang;
  const char* tone = !hang ? "green" : report.cause == Cause::kUnknown ? "amber" : "red";
  absl::StrAppend(
      &page, "<div>\n<h1>", Html(sentence.what),
      sentence.waits.empty() ? "" : absl::StrCat(" <span>", Html(sentence.waits), "</span>"),
      "</h1>\n<p><span class=\"pill ", tone, "\">", Html(CauseTitle(report.cause, report.detail)),
      "</span>");
  if (report.confidence) {
    absl::StrAppend(&page, " <span class=\"pill grey\">",
                    static_cast<int>(*report.confidence * 100 + 0.5),
                    " of 100 such verdicts are right</span>");
  }
  if (report.by_logs && hang) {
    page += " <span class=\"pill grey\">nothing is known of the cores</span>";
  }
  page += "</p>\n";
  const std::span culprits(report.culprits);
  const auto first = culprits.first(std::min(culprits.size(), kMaxCulpritsOnTop));
  AppendCulprits(first, page);
  if (culprits.size() > first.size()) {
    absl::StrAppend(&page, "<details><summary>",
                    Counted(static_cast<int64_t>(culprits.size() - first.size()), "more culprit"),
                    "</summary>\n");
    AppendCulprits(culprits.subspan(first.size()), page);
    page += "</details>\n";
  }
  AppendFacts(report, page);
  // Of a failed worker the digest's first line only leads to a list; without a hang it repeats.
  if (hang && report.cause != Cause::kUnrecoverableError) {
    absl::StrAppend(&page, "<p class=\"soft small\">", Html(report.headline), "</p>\n");
  }
  page += "</div>\n";
}

void AppendRemoval(const Report& report, std::string& page) {
  absl::StrAppend(&page, "<h3>Removal from the fleet</h3>\n<p><b>",
                  report.removal.eligible ? "This capture alone allows it" : "Not by this capture",
                  "</b>");
  for (const RemovalTarget& target : report.removal.targets) {
    absl::StrAppend(&page, " <code>", Html(text::EscapeName(target.host)), "</code>");
    if (target.nic) absl::StrAppend(&page, " (", Html(*target.nic), ")");
    if (target.chip) absl::StrAppend(&page, " (chip ", *target.chip, ")");
  }
  absl::StrAppend(&page, ": ", Html(report.removal.reason), "</p>\n");
}

void AppendNext(const Report& report, std::string& page) {
  page += "<div>\n<h2>What to do next</h2>\n";
  if (report.actions.empty()) {
    page += "<p>Nothing.</p>\n";
  } else {
    AppendList(page, "ol", report.actions, [](const RecommendedAction& action) {
      std::string html = Html(action.description);
      if (!html.empty() && !std::ispunct(static_cast<unsigned char>(html.back()))) html += ".";
      // Shown, not linked: the address may come from anywhere.
      if (action.documentation_url) {
        absl::StrAppend(&html, " See <code>", Html(*action.documentation_url), "</code>");
      }
      return html;
    });
  }
  const std::vector<Command> commands = NextCommands(report);
  if (!commands.empty()) {
    AppendList(page, "ul class=\"commands\"", commands, [](const Command& command) {
      return absl::StrCat(Html(command.purpose), "<span class=\"cmd\"><code>", Html(command.text),
                          "</code><button type=\"button\" class=\"copy\" aria-label=\"Copy: ",
                          Html(command.text), "\">Copy</button></span>");
    });
  }
  if (report.cause != Cause::kNoHang) AppendRemoval(report, page);
  page += "</div>\n";
}

}  // namespace

std::string RenderHtml(const Report& report) {
  const OneSentence sentence = WriteSentence(report);
  std::string page = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      Html(sentence.what), " · ", Html(report.job), "</title>\n<style>", kPageStyle,
      "</style>\n</head>\n<body>\n");
  AppendBar(report, page);
  const char* tone = report.cause == Cause::kNoHang    ? " fine"
                     : report.cause == Cause::kUnknown ? " open"
                                                       : "";
  absl::StrAppend(&page, "<main>\n<div class=\"hero", tone, "\">\n");
  AppendVerdict(report, page);
  AppendNext(report, page);
  page += "</div>\n";
  page += ChainSection(report);
  page += HloSection(report);
  page += MapSection(report);
  page += TimelineSection(report);
  absl::StrAppend(&page, "<div class=\"two\">\n", WhySection(report), StacksSection(report),
                  "</div>\n");
  page += LogSection(report);
  page += StatesSection(report);
  page += ReasonsSection(report);
  absl::StrAppend(&page, "<p class=\"soft\">Written by rapideye ", Html(Release()),
                  ".</p>\n<p id=\"said\" role=\"status\" "
                  "class=\"unseen\"></p>\n</main>\n<script>",
                  kPageScript, "</script>\n</body>\n</html>\n");
  return page;
}

}  // namespace rapideye::digest
