#include "digest/html_why.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/wording/wording.h"
#include "digest/html_text.h"
#include "digest/stack_groups.h"
#include "digest/text_states.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

// Rows that a browser still sorts at once; the rest is in the JSON.
constexpr size_t kMaxTableRows = 2000;
// Evidence that is read without unfolding.
constexpr size_t kMaxEvidenceOnPage = 6;

// Red stands for what is wrong alone.
std::string StrengthPill(const Report& report, Strength strength) {
  const char* tone = report.cause == Cause::kNoHang  ? "green"
                     : strength == Strength::kDirect ? "red"
                     : strength == Strength::kStrong ? "amber"
                                                     : "grey";
  const char* name = strength == Strength::kDirect   ? "direct"
                     : strength == Strength::kStrong ? "strong"
                                                     : "weak";
  return absl::StrCat("<span class=\"pill ", tone, "\">", name, "</span>");
}

// The strongest first; without what the list of broken links says word for word.
std::vector<EvidenceItem> EvidenceForPage(const Report& report) {
  std::vector<EvidenceItem> evidence;
  for (const EvidenceItem& item : report.evidence) {
    const bool listed =
        std::any_of(report.links.begin(), report.links.end(),
                    [&item](const ReportLink& link) { return link.why == item.statement; });
    if (!listed || report.links.size() == 1) evidence.push_back(item);
  }
  std::stable_sort(
      evidence.begin(), evidence.end(),
      [](const EvidenceItem& a, const EvidenceItem& b) { return a.strength < b.strength; });
  return evidence;
}

std::string AlternativeHtml(const ReportAlternative& alternative) {
  std::string html =
      absl::StrCat(alternative.independent ? "Another fault: " : "", "<b>",
                   Html(CauseTitle(alternative.cause, alternative.detail)), "</b>, ",
                   static_cast<int>(alternative.confidence * 100 + 0.5), " %",
                   alternative.why.empty() ? "" : absl::StrCat(": ", Html(alternative.why)));
  std::vector<std::string> hosts;
  for (const ReportCulprit& culprit : alternative.culprits) {
    hosts.push_back(text::EscapeName(culprit.worker.host));
  }
  if (!hosts.empty()) absl::StrAppend(&html, " <code>", Html(FoldedHosts(hosts)), "</code>");
  return html;
}

std::string ConsideredHtml(const Report& report, const Considered& considered) {
  std::string html =
      absl::StrCat("<b>", Html(CauseTitle(considered.cause, considered.detail)), "</b>");
  std::vector<std::string> hosts;
  for (const ReportWorker& worker : report.workers) {
    if (std::binary_search(considered.workers.begin(), considered.workers.end(), worker.id)) {
      hosts.push_back(text::EscapeName(worker.host));
    }
  }
  if (!hosts.empty()) absl::StrAppend(&html, " at <code>", Html(FoldedHosts(hosts)), "</code>");
  return absl::StrCat(html, ": ", Html(WhyNotText(considered)));
}

std::string PositionHosts(const Report& report, const Position& position) {
  std::vector<size_t> workers;
  for (const CoreAt& core : position.cores) workers.push_back(core.worker);
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  return Html(FoldedHosts(report, workers));
}

size_t UnusedSparseCores(const Position& position) {
  if (!position.idle) return 0;
  return static_cast<size_t>(
      std::count_if(position.cores.begin(), position.cores.end(), [](const CoreAt& core) {
        return core.type == CoreType::kSparseCore || core.type == CoreType::kSparseCoreV0;
      }));
}

const char* OutcomeText(HloOutcome outcome) {
  switch (outcome) {
    case HloOutcome::kUnspecified:
      return "The texts were not compared.";
    case HloOutcome::kDifferent:
      return "The texts of the two programs differ.";
    case HloOutcome::kEqual:
      return "The texts of the two programs are equal, byte for byte.";
    case HloOutcome::kEqualButForNames:
      return "The texts of the two programs are equal but for names.";
    case HloOutcome::kEqualAsFarAsRead:
      return "The texts of the two programs are equal as far as they could be read.";
    case HloOutcome::kNotComparable:
      return "The texts of the two programs cannot be compared.";
    case HloOutcome::kKernelOrItsSource:
      return "Only the body of a kernel differs, which holds the lines of its source.";
  }
  return "";
}

