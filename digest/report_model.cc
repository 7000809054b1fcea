#include "digest/report_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "classifier/host/host_place.h"
#include "digest/content_hash.h"
#include "digest/digest.h"
#include "digest/first_error.h"
#include "digest/last_minutes.h"
#include "digest/stack_groups.h"
#include "digest/tpu_states.h"
#include "digest/wording.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

// A section for each cause; from where this project lies or its documents are installed.
constexpr char kRunbook[] = "deploy/monitoring/RUNBOOK.md";

std::string Name(std::string_view text) { return text::ValidUtf8(text, text::kMaxNameBytes); }
std::string ValidSentence(std::string_view text) {
  return text::ValidUtf8(text, text::kMaxSentenceBytes);
}

std::optional<std::string> OptionalName(const std::optional<std::string>& text) {
  return text ? std::optional(Name(*text)) : std::nullopt;
}

double Confidence(double confidence) {
  if (!(confidence > 0)) return 0;  // also NaN
  return std::round(std::min(confidence, 1.0) * 1000) / 1000;
}

// Gives workers their numbers and hosts.
class Directory {
 public:
  explicit Directory(const Capture& capture) {
    for (const ExpectedWorker& expected : capture.header.expected_workers) {
      workers_.push_back({expected.id, std::nullopt, Name(expected.host), false});
    }
    std::sort(workers_.begin(), workers_.end(),
              [](const ReportWorker& a, const ReportWorker& b) { return a.id < b.id; });
    for (size_t i = 0; i < workers_.size(); ++i) workers_[i].task_id = i;
    for (const Snapshot& snapshot : capture.snapshots) {
      ReportWorker* worker = Find(snapshot.worker);
      if (worker == nullptr) continue;
      worker->reported = true;
      if (!snapshot.host.empty()) worker->host = Name(snapshot.host);
    }
  }

  ReportWorker* Find(WorkerId id) {
    auto it = std::lower_bound(workers_.begin(), workers_.end(), id,
                               [](const ReportWorker& w, WorkerId want) { return w.id < want; });
    return it != workers_.end() && it->id == id ? &*it : nullptr;
  }

  // `host`: what else is known of it.
  ReportWorker Describe(WorkerId id, std::string_view host = "") {
    if (const ReportWorker* known = Find(id)) {
      ReportWorker worker = *known;
      if (!host.empty()) worker.host = Name(host);
      return worker;
    }
    return {id, std::nullopt, Name(host), false};
  }

  std::vector<ReportWorker> Take() { return std::move(workers_); }

 private:
  std::vector<ReportWorker> workers_;  // sorted by id
};

std::vector<ReportCulprit> Describe(const std::vector<Culprit>& culprits, Directory& directory) {
  std::vector<ReportCulprit> described;
  described.reserve(culprits.size());
  for (const Culprit& culprit : culprits) {
    described.push_back({directory.Describe(culprit.worker, culprit.host),
                         OptionalName(culprit.node), culprit.chip, culprit.core_type,
                         culprit.core_index, OptionalName(culprit.nic), ValidSentence(culprit.why),
                         culprit.host_activity});
  }
  return described;
}

Removal Describe(const Removal& removal) {
  Removal described{removal.eligible, {}, ValidSentence(removal.reason)};
  for (const RemovalTarget& target : removal.targets) {
    described.targets.push_back(
        {Name(target.host), OptionalName(target.node), OptionalName(target.nic), target.chip});
  }
  return described;
}

WaitChain Describe(const WaitChain& chain) {
  WaitChain described = chain;
  for (ChainGroup& group : described.groups) {
    group.module = OptionalName(group.module);
    group.fingerprint = OptionalName(group.fingerprint);
    group.instruction = OptionalName(group.instruction);
    for (std::string& module : group.queue) module = Name(module);
    if (group.host_place) group.host_place = ValidSentence(*group.host_place);
  }
  return described;
}

