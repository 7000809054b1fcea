#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/wording/wording.h"
#include "digest/digest.h"
#include "digest/text_lines.h"
#include "digest/text_states.h"
#include "digest/wording.h"
#include "proto/common/text/count.h"

namespace rapideye::digest {
namespace {

constexpr size_t kMaxEnds = 8;
constexpr size_t kMaxDecidingEvidence = 8;
constexpr size_t kMaxSlices = 6;
constexpr int64_t kSecond = 1000;

std::string Escaped(std::string_view text) {
  return text::EscapeText(text, text::kMaxSentenceBytes);
}

// "slice 0 task 3 (tpu-0-3)"
std::string OneWorker(const Report& report, WorkerId id) {
  const auto worker =
      std::lower_bound(report.workers.begin(), report.workers.end(), id,
                       [](const ReportWorker& one, WorkerId want) { return one.id < want; });
  std::string text = absl::StrCat("slice ", id.slice, " task ", id.task);
  if (worker != report.workers.end() && worker->id == id && !worker->host.empty()) {
    absl::StrAppend(&text, " (", worker->host, ")");
  }
  return text;
}

// "slices 0-2 and 5", of ascending workers.
std::string Slices(const std::vector<WorkerId>& workers) {
  std::vector<std::pair<int32_t, int32_t>> runs;
  for (const WorkerId& id : workers) {
    if (!runs.empty() && id.slice <= runs.back().second + 1) {
      runs.back().second = std::max(runs.back().second, id.slice);
    } else {
      runs.emplace_back(id.slice, id.slice);
    }
  }
  const bool one = runs.size() == 1 && runs.front().first == runs.front().second;
  std::string text = one ? "slice " : "slices ";
  for (size_t i = 0; i < std::min(runs.size(), kMaxSlices); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", runs[i].first);
    if (runs[i].second > runs[i].first) absl::StrAppend(&text, "-", runs[i].second);
  }
  if (runs.size() > kMaxSlices) absl::StrAppend(&text, " and more");
  return text;
}

std::string WhoText(const Report& report, const ChainGroup& group) {
  std::string who;
  if (group.chip) absl::StrAppend(&who, "chip ", *group.chip, " of ");
  if (!group.chip && group.cores > 0) who = absl::StrCat(text::Count(group.cores, "core"), " of ");
  if (group.workers.size() == 1) return who + OneWorker(report, group.workers.front());
  return absl::StrCat(who, text::Count(static_cast<int64_t>(group.workers.size()), "worker"),
                      " in ", Slices(group.workers));
}

// " at all-reduce.3 (tag 1, pc 0x724) of jit_step, launch 12"; empty: no place is known.
std::string PlaceText(const ChainGroup& group) {
  std::string text;
  if (group.pc) {
    const std::string at = absl::StrCat(group.tag ? absl::StrCat("tag ", *group.tag, ", ") : "",
                                        "pc ", PcText(group.pc));
    absl::StrAppend(&text, " at ",
                    group.instruction ? absl::StrCat(*group.instruction, " (", at, ")") : at);
  }
  if (group.module) absl::StrAppend(&text, text.empty() ? " in " : " of ", *group.module);
  if (group.launch_id) absl::StrAppend(&text, ", launch ", *group.launch_id);
  return text;
}

std::string GroupText(const Report& report, const ChainGroup& group) {
  std::string text = WhoText(report, group) + PlaceText(group);
  if (group.queue.empty()) {
    absl::StrAppend(&text, text.find(" at ") == std::string::npos ? " " : ", ", WaitText(group));
  } else {
    absl::StrAppend(&text, ", with ", absl::StrJoin(group.queue, ", then "), " running and queued");
  }
  if (group.host_place) absl::StrAppend(&text, "; ", *group.host_place);
  const std::optional<int64_t>& time = group.loops_ms ? group.loops_ms : group.since_ms;
  if (time && *time >= kSecond) absl::StrAppend(&text, ", for ", *time / kSecond, " s");
  return Escaped(text);
}

void AddGroups(const Report& report, TextLines& lines) {
  const WaitChain& chain = report.chain;
  if (chain.groups.empty()) return;
  lines.Add(kIndent, "Who stands where:");
  for (size_t i = 0; i < chain.groups.size(); ++i) {
    lines.Add(kItemIndent, absl::StrCat(i + 1, ": ", GroupText(report, chain.groups[i])));
  }
  if (chain.more_groups > 0) {
    lines.Add(kItemIndent, absl::StrCat("… and ", text::Count(chain.more_groups, "smaller group"),
                                        " with ", text::Count(chain.more_cores, "core"), " of ",
                                        text::Count(chain.more_workers, "worker")));
  }
}

// "1 waits …": edges of the same kind that begin at the same group share a line.
void AddEdges(const Report& report, TextLines& lines) {
  const WaitChain& chain = report.chain;
  if (chain.edges.empty()) return;
  lines.Add(kIndent, "Which group waits for which:");
  for (size_t i = 0; i < chain.edges.size();) {
    const ChainEdge& first = chain.edges[i];
    std::vector<size_t> ends;
    for (; i < chain.edges.size() && chain.edges[i].from == first.from &&
           chain.edges[i].kind == first.kind;
         ++i) {
      ends.push_back(chain.edges[i].to + 1);
    }
    lines.Add(kItemIndent, absl::StrCat(first.from + 1, " ", EdgeText(first.kind), " ",
                                        absl::StrJoin(ends, ", ")));
  }
}

void AddEnds(const Report& report, TextLines& lines) {
  lines.Add(kIndent, "What ends the chain:");
  std::vector<std::string> heads;
  for (size_t i = 0; i < report.chain.groups.size(); ++i) {
    if (report.chain.groups[i].head) heads.push_back(absl::StrCat(i + 1));
  }
  if (report.culprits.empty()) {
    lines.Add(kItemIndent, report.cause == Cause::kNoHang
                               ? "nothing: the job makes progress, or rests on purpose"
                               : "nobody can be named: nothing singles anyone out");
    return;
  }
  if (!heads.empty()) lines.Add(kItemIndent, absl::StrCat("group ", absl::StrJoin(heads, ", ")));
  // Reasons against the culprits follow, unless an evidence item states the same reason.
  std::vector<std::string> more;
  for (const ReportCulprit& culprit : report.culprits) {
    const bool said =
        culprit.why.empty() ||
        std::any_of(report.evidence.begin(), report.evidence.end(),
                    [&](const EvidenceItem& item) { return item.statement == culprit.why; }) ||
        std::find(more.begin(), more.end(), culprit.why) != more.end();
    if (!said) more.push_back(culprit.why);
    if (more.size() > kMaxEnds) break;
  }
  lines.AddEach(kItemIndent, more, kMaxEnds, Escaped);
}

void AddEvidence(const Report& report, TextLines& lines) {
  if (report.evidence.empty()) return;
  lines.Add(kIndent, "Which evidence decided:");
  lines.AddEach(kItemIndent, report.evidence, kMaxDecidingEvidence, [](const EvidenceItem& item) {
    return absl::StrCat(std::string(StrengthName(item.strength)), ": ", Escaped(item.statement));
  });
}

void AddConsidered(const Report& report, TextLines& lines) {
  if (report.considered.empty()) return;
  lines.Add(kIndent, "What was considered, and why it was not:");
  lines.AddEach(kItemIndent, report.considered, report.considered.size(),
                [&](const Considered& one) {
                  std::string text(CauseName(one.cause));
                  if (one.detail != Detail::kNone) {
                    absl::StrAppend(&text, " (", std::string(DetailName(one.detail)), ")");
                  }
                  if (!one.workers.empty()) {
                    absl::StrAppend(&text, " at ", OneWorker(report, one.workers.front()));
                    if (one.workers.size() > 1) absl::StrAppend(&text, " and others");
                  }
                  if (one.certainty) {
                    absl::StrAppend(&text, ", certainty ", TwoPlaces(*one.certainty));
                  }
                  return Escaped(absl::StrCat(text, ": ", WhyNotText(one)));
                });
}

void AddSteps(const Report& report, TextLines& lines) {
  struct Part {
    ReasonKind kind;
    std::string_view title;
  };
  constexpr std::array kParts = {Part{ReasonKind::kFor, "What rules found:"},
                                 Part{ReasonKind::kAgainst, "What rules rejected:"},
                                 Part{ReasonKind::kRuledOut, "What follows from something else:"},
                                 Part{ReasonKind::kDecision, "Decision:"}};
  for (const Part& part : kParts) {
    std::vector<const Reason*> reasons;
    for (const Reason& reason : report.reasons) {
      if (reason.kind == part.kind) reasons.push_back(&reason);
    }
    if (reasons.empty()) continue;
    lines.Add(kIndent, part.title);
    lines.AddEach(kItemIndent, reasons, reasons.size(), [](const Reason* reason) {
      std::string text = text::EscapeName(reason->rule);
      if (reason->cause) absl::StrAppend(&text, " ", std::string(CauseName(*reason->cause)));
      if (reason->certainty) absl::StrAppend(&text, " (", TwoPlaces(*reason->certainty), ")");
      return absl::StrCat(text, ": ", Escaped(reason->text));
    });
  }
}

}  // namespace

std::string RenderExplanation(const Report& report) {
  TextLines lines;
  lines.Add(kFirstIndent, "Explanation:");
  AddGroups(report, lines);
  AddEdges(report, lines);
  AddEnds(report, lines);
  AddEvidence(report, lines);
  AddConsidered(report, lines);
  AddSteps(report, lines);
  if (!report.lacking.empty()) {
    lines.Add(kIndent, "What would have decided it:");
    lines.AddEach(kItemIndent, report.lacking, report.lacking.size(),
                  [](const std::string& lacking) { return Escaped(lacking); });
  }
  return lines.Take();
}

}  // namespace rapideye::digest