// Instructions of more tokens are shown without marks: comparing them takes the square of this.
constexpr size_t kMaxTokens = 400;

// Names, numbers, and every other byte by itself; bytes of a character stay together.
std::vector<std::string_view> Tokens(std::string_view text) {
  const auto in_name = [](unsigned char c) {
    return c >= 0x80U || std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-' || c == '%';
  };
  std::vector<std::string_view> tokens;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    if (in_name(static_cast<unsigned char>(text[begin]))) {
      while (end < text.size() && in_name(static_cast<unsigned char>(text[end]))) ++end;
    }
    tokens.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

// Marks the tokens of `own` that are in no longest common subsequence with `theirs`.
std::vector<bool> Differing(const std::vector<std::string_view>& own,
                            const std::vector<std::string_view>& theirs) {
  std::vector<bool> differs(own.size(), false);
  if (own.size() > kMaxTokens || theirs.size() > kMaxTokens) return differs;
  const size_t columns = theirs.size() + 1;
  std::vector<uint16_t> common((own.size() + 1) * columns, 0);
  for (size_t i = own.size(); i-- > 0;) {
    for (size_t j = theirs.size(); j-- > 0;) {
      common[i * columns + j] =
          own[i] == theirs[j]
              ? static_cast<uint16_t>(common[(i + 1) * columns + j + 1] + 1)
              : std::max(common[(i + 1) * columns + j], common[i * columns + j + 1]);
    }
  }
  for (size_t i = 0, j = 0; i < own.size();) {
    if (j < theirs.size() && own[i] == theirs[j]) {
      ++i;
      ++j;
    } else if (j < theirs.size() && common[i * columns + j + 1] >= common[(i + 1) * columns + j]) {
      ++j;
    } else {
      differs[i++] = true;
    }
  }
  return differs;
}

// The instruction, with the parts marked that differ from the other side's.
std::string InstructionHtml(const HloSide& side, const HloSide& other) {
  if (!side.instruction) return "";
  if (side.instruction->empty()) return "<p class=\"bad\">The computation ends before.</p>\n";
  const std::vector<std::string_view> own = Tokens(*side.instruction);
  const std::vector<bool> differs =
      Differing(own, Tokens(other.instruction ? std::string_view(*other.instruction) : ""));
  std::string html = "<pre tabindex=\"0\">";
  for (size_t i = 0; i < own.size(); ++i) {
    if (differs[i] && (i == 0 || !differs[i - 1])) html += "<mark>";
    html += Html(own[i]);
    if (differs[i] && (i + 1 == own.size() || !differs[i + 1])) html += "</mark>";
  }
  return html + "</pre>\n";
}

std::string SideHtml(const Report& report, const HloSide& side, const HloSide& other) {
  std::string host = absl::StrCat("slice ", side.worker.slice, " task ", side.worker.task);
  for (const ReportWorker& worker : report.workers) {
    if (worker.id == side.worker) host = text::EscapeName(worker.host);
  }
  std::string html = absl::StrCat("<div>\n<h3><code>", Html(host), "</code></h3>\n<dl>\n");
  const auto entry = [&html](const char* what, std::string_view value) {
    if (value.empty()) return;
    absl::StrAppend(&html, "<dt>", what, "</dt><dd><code>", Html(value), "</code></dd>\n");
  };
  entry("Module", side.module.value_or(""));
  entry("Fingerprint", side.fingerprint);
  entry("Dump", side.dump.value_or(""));
  entry("Computation", side.computation.value_or(""));
  html += "</dl>\n";
  if (side.problem) absl::StrAppend(&html, "<p>", Html(*side.problem), "</p>\n");
  return absl::StrCat(html, InstructionHtml(side, other), "</div>\n");
}

}  // namespace

