#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/wording/phrases.h"
#include "digest/digest.h"
#include "digest/fold.h"
#include "digest/sentence.h"
#include "digest/stack_groups.h"
#include "digest/text_lines.h"
#include "digest/text_states.h"
#include "digest/wording.h"
#include "proto/common/release/release.h"

namespace rapideye::digest {
namespace {

// How much of each part is shown. The sum, with the TPU states, stays under 200
// lines whatever the job.
constexpr size_t kMaxErrorLines = 16;
constexpr size_t kMaxStats = 12;
constexpr size_t kMaxPcsPerHost = 8;
constexpr size_t kMaxCulpritReasons = 8;
constexpr size_t kMaxEvidenceInText = 12;
constexpr size_t kMaxLinks = 10;
constexpr size_t kMaxAlternatives = 5;
constexpr size_t kMaxLacking = 6;
constexpr size_t kMaxActions = 6;
constexpr size_t kMaxMissingSpelledOut = 10;

std::string EscapedSentence(std::string_view text) {
  return text::EscapeText(text, text::kMaxSentenceBytes);
}

std::string CauseText(Cause cause, Detail detail) {
  if (detail == Detail::kNone) return std::string(PotentialCause(cause, detail));
  return absl::StrCat(PotentialCause(cause, detail), " (", std::string(DetailName(detail)), ")");
}

// Collects texts, each once, in the given order.
class Unique {
 public:
  void Add(std::string text) {
    if (seen_.insert(text).second) items_.push_back({std::move(text), 1});
  }
  const std::vector<text::ListItem>& items() const { return items_; }