void DescribeVerdict(const Verdict& verdict, Directory& directory, Report& report) {
  report.cause = verdict.cause;
  report.detail = verdict.detail;
  if (verdict.confidence) report.confidence = Confidence(*verdict.confidence);
  report.headline = Headline(verdict.cause, verdict.detail);
  report.culprits = Describe(verdict.culprits, directory);
  for (const BrokenLink& link : verdict.links) {
    report.links.push_back({directory.Describe(link.from), directory.Describe(link.to),
                            OptionalName(link.nic), ValidSentence(link.why)});
  }
  for (size_t side = 0; side < verdict.partition.size(); ++side) {
    for (const WorkerId id : verdict.partition[side]) {
      report.partition[side].push_back(directory.Describe(id));
    }
  }
  for (const EvidenceItem& item : verdict.evidence) {
    report.evidence.push_back({ValidSentence(item.statement), item.strength, item.workers});
  }
  for (const Alternative& alternative : verdict.alternatives) {
    report.alternatives.push_back({alternative.cause, alternative.detail,
                                   Confidence(alternative.confidence),
                                   Describe(alternative.culprits, directory),
                                   ValidSentence(alternative.why), alternative.independent});
  }
  for (const std::string& sentence : verdict.lacking)
    report.lacking.push_back(ValidSentence(sentence));
  for (const RecommendedAction& action : verdict.actions) {
    std::optional<std::string> url;
    if (action.documentation_url) url = ValidSentence(*action.documentation_url);
    report.actions.push_back({ValidSentence(action.description), url});
  }
  // The first step leads on to the runbook, as the alerts do.
  if (verdict.cause != Cause::kNoHang && !report.actions.empty() &&
      !report.actions.front().documentation_url) {
    report.actions.front().documentation_url =
        absl::StrCat(kRunbook, "#", absl::AsciiStrToLower(std::string(CauseName(verdict.cause))));
  }
  report.removal = Describe(verdict.removal);
  for (const Reason& reason : verdict.reasons) {
    report.reasons.push_back({Name(reason.rule), ValidSentence(reason.text), reason.kind,
                              reason.certainty, reason.cause});
  }
  report.chain = Describe(verdict.chain);
  report.considered = verdict.considered;
}

std::optional<ReportRuntimeVerdict> DescribeRuntimeVerdict(const Verdict& verdict,
                                                           Directory& directory) {
  if (!verdict.runtime_verdict.has_value()) return std::nullopt;
  std::set<std::string> hosts;
  for (const WorkerId id : verdict.runtime_verdict->workers) {
    hosts.insert(directory.Describe(id).host);
  }
  return ReportRuntimeVerdict{verdict.runtime_verdict->cause,
                              {hosts.begin(), hosts.end()},
                              verdict.runtime_verdict->agrees};
}

std::vector<ReportHolder> DescribeHolders(const Verdict& verdict) {
  std::vector<ReportHolder> holders;
  for (const auto& [worker, process] : verdict.holders) {
    holders.push_back({worker, process.pid, OptionalName(process.user), process.started_ms_ago,
                       OptionalName(process.command)});
  }
  return holders;
}

// The comparison is shown only beside a verdict that it explains.
std::optional<HloComparison> DescribeComparison(const CaptureHeader& header,
                                                const Verdict& verdict) {
  if (!header.hlo_comparison.has_value() || verdict.sides.empty()) return std::nullopt;
  HloComparison comparison = *header.hlo_comparison;
  for (HloSide& side : comparison.sides) {
    side.module = OptionalName(side.module);
    side.fingerprint = Name(side.fingerprint);
    side.dump = OptionalName(side.dump);
    side.computation = OptionalName(side.computation);
    if (side.problem) side.problem = ValidSentence(*side.problem);
    if (side.instruction) side.instruction = ValidSentence(*side.instruction);
  }
  for (DifferingInput& input : comparison.inputs) {
    input.name = OptionalName(input.name);
    for (std::string& value : input.values) value = ValidSentence(value);
  }
  return comparison;
}

// One entry for each host, in the order of the culprits.
std::vector<CulpritPcs> FindCulpritPcs(const Report& report, const Capture& capture,
                                       const std::vector<Culprit>& culprits) {
  std::map<WorkerId, const Snapshot*> snapshots;
  for (const Snapshot& snapshot : capture.snapshots) snapshots[snapshot.worker] = &snapshot;

  std::vector<CulpritPcs> entries;
  std::vector<std::set<int64_t>> pcs;
  std::map<std::string, size_t> entry_of;
  for (size_t i = 0; i < culprits.size(); ++i) {
    const std::string& host = report.culprits[i].worker.host;
    auto [it, inserted] = entry_of.try_emplace(host, entries.size());
    if (inserted) {
      entries.push_back({host, {}});
      pcs.emplace_back();
    }
    auto snapshot = snapshots.find(culprits[i].worker);
    if (snapshot == snapshots.end()) continue;
    for (const Core& core : snapshot->second->cores) {
      const Sequencer* sequencer = MainSequencer(core);
      if (sequencer && sequencer->pc && Means(culprits[i], core)) {
        pcs[it->second].insert(*sequencer->pc);
      }
    }
  }
  for (size_t i = 0; i < entries.size(); ++i) entries[i].pcs.assign(pcs[i].begin(), pcs[i].end());
  return entries;
}

// Whether the machine's history matters for the decision on its removal.
bool HistoryMatters(const Verdict& verdict) {
  switch (verdict.cause) {
    case Cause::kBadTpuChip:
      return true;
    case Cause::kNetworkingIssue:
      return verdict.detail != Detail::kDcnLink;
    case Cause::kUnrecoverableError:
      return verdict.detail == Detail::kPower || verdict.detail == Detail::kHostToDevice ||
             verdict.detail == Detail::kDeviceToHost;
    default:
      return false;
  }
}