std::string WhySection(const Report& report) {
  std::string page = "<section aria-labelledby=\"why\">\n<h2 id=\"why\">Why this verdict</h2>\n";
  if (report.evidence.empty()) {
    page += "<p class=\"soft\">No single piece of evidence stands out.</p>\n";
  } else {
    const auto item_html = [&report](const EvidenceItem& item) {
      return absl::StrCat(StrengthPill(report, item.strength), "<span>", Html(item.statement),
                          "</span>");
    };
    const std::vector<EvidenceItem> evidence = EvidenceForPage(report);
    const auto split = evidence.begin() +
                       static_cast<std::ptrdiff_t>(std::min(evidence.size(), kMaxEvidenceOnPage));
    const std::vector<EvidenceItem> first(evidence.begin(), split);
    const std::vector<EvidenceItem> rest(split, evidence.end());
    AppendList(page, "ul class=\"evidence\"", first, item_html);
    if (!rest.empty()) {
      absl::StrAppend(&page, "<details><summary>", Grouped(static_cast<int64_t>(rest.size())),
                      " more</summary>\n");
      AppendList(page, "ul class=\"evidence\"", rest, item_html);
      page += "</details>\n";
    }
  }
  if (!report.alternatives.empty()) {
    page += "<h3>What else it may be</h3>\n";
    AppendList(page, "ul", report.alternatives, AlternativeHtml);
  }
  if (!report.considered.empty()) {
    absl::StrAppend(&page, "<details><summary>What was considered, and why it was not (",
                    report.considered.size(), ")</summary>\n");
    AppendList(page, "ul", report.considered, [&report](const Considered& considered) {
      return ConsideredHtml(report, considered);
    });
    page += "</details>\n";
  }
  std::vector<const Reason*> ruled_out;
  for (const Reason& reason : report.reasons) {
    if (reason.kind == ReasonKind::kRuledOut || reason.kind == ReasonKind::kAgainst) {
      ruled_out.push_back(&reason);
    }
  }
  if (!ruled_out.empty()) {
    absl::StrAppend(&page, "<details><summary>Ruled out (", ruled_out.size(), ")</summary>\n");
    AppendList(page, "ul", ruled_out, [](const Reason* reason) { return Html(reason->text); });
    page += "</details>\n";
  }
  if (!report.lacking.empty()) {
    page += "<h3>What would have made it surer</h3>\n";
    AppendList(page, "ul", report.lacking, [](const std::string& text) { return Html(text); });
  }
  if (!report.missing.empty()) {
    std::vector<std::string> hosts;
    for (const ReportWorker& worker : report.missing) {
      hosts.push_back(text::EscapeName(worker.host));
    }
    absl::StrAppend(&page, "<h3>", Counted(static_cast<int64_t>(hosts.size()), "missing worker"),
                    "</h3>\n<p class=\"data\">", Html(FoldedHosts(hosts)), "</p>\n");
  }
  page += "</section>\n";
  return page;
}

std::string StacksSection(const Report& report) {
  if (report.stack_groups.empty()) return "";
  std::string page = absl::StrCat(
      "<section aria-labelledby=\"stacks\">\n<h2 id=\"stacks\">Hosts by what they are in</h2>\n<p "
      "class=\"soft\">",
      Html(StackGroupsText(report)), "</p>\n");
  AppendList(page, "ul class=\"stacks\"", report.stack_groups, [&](const StackGroup& group) {
    std::string html = absl::StrCat(
        "<details><summary>",
        // Where all stand alike the stack accuses nobody.
        group.culprit && report.stack_groups.size() > 1 ? "<b class=\"bad\">" : "<b>",
        Counted(static_cast<int64_t>(group.workers.size()), "host"), "</b> <code>", Html(group.at),
        "</code>", group.waits ? " <span class=\"soft\">waits</span>" : "",
        group.since_ms
            ? absl::StrCat(" <span class=\"soft\">for ", Duration(*group.since_ms), "</span>")
            : "",
        "</summary>\n<p class=\"data\">", Html(FoldedHosts(report, group.workers)), "</p>\n<ol>");
    for (const std::string& frame : group.frames) {
      absl::StrAppend(&html, "<li class=\"data\">", Html(frame), "</li>");
    }
    return absl::StrCat(html, "</ol></details>");
  });
  page += "</section>\n";
  return page;
}