 private:
  std::set<std::string> seen_;
  std::vector<text::ListItem> items_;
};

std::vector<text::ListItem> CulpritWorkers(const Report& report,
                                           const std::vector<ReportCulprit>& culprits) {
  Unique workers;
  for (const ReportCulprit& culprit : culprits) workers.Add(WorkerText(report, culprit.worker));
  return workers.items();
}

std::vector<text::ListItem> OrNone(std::vector<text::ListItem> items) {
  if (items.empty()) items.push_back({"none", 1});
  return items;
}

// Causes that imply a culprit print "not known" if it cannot be named; all others print "none".
std::vector<text::ListItem> OrNotKnown(const Report& report, std::vector<text::ListItem> items) {
  const bool somebody =
      report.cause == Cause::kDifferentModule || report.detail == Detail::kCoordinationService;
  if (items.empty() && somebody) items.push_back({"not known", 1});
  return OrNone(std::move(items));
}

// The hosts to look at; where only links are known, both their ends.
std::vector<text::ListItem> CulpritHosts(const Report& report) {
  Unique hosts;
  for (const ReportCulprit& culprit : report.culprits) {
    hosts.Add(text::EscapeName(culprit.worker.host));
  }
  if (report.culprits.empty()) {
    for (const ReportLink& link : report.links) {
      hosts.Add(text::EscapeName(link.from.host));
      hosts.Add(text::EscapeName(link.to.host));
    }
  }
  return hosts.items();
}

// One line for each worker: what was found at each of its cores.
std::vector<std::string> ErrorLines(const Report& report) {
  using Whys = std::vector<std::string>;
  std::vector<std::pair<std::string, Whys>> errors;
  for (const ReportCulprit& culprit : report.culprits) {
    const std::string worker = WorkerText(report, culprit.worker);
    if (errors.empty() || errors.back().first != worker) errors.emplace_back(worker, Whys());
    std::string why = culprit.why.empty() ? "unrecoverable error" : EscapedSentence(culprit.why);
    Whys& known = errors.back().second;
    if (std::find(known.begin(), known.end(), why) == known.end()) known.push_back(std::move(why));
  }
  std::vector<std::string> lines;
  for (const auto& [worker, whys] : errors) {
    lines.push_back(absl::StrCat(worker, " : ", absl::StrJoin(whys, "; ")));
  }
  return lines;
}

void AppendHead(const Report& report, TextLines& lines) {
  lines.Add(0, report.headline);
  if (report.cause == Cause::kUnrecoverableError) {
    lines.AddEach(kFirstIndent, ErrorLines(report), kMaxErrorLines,
                  [](const std::string& line) { return line; });
    lines.Add(kFirstIndent, "Please inspect the error log of these workers:");
    lines.AddList(kFirstIndent, "", OrNotKnown(report, CulpritWorkers(report, report.culprits)));
  } else if (const std::string prefix = HostsPrefix(report.cause); !prefix.empty()) {
    lines.AddList(kFirstIndent, prefix, OrNotKnown(report, CulpritHosts(report)));
  }
}

std::string StatsLine(const CulpritPcs& entry) {
  std::vector<std::string> pcs;
  const size_t shown = std::min(entry.pcs.size(), kMaxPcsPerHost);
  for (size_t i = 0; i < shown; ++i) pcs.push_back(PcText(entry.pcs[i]));
  if (shown < entry.pcs.size()) {
    pcs.push_back(absl::StrCat("… and ", entry.pcs.size() - shown, " more"));
  }
  const std::string text = pcs.empty() ? "not reported" : absl::StrJoin(pcs, ", ");
  return absl::StrCat(text::EscapeName(entry.host), ": ", text);
}

void AppendFixedPart(const Report& report, TextFormat format, TextLines& lines) {
  if (report.cause == Cause::kNoHang) {
    // The text must not look like an error to operators who search logs for one.
    lines.Add(kFirstIndent, "Full digest:");
  } else {
    lines.Add(kFirstIndent, "Full error digest:");
    lines.Add(kIndent,
              absl::StrCat("Potential cause: ", PotentialCause(report.cause, report.detail)));
    lines.AddList(kIndent, "Potential culprit workers: ",
                  OrNotKnown(report, CulpritWorkers(report, report.culprits)));
    const FirstError first = report.first_error.value_or(FirstError{});
    lines.Add(kIndent, absl::StrCat("First error timestamp: ", first.at.value_or("unknown")));
    lines.Add(kIndent, absl::StrCat("First error type: ", FirstErrorName(first.type)));
    lines.Add(kIndent, "TPU stats:");
    lines.AddEach(kItemIndent, report.culprit_pcs, kMaxStats, StatsLine);
  }
  AppendTpuStates(report, format, lines);
}

std::string WorkerAndHost(const ReportWorker& worker) {
  return absl::StrCat(text::EscapeName(worker.host), " (slice ", worker.id.slice, " task ",
                      worker.id.task, ")");
}

std::string CulpritLine(const ReportCulprit& culprit) {
  std::string line = WorkerAndHost(culprit.worker);
  if (culprit.chip) absl::StrAppend(&line, " chip ", *culprit.chip);
  if (culprit.core_type && *culprit.core_type != CoreType::kUnspecified) {
    absl::StrAppend(&line, " ", CoreTypeName(*culprit.core_type));
    if (culprit.core_index) absl::StrAppend(&line, " ", *culprit.core_index);
  }
  if (culprit.nic) absl::StrAppend(&line, " ", text::EscapeName(*culprit.nic));
  if (!culprit.why.empty()) absl::StrAppend(&line, ": ", EscapedSentence(culprit.why));
  return line;
}

// Whether an evidence line already says `sentence`.
bool IsEvidence(const Report& report, const std::string& sentence) {
  return std::any_of(report.evidence.begin(), report.evidence.end(),
                     [&](const EvidenceItem& item) { return item.statement == sentence; });
}

void AppendEvidence(const Report& report, TextLines& lines) {
  std::vector<const ReportCulprit*> unsaid;
  for (const ReportCulprit& culprit : report.culprits) {
    // Reasons beyond the limit are only counted: no need to compare each with the evidence.
    const bool shown = unsaid.size() <= kMaxCulpritReasons;
    if (!shown || !IsEvidence(report, culprit.why)) unsaid.push_back(&culprit);
  }
  if (!unsaid.empty() || !report.evidence.empty()) lines.Add(kIndent, "Evidence:");
  lines.AddEach(kItemIndent, unsaid, kMaxCulpritReasons,
                [](const ReportCulprit* culprit) { return CulpritLine(*culprit); });
  lines.AddEach(kItemIndent, report.evidence, kMaxEvidenceInText, [](const EvidenceItem& item) {
    return absl::StrCat("[", std::string(StrengthName(item.strength)), "] ",
                        EscapedSentence(item.statement));
  });
}

void AppendLinks(const Report& report, TextLines& lines) {
  if (report.links.empty()) return;
  lines.Add(kIndent, "Broken links:");
  lines.AddEach(kItemIndent, report.links, kMaxLinks, [&](const ReportLink& link) {
    std::string line = absl::StrCat(WorkerAndHost(link.from), " to ", WorkerAndHost(link.to));
    if (link.nic) absl::StrAppend(&line, " over ", text::EscapeName(*link.nic));
    if (!link.why.empty() && !IsEvidence(report, link.why)) {
      absl::StrAppend(&line, ": ", EscapedSentence(link.why));
    }
    return line;
  });
}

// Prints each side of the cut on a line of its own.
void AppendPartition(const Report& report, TextLines& lines) {
  if (report.partition[0].empty()) return;
  lines.Add(kIndent, "Cut between:");
  for (const std::vector<ReportWorker>& side : report.partition) {
    std::vector<std::string> hosts;
    for (const ReportWorker& worker : side) {
      if (hosts.size() == kMaxLinks) break;
      hosts.push_back(WorkerAndHost(worker));
    }
    const size_t more = side.size() - hosts.size();
    lines.Add(kItemIndent, absl::StrCat(absl::StrJoin(hosts, ", "),
                                        more > 0 ? absl::StrCat(" and ", more, " more") : ""));
  }
}

void AppendStacks(const Report& report, TextLines& lines) {
  if (report.stack_groups.empty()) return;
  lines.Add(kIndent, absl::StrCat("Stacks: ", StackGroupsText(report)));
}

void AppendAlternatives(const Report& report, TextLines& lines) {
  if (report.alternatives.empty()) return;
  lines.Add(kIndent, "Alternatives:");
  lines.AddEach(
      kItemIndent, report.alternatives, kMaxAlternatives,
      [&](const ReportAlternative& alternative) {
        std::string line = absl::StrCat(alternative.independent ? "another fault: " : "",
                                        CauseText(alternative.cause, alternative.detail),
                                        ", confidence ", TwoPlaces(alternative.confidence));
        if (!alternative.why.empty()) {
          absl::StrAppend(&line, ": ", EscapedSentence(alternative.why));
        }
        const auto workers = CulpritWorkers(report, alternative.culprits);
        if (workers.empty()) return line;
        // The names get half a line at most: they must not push out the sentence.
        return absl::StrCat(
            line, " (culprits: ", text::JoinBounded(workers, text::kMaxLineBytes / 2), ")");
      });
}

void AppendMissing(const Report& report, TextLines& lines) {
  if (report.missing.empty()) {
    lines.Add(kIndent, absl::StrCat("Missing workers: none of ", report.workers.size()));
  } else {
    std::vector<text::ListItem> items;
    if (report.missing.size() <= kMaxMissingSpelledOut) {
      for (const ReportWorker& worker : report.missing) {
        items.push_back({WorkerText(report, worker), 1});
      }
    } else {
      std::vector<std::string> hosts;
      for (const ReportWorker& worker : report.missing) {
        hosts.push_back(text::EscapeName(worker.host));
      }
      items = FoldNames(std::move(hosts));
    }
    lines.AddList(kIndent,
                  absl::StrCat("Missing workers: ", report.missing.size(), " of ",
                               report.workers.size(), ": "),
                  items);
  }
  if (!report.lacking.empty()) {
    lines.Add(kIndent, "Missing evidence:");
    lines.AddEach(kItemIndent, report.lacking, kMaxLacking,
                  [](const std::string& sentence) { return EscapedSentence(sentence); });
  }
}

void AppendNextStep(const Report& report, TextLines& lines) {
  if (report.actions.empty()) return;
  lines.Add(kIndent, "What to do next:");
  size_t number = 0;
  lines.AddEach(kItemIndent, report.actions, kMaxActions, [&](const RecommendedAction& action) {
    std::string line = absl::StrCat(++number, ". ", EscapedSentence(action.description));
    if (action.documentation_url) {
      absl::StrAppend(&line, " See ", EscapedSentence(*action.documentation_url));
    }
    return line;
  });
}

void AppendRemoval(const Report& report, TextLines& lines) {
  const Removal& removal = report.removal;
  std::vector<text::ListItem> targets;
  for (const RemovalTarget& target : removal.targets) {
    std::string text = text::EscapeName(target.host);
    if (target.chip) absl::StrAppend(&text, " (chip ", *target.chip, ")");
    if (target.nic) absl::StrAppend(&text, " (", text::EscapeName(*target.nic), ")");
    targets.push_back({std::move(text), 1});
  }
  std::string line = removal.eligible ? "Removal: eligible" : "Removal: not eligible";
  if (!targets.empty()) {
    absl::StrAppend(&line, ": ", text::JoinBounded(targets, text::kMaxLineBytes / 2));
  }
  if (!removal.reason.empty()) absl::StrAppend(&line, ": ", EscapedSentence(removal.reason));
  lines.Add(kIndent, line);
}

void AppendFiles(const Files& files, TextLines& lines) {
  if (files.json.empty() && files.html.empty() && files.text.empty() && files.capture.empty()) {
    return;
  }
  lines.Add(kIndent, "Files:");
  const auto add = [&](const char* what, const std::string& path) {
    if (!path.empty()) lines.Add(kItemIndent, absl::StrCat(what, ": ", EscapedSentence(path)));
  };
  add("JSON", files.json);
  add("HTML", files.html);
  add("Text", files.text);
  add("Capture", files.capture);
  for (const std::string& path : files.hlo) add("HLO", path);
}

}  // namespace

std::string RenderText(const Report& report, TextFormat format) {
  TextLines lines;
  AppendHead(report, lines);
  AppendFixedPart(report, format, lines);
  // The runtime's own analyser prints the same lines above: readers can tell whose these are.
  lines.Add(kIndent, absl::StrCat("Written by: rapideye ", Release()));
  lines.Add(kIndent, absl::StrCat("In one sentence: ", SentenceText(report)));
  if (report.detail != Detail::kNone) {
    lines.Add(kIndent, absl::StrCat("Detail: ", std::string(DetailName(report.detail))));
  }
  if (report.confidence) {
    lines.Add(kIndent, absl::StrCat("Confidence: ", TwoPlaces(*report.confidence)));
  }
  if (report.first_error && report.first_error->uncertainty_ms) {
    lines.Add(kIndent, absl::StrCat("Uncertainty: the first error may be up to ",
                                    classifier::Span(*report.first_error->uncertainty_ms),
                                    " earlier than its timestamp"));
  }
  if (report.noticed_by) {
    lines.Add(kIndent, absl::StrCat("Noticed by: ", EscapedSentence(*report.noticed_by)));
  }
  AppendEvidence(report, lines);
  AppendPartition(report, lines);
  AppendLinks(report, lines);
  AppendStacks(report, lines);
  AppendAlternatives(report, lines);
  AppendMissing(report, lines);
  AppendNextStep(report, lines);
  AppendRemoval(report, lines);
  lines.Add(kIndent,
            absl::StrCat(
                report.snapshot ? "Incident: none, this is a snapshot on request: " : "Incident: ",
                text::EscapeName(report.incident_id)));
  if (report.revision > 1) {
    lines.Add(kIndent, absl::StrCat("Revision: ", report.revision,
                                    " (a later look has changed the verdict)"));
  }
  AppendFiles(report.files, lines);
  return lines.Take();
}

}  // namespace rapideye::digest
