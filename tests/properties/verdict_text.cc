#include "tests/properties/verdict_text.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace rapideye::properties {
namespace {

std::string Cause(rapideye::Cause cause, Detail detail) {
  return absl::StrCat(std::string(CauseName(cause)), "/", std::string(DetailName(detail)));
}

std::string Text(const Culprit& culprit) {
  std::string text = Name(culprit.worker);
  if (culprit.chip) absl::StrAppend(&text, " chip ", *culprit.chip);
  if (culprit.core_type) absl::StrAppend(&text, " type ", static_cast<int>(*culprit.core_type));
  if (culprit.core_index) absl::StrAppend(&text, " core ", *culprit.core_index);
  if (culprit.nic) absl::StrAppend(&text, " ", *culprit.nic);
  return text;
}

void Append(const std::vector<Culprit>& culprits, std::string& out) {
  for (const Culprit& culprit : culprits) {
    absl::StrAppend(&out, "culprit ", Text(culprit), " ", culprit.host, " ",
                    culprit.node.value_or(""), ": ", culprit.why, "\n");
  }
}

void Append(const WaitChain& chain, std::string& out) {
  for (const ChainGroup& group : chain.groups) {
    absl::StrAppend(&out, group.head ? "head " : "group ", std::string(WaitKindName(group.wait)),
                    " ", group.cores, " ", group.module.value_or(""), " ", group.pc.value_or(0),
                    " ", group.host_place.value_or(""));
    for (const WorkerId& worker : group.workers) absl::StrAppend(&out, " ", Name(worker));
    out += "\n";
  }
  for (const ChainEdge& edge : chain.edges) {
    absl::StrAppend(&out, edge.from, " -> ", edge.to, " ", std::string(WaitEdgeKindName(edge.kind)),
                    "\n");
  }
}

}  // namespace

std::string Name(const WorkerId& worker) { return absl::StrCat(worker.slice, "/", worker.task); }

std::string Summary(const Verdict& verdict) {
  std::string text = Cause(verdict.cause, verdict.detail);
  for (const Culprit& culprit : verdict.culprits) absl::StrAppend(&text, ", ", Text(culprit));
  if (verdict.removal.eligible) absl::StrAppend(&text, " removes");
  return text;
}

std::string FullText(const Verdict& verdict) {
  std::string text =
      absl::StrCat(Cause(verdict.cause, verdict.detail), " ", verdict.confidence.value_or(0), "\n");
  Append(verdict.culprits, text);
  for (const BrokenLink& link : verdict.links) {
    absl::StrAppend(&text, "link ", Name(link.from), " ", Name(link.to), " ", link.nic.value_or(""),
                    ": ", link.why, "\n");
  }
  for (const EvidenceItem& item : verdict.evidence) {
    absl::StrAppend(&text, "evidence ", std::string(StrengthName(item.strength)), ": ",
                    item.statement);
    for (const WorkerId& worker : item.workers) absl::StrAppend(&text, " ", Name(worker));
    text += "\n";
  }
  for (const Alternative& alternative : verdict.alternatives) {
    absl::StrAppend(&text, alternative.independent ? "beside " : "alternative ",
                    Cause(alternative.cause, alternative.detail), " ", alternative.confidence, ": ",
                    alternative.why, "\n");
    Append(alternative.culprits, text);
  }
  for (const WorkerId& worker : verdict.missing) {
    absl::StrAppend(&text, "missing ", Name(worker), "\n");
  }
  for (const std::string& lacking : verdict.lacking)
    absl::StrAppend(&text, "lacking ", lacking, "\n");
  for (const RecommendedAction& action : verdict.actions) {
    absl::StrAppend(&text, "action ", action.description, "\n");
  }
  absl::StrAppend(&text, "removal: ", verdict.removal.reason, "\n");
  for (const RemovalTarget& target : verdict.removal.targets) {
    absl::StrAppend(&text, "removes ", target.host, " ", target.nic.value_or(""), "\n");
  }
  Append(verdict.chain, text);
  for (const Considered& one : verdict.considered) {
    absl::StrAppend(&text, "considered ", Cause(one.cause, one.detail), " ",
                    std::string(WhyNotName(one.why)), " ", one.count.value_or(0));
    for (const WorkerId& worker : one.workers) absl::StrAppend(&text, " ", Name(worker));
    text += "\n";
  }
  for (const Reason& reason : verdict.reasons) {
    absl::StrAppend(&text, "reason ", reason.rule, ": ", reason.text, "\n");
  }
  return text;
}

}  // namespace rapideye::properties