std::string HloSection(const Report& report) {
  if (!report.hlo_comparison || report.hlo_comparison->sides.size() != 2) return "";
  const HloComparison& comparison = *report.hlo_comparison;
  return absl::StrCat(
      "<section aria-labelledby=\"hlo\">\n<h2 id=\"hlo\">The two programs</h2>\n<p>",
      OutcomeText(comparison.outcome),
      comparison.position
          ? absl::StrCat(*comparison.position == 0
                             ? " First in the attributes of the module."
                             : absl::StrCat(" First at instruction ", *comparison.position,
                                            " of the computation."))
          : "",
      "</p>\n<div class=\"two\">\n", SideHtml(report, comparison.sides[0], comparison.sides[1]),
      SideHtml(report, comparison.sides[1], comparison.sides[0]), "</div>\n</section>\n");
}

std::string StatesSection(const Report& report) {
  std::string rows;
  size_t shown = 0;
  size_t left_out = 0;
  size_t cores = 0;
  size_t unused = 0;
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      cores += position.cores.size();
      unused += UnusedSparseCores(position);
      // Culprits are always shown, however many rows there are.
      if (shown >= kMaxTableRows && !position.culprit) {
        ++left_out;
        continue;
      }
      ++shown;
      absl::StrAppend(&rows, position.culprit ? "<tr class=\"culprit\">" : "<tr>", "<td>",
                      position.cores.size(), "</td><td class=\"data\">", Html(ModuleText(group)),
                      "</td><td class=\"data\">",
                      group.launch_id ? absl::StrCat(*group.launch_id) : "none",
                      "</td><td class=\"data\">", Html(FingerprintText(group)),
                      "</td><td class=\"data\">", Html(PositionText(position)),
                      "</td><td class=\"data\">", PositionHosts(report, position), "</td></tr>\n");
    }
  }
  if (shown == 0) return "";
  std::string page = absl::StrCat(
      "<section aria-labelledby=\"positions\">\n<h2 id=\"positions\">All positions</h2>\n<details>"
      "<summary>",
      Counted(static_cast<int64_t>(cores), "core"), " at ",
      Counted(static_cast<int64_t>(shown + left_out), "place"),
      unused > 0
          ? absl::StrCat(", with ", Counted(static_cast<int64_t>(unused), "unused SparseCore"))
          : "",
      "</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"All "
      "positions\">\n<table id=\"states\">\n<thead><tr>");
  for (const char* head : {"Cores", "Module", "Launch", "Fingerprint", "Tag:PC(HLO)", "Hosts"}) {
    absl::StrAppend(&page, "<th scope=\"col\"><button type=\"button\">", head, "</button></th>");
  }
  absl::StrAppend(&page, "</tr></thead>\n<tbody>\n", rows, "</tbody>\n</table></div>\n");
  if (left_out > 0) absl::StrAppend(&page, "<p>… and ", left_out, " more positions</p>\n");
  page += "</details>\n</section>\n";
  return page;
}

std::string ReasonsSection(const Report& report) {
  if (report.reasons.empty()) return "";
  std::string page =
      "<section aria-labelledby=\"reasons\">\n<h2 id=\"reasons\">How the verdict was reached</h2>\n"
      "<details><summary>Every step</summary>\n";
  AppendList(page, "ol", report.reasons, [](const Reason& reason) {
    return absl::StrCat("<code>", Html(reason.rule), "</code> ", Html(reason.text));
  });
  page += "</details>\n</section>\n";
  return page;
}

}  // namespace rapideye::digest