// Names are reused: a history that goes by them may be that of another machine.
void SayWhoHasNoHistory(const Capture& capture, const Verdict& verdict, Report& report) {
  if (!HistoryMatters(verdict)) return;
  std::set<WorkerId> culprits;
  for (const Culprit& culprit : verdict.culprits) culprits.insert(culprit.worker);
  const bool by_name = std::any_of(
      capture.snapshots.begin(), capture.snapshots.end(), [&culprits](const Snapshot& snapshot) {
        return snapshot.hardware.value_or("").empty() && culprits.contains(snapshot.worker);
      });
  if (!by_name) return;
  absl::StrAppend(&report.removal.reason, report.removal.reason.empty() ? "" : "; ",
                  "history goes by host name, since the agent was given no --hardware");
}

// The name that people know a signal by; empty: none of those that end training processes.
const char* SignalText(int32_t signal) {
  switch (signal) {
    case 2:
      return " (SIGINT)";
    case 6:
      return " (SIGABRT)";
    case 7:
      return " (SIGBUS)";
    case 9:
      return " (SIGKILL)";
    case 11:
      return " (SIGSEGV)";
    case 15:
      return " (SIGTERM)";
    default:
      return "";
  }
}

// Says how the training process of a snapshot ended, if its host saw it.
std::optional<std::string> EndOf(const Snapshot& snapshot) {
  for (const Process& process : snapshot.processes) {
    if (process.signal) {
      return absl::StrCat("was killed by signal ", *process.signal, SignalText(*process.signal));
    }
    if (process.exit_code) return absl::StrCat("exited with status ", *process.exit_code);
  }
  return std::nullopt;
}

void DescribeForPage(const Capture& capture, const Verdict& verdict, const LogEvidence* logs,
                     Report& report) {
  report.detected_unix_ms = capture.header.detected_unix_ms;
  report.last_minutes = DescribeLastMinutes(capture, report.workers, verdict.culprits, logs);
  report.torus = FindTorusPlaces(capture, report.workers);
  report.by_logs = true;
  report.from_logs = logs != nullptr;
  std::map<WorkerId, const Snapshot*> snapshots;
  for (const Snapshot& snapshot : capture.snapshots) {
    if (!snapshot.cores.empty()) report.by_logs = false;
    snapshots[snapshot.worker] = &snapshot;
    if (!snapshot.pod.value_or("").empty()) report.scheduler = Scheduler::kKubernetes;
  }
  for (ReportCulprit& culprit : report.culprits) {
    const auto found = snapshots.find(culprit.worker.id);
    if (found == snapshots.end() || found->second->processes.empty()) continue;
    culprit.pid = found->second->processes.front().pid;
    culprit.end = EndOf(*found->second);
    culprit.frozen = classifier::IsFrozen(found->second->processes.front());
  }
}

// The prefix tells this id from the ids of stored incidents, which begin with a date.
std::string OfflineId(const Capture& capture) {
  return absl::StrCat("offline-", absl::Hex(ContentHash(capture), absl::kZeroPad16));
}

}  // namespace

Report BuildReport(const Capture& capture, const Verdict& verdict, const ReportContext& context) {
  const CaptureHeader& header = capture.header;
  Report report;
  report.revision = context.revision;
  report.stored = !context.incident_id.empty();
  report.incident_id = report.stored ? Name(context.incident_id) : OfflineId(capture);
  report.snapshot = !report.stored && header.trigger == "operator";
  report.job = Name(header.job);
  report.job_incarnation = OptionalName(header.job_incarnation);
  if (header.detected_unix_ms) report.detected_at = FormatUtc(*header.detected_unix_ms);
  report.trigger = OptionalName(header.trigger);
  report.noticed_by = OptionalName(header.noticed_by);

  Directory directory(capture);
  DescribeVerdict(verdict, directory, report);
  SayWhoHasNoHistory(capture, verdict, report);
  report.runtime_verdict = DescribeRuntimeVerdict(verdict, directory);
  report.holders = DescribeHolders(verdict);
  report.hlo_comparison = DescribeComparison(header, verdict);
  report.workers = directory.Take();
  for (const ReportWorker& worker : report.workers) {
    if (worker.reported) {
      ++report.reported;
    } else {
      report.missing.push_back(worker);
    }
  }
  report.culprit_pcs = FindCulpritPcs(report, capture, verdict.culprits);
  report.tpu_states = GroupTpuStates(capture, report.workers, verdict.culprits);
  report.stack_groups = GroupStacks(capture, report.workers, verdict.culprits);
  if (verdict.cause != Cause::kNoHang) report.first_error = FindFirstError(capture, verdict);
  DescribeForPage(capture, verdict, context.logs, report);
  report.timings = context.timings;
  report.files = context.files;
  return report;
}

}  // namespace rapideye::digest
