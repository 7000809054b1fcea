#include "digest/sentence.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/hlo/layers.h"
#include "digest/html_text.h"
#include "digest/text_states.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

// Hosts are named up to this many bytes, else counted.
constexpr size_t kMaxNames = 96;

bool IsSparseCore(CoreType type) {
  return type == CoreType::kSparseCore || type == CoreType::kSparseCoreV0;
}

// A worker that never came has no name of a host.
std::string HostName(const ReportWorker& worker) {
  if (worker.host.empty()) {
    return absl::StrCat("slice ", worker.id.slice, " task ", worker.id.task);
  }
  return text::EscapeName(worker.host);
}

// "tpu-1-2 chip 2", "4 chips of tpu-1-2", "tpu-0-[1-3] (3)".
std::string Culprits(const Report& report) {
  std::set<WorkerId> workers;
  std::vector<std::string> hosts;
  std::set<std::optional<int32_t>> chips;
  for (const ReportCulprit& culprit : report.culprits) {
    if (workers.insert(culprit.worker.id).second) hosts.push_back(HostName(culprit.worker));
    chips.insert(culprit.chip);
  }
  if (workers.empty()) return "";
  const std::string names = FoldedHosts(hosts, kMaxNames);
  if (workers.size() > 1) return names;
  if (chips.size() > 1) return absl::StrCat(chips.size(), " chips of ", names);
  const ReportCulprit& culprit = report.culprits.front();
  if (!culprit.chip) return names;
  std::string text = absl::StrCat(names, " chip ", *culprit.chip);
  if (culprit.core_type && IsSparseCore(*culprit.core_type)) {
    absl::StrAppend(&text, " SparseCore");
    if (culprit.core_index) absl::StrAppend(&text, " ", *culprit.core_index);
  }
  return text;
}

bool Several(const Report& report) {
  return std::any_of(report.culprits.begin(), report.culprits.end(),
                     [&report](const ReportCulprit& culprit) {
                       return culprit.worker.id != report.culprits.front().worker.id;
                     });
}

std::string HostNames(const std::vector<ReportWorker>& workers) {
  std::vector<std::string> hosts;
  for (const ReportWorker& worker : workers) hosts.push_back(HostName(worker));
  return FoldedHosts(hosts, kMaxNames);
}

// Cores that are held up: that run something, and are no culprit's.
int64_t WaitingCores(const Report& report) {
  int64_t waiting = 0;
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      for (const CoreAt& core : position.cores) {
        if (core.culprit || (position.idle && IsSparseCore(core.type))) continue;
        ++waiting;
      }
    }
  }
  return waiting;
}

std::string Waits(const Report& report) {
  if (report.cause == Cause::kNoHang || report.cause == Cause::kUnknown) return "";
  // That service has ended the processes: nobody waits any more.
  if (report.detail == Detail::kCoordinationService) return "";
  std::set<WorkerId> accused;
  for (const ReportCulprit& culprit : report.culprits) accused.insert(culprit.worker.id);
  const int64_t cores = WaitingCores(report);
  const auto workers =
      static_cast<int64_t>(report.workers.size() - std::min(report.workers.size(), accused.size()));
  const int64_t count = cores > 0 ? cores : workers;
  if (count == 0) return "";
  const char* noun = cores > 0 ? "core" : "worker";
  const bool named = !report.culprits.empty();
  return absl::StrCat(Counted(count, noun), count == 1 ? " waits" : " wait",
                      !named            ? ""
                      : Several(report) ? " for them"
                                        : " for it",
                      ".");
}

const Position* CulpritPosition(const Report& report) {
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      if (position.culprit) return &position;
    }
  }
  return nullptr;
}

// True if all that the chain ends at are cores whose pcs move.
bool Loops(const Report& report) {
  bool any = false;
  for (const ChainGroup& group : report.chain.groups) {
    if (!group.head) continue;
    if (!group.loops_ms) return false;
    any = true;
  }
  return any;
}

std::string ChipSentence(const Report& report, const std::string& who) {
  const Position* position = CulpritPosition(report);
  const bool loops = Loops(report);
  const bool many = std::any_of(
      report.culprits.begin(), report.culprits.end(), [&report](const ReportCulprit& culprit) {
        const ReportCulprit& first = report.culprits.front();
        return culprit.worker.id != first.worker.id || culprit.chip != first.chip;
      });
  std::string text = absl::StrCat(who, !loops ? " stopped" : many ? " loop" : " loops");
  if (position != nullptr && !position->idle) {
    if (position->hlo) {
      absl::StrAppend(&text, " in ", text::EscapeName(*position->hlo));
    } else if (position->pc) {
      absl::StrAppend(&text, " at pc ", PcText(position->pc));
    }
  }
  return absl::StrCat(text, loops ? ", and no launch completes." : ".");
}

std::string NetworkSentence(const Report& report, const std::string& who) {
  const auto host = [](const ReportWorker& worker) { return text::EscapeName(worker.host); };
  switch (report.detail) {
    case Detail::kDcnPartition:
      if (!report.partition[0].empty()) {
        return absl::StrCat(
            "The network is cut between ", HostNames(report.partition[0]), " and ",
            Counted(static_cast<int64_t>(report.partition[1].size()), "other worker"), ".");
      }
      return "The network is cut in two.";
    case Detail::kIciLink:
      return absl::StrCat("An ICI link at ", who.empty() ? "an unknown chip" : who, " is down.");
    case Detail::kDcnHost: {
      const auto nic = report.culprits.empty() ? std::nullopt : report.culprits.front().nic;
      const auto peers = static_cast<int64_t>(report.links.size());
      return absl::StrCat(who, " does not reach ",
                          peers > 0 ? Counted(peers, "other worker") : "the other workers",
                          nic ? absl::StrCat(" over ", text::EscapeName(*nic)) : "", ".");
    }
    default:
      break;
  }
  if (!report.links.empty()) {
    const ReportLink& link = report.links.front();
    return absl::StrCat(host(link.from), " and ", host(link.to), " do not reach each other",
                        link.nic ? absl::StrCat(" over ", text::EscapeName(*link.nic)) : "",
                        report.links.size() > 1
                            ? absl::StrCat(", nor do ", report.links.size() - 1, " more pairs.")
                            : ".");
  }
  return absl::StrCat("The network of ", who.empty() ? "the job" : who, " is broken.");
}

std::string DivergenceSentence(const Report& report, const std::string& who) {
  if (who.empty()) return "The workers run programs that differ; nothing tells who is wrong.";
  const std::string verb = Several(report) ? "" : "s";
  if (report.detail == Detail::kLaunchOrder) {
    return absl::StrCat(who, " launch", verb.empty() ? "" : "es",
                        " the programs in another order than the others.");
  }
  std::string own;
  std::string others;
  for (const ProgramGroup& group : report.tpu_states) {
    if (!group.module) continue;
    std::string& name = group.culprit ? own : others;
    if (name.empty()) name = text::EscapeName(*group.module);
  }
  if (own.empty() || others.empty() || own == others) {
    return absl::StrCat(who, " run", verb, " another program than the others.");
  }
  return absl::StrCat(who, " run", verb, " ", own, ", the others ", others, ".");
}

// Says what has made two compilations of one program differ, if the comparison shows it.
std::string CompilationSentence(const Report& report, const std::string& who) {
  if (!report.hlo_comparison || report.hlo_comparison->sides.size() != 2) return "";
  const HloComparison& comparison = *report.hlo_comparison;
  const std::string module =
      text::EscapeName(comparison.sides[0].module.value_or("the same program"));
  const std::string compiles = absl::StrCat(who, Several(report) ? " compile " : " compiles ");
  const auto build = [&comparison](size_t side) {
    return classifier::HloBuildOf(comparison.sides[side].dump.value_or(""));
  };
  // Another build may be the reason for all other differences.
  if (!build(0).empty() && !build(1).empty() && build(0) != build(1)) {
    return absl::StrCat(compiles, module, " with another build of libtpu than the others: ",
                        text::EscapeName(build(0)), ", not ", text::EscapeName(build(1)), ".");
  }
  if (comparison.inputs.empty() || comparison.inputs[0].values.size() != 2) return "";
  const DifferingInput& input = comparison.inputs[0];
  const auto value = [&input](size_t side) {
    return input.values[side].empty() ? "nothing" : text::EscapeText(input.values[side], kMaxNames);
  };
  if (input.kind == InputKind::kFlag && input.name) {
    return absl::StrCat(compiles, module, " with ", text::EscapeName(*input.name), " ", value(0),
                        ", the others with ", value(1), ".");
  }
  if (input.kind != InputKind::kProgram) return "";
  return absl::StrCat(compiles, "another ", module, " than the others",
                      input.name ? absl::StrCat(", from ", text::EscapeName(*input.name)) : "",
                      ": ", value(0), ", not ", value(1), ".");
}

const char* Activity(HostActivity activity) {
  switch (activity) {
    case HostActivity::kCheckpointSave:
      return "saves a checkpoint";
    case HostActivity::kCheckpointRestore:
      return "restores a checkpoint";
    case HostActivity::kStorageRead:
      return "reads from storage";
    case HostActivity::kCompilation:
      return "compiles";
    case HostActivity::kBarrier:
      return "waits at a barrier";
    case HostActivity::kLock:
      return "waits for a lock";
    case HostActivity::kRetry:
      return "tries something again and again";
    case HostActivity::kGarbageCollection:
      return "collects garbage";
    case HostActivity::kInput:
      return "waits for its input";
    case HostActivity::kStartUp:
      return "is still starting";
    case HostActivity::kShutdown:
      return "is shutting down";
    case HostActivity::kPaused:
      return "pauses";
    case HostActivity::kOther:
      break;
  }
  return nullptr;
}

// For how long the head of the chain has stood there; empty: not known.
std::string Standstill(const Report& report) {
  std::optional<int64_t> shortest;
  for (const ChainGroup& group : report.chain.groups) {
    if (group.head && group.since_ms) {
      shortest = std::min(shortest.value_or(*group.since_ms), *group.since_ms);
    }
  }
  return shortest && *shortest > 0 ? Duration(*shortest) : "";
}

std::string StallSentence(const Report& report, const std::string& who) {
  const auto activity =
      report.culprits.empty() ? std::nullopt : report.culprits.front().host_activity;
  const char* does = activity ? Activity(*activity) : nullptr;
  if (does != nullptr && !Several(report)) {
    return absl::StrCat(who, " ", does, " and launches nothing.");
  }
  const bool input = report.detail == Detail::kInputPipeline;
  // Without cores, nothing tells of launches but that its process has ended, by a watchdog perhaps.
  const bool ended = std::any_of(
      report.chain.groups.begin(), report.chain.groups.end(), [](const ChainGroup& group) {
        return group.head && group.cores == 0 && group.wait == WaitKind::kEnded;
      });
  if (ended && !input && !who.empty()) {
    return absl::StrCat(who, " launched nothing more before ",
                        Several(report) ? "they ended." : "it ended.");
  }
  const std::string since = Standstill(report);
  if (!input && !who.empty() && !since.empty()) {
    return absl::StrCat(who, Several(report) ? " have" : " has", " launched nothing for ", since,
                        ".");
  }
  return absl::StrCat(who.empty() ? "Nobody" : who,
                      who.empty()       ? " launches anything: the input has stopped."
                      : Several(report) ? (input ? " launch nothing: they wait for their input."
                                                 : " launch nothing more.")
                      : input           ? " launches nothing: it waits for its input."
                                        : " launches nothing more.");
}

// `what`, and the culprit's last words: "exited with status 1: ValueError: loss is not finite".
std::string WithLastWords(const Report& report, std::string text) {
  if (report.culprits.empty()) return text;
  const ReportCulprit& culprit = report.culprits.front();
  // The line that the culprit alone has written, and before all others, says why.
  for (const LoggedLine& line : report.last_minutes.log) {
    if (line.minor || !line.source.empty()) continue;
    if (!line.culprit || line.workers.size() != 1) break;
    const ReportWorker& writer = report.workers[line.workers.front()];
    if (writer.id != culprit.worker.id) break;
    absl::StrAppend(&text, ": ", text::EscapeText(line.text, kMaxNames));
    break;
  }
  while (text.size() > 1 && text.back() == '.') text.pop_back();
  return text;
}

std::string ErrorSentence(const Report& report, const std::string& who) {
  const bool many = Several(report);
  const std::string somebody = who.empty() ? "a worker that nobody names" : who;
  switch (report.detail) {
    case Detail::kProcessExit:
      return absl::StrCat("The training process", many ? "es on " : " on ", somebody, " ",
                          many || who.empty()
                              ? "ended"
                              : WithLastWords(report, report.culprits[0].end.value_or("ended")),
                          ".");
    case Detail::kProcessStopped:
      return absl::StrCat("The training process", many ? "es on " : " on ", somebody,
                          many ? " are stopped." : " is stopped.");
    case Detail::kWorkerLost:
      return absl::StrCat(somebody, many ? " are gone." : " is gone.");
    case Detail::kCoreHalt:
      return absl::StrCat(many ? somebody + " halted" : WithLastWords(report, somebody + " halted"),
                          ".");
    case Detail::kHostToDevice:
    case Detail::kDeviceToHost:
      return absl::StrCat("Copies between host and chip fail on ", somebody, ".");
    case Detail::kOutOfMemory:
      return absl::StrCat(somebody, " ran out of memory.");
    case Detail::kPower:
      return absl::StrCat(somebody, " lost power.");
    case Detail::kPreempted:
      return absl::StrCat(somebody, many ? " were preempted." : " was preempted.");
    case Detail::kDeviceUnavailable:
      return absl::StrCat(somebody, many ? " cannot have their chips." : " cannot have its chips.");
    case Detail::kNotStarted:
      return absl::StrCat("No training process has come from ", somebody, ".");
    case Detail::kConfiguration:
      return absl::StrCat(somebody, many ? " are" : " is", " set up otherwise than the job needs.");
    case Detail::kCoordinationService:
      return "The coordination service ended a job in which everybody was alive.";
    default:
      return absl::StrCat(somebody, " failed.");
  }
}

// The place at which most cores of a job stand; SparseCores count only where no TensorCore is
// known.
struct Crowd {
  const Position* largest = nullptr;
  size_t cores = 0;  // at the largest
  size_t all = 0;
};

Crowd LargestCrowd(const Report& report, bool sparse) {
  Crowd crowd;
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      const auto cores = static_cast<size_t>(std::count_if(
          position.cores.begin(), position.cores.end(),
          [sparse](const CoreAt& core) { return IsSparseCore(core.type) == sparse; }));
      crowd.all += cores;
      if (cores <= crowd.cores) continue;
      crowd.largest = &position;
      crowd.cores = cores;
    }
  }
  return crowd;
}

// Says which workers have come least far, of a job that has not started.
std::string StartSentence(const Report& report) {
  const std::vector<StartUpGroup>& groups = report.last_minutes.start_up;
  std::string text = "The job has not started, and nothing tells who holds it up.";
  if (groups.size() < 2) return text;
  std::vector<ReportWorker> workers;
  for (const size_t worker : groups[0].workers) workers.push_back(report.workers[worker]);
  return absl::StrCat(text, " ", HostNames(workers), workers.size() == 1 ? " has" : " have",
                      " come least far: ", groups[0].stage, ".");
}

std::string UnknownSentence(const Report& report) {
  if (!report.last_minutes.start_up.empty()) return StartSentence(report);
  std::string text = "The job stands still, and nothing tells who stopped it.";
  Crowd crowd = LargestCrowd(report, /*sparse=*/false);
  if (crowd.all == 0) crowd = LargestCrowd(report, /*sparse=*/true);
  if (crowd.largest == nullptr) return text;
  const Position& at = *crowd.largest;
  if (!at.idle && !at.hlo && !at.pc) return text;
  const bool one = crowd.cores == 1;
  return absl::StrCat(
      text, " ", crowd.cores == crowd.all ? "All" : Grouped(static_cast<int64_t>(crowd.cores)),
      crowd.cores == crowd.all ? " " : " of ", Counted(static_cast<int64_t>(crowd.all), "core"),
      at.idle ? one ? " has" : " have"
      : one   ? " stands at "
              : " stand at ",
      at.idle  ? " nothing to run"
      : at.hlo ? text::EscapeName(*at.hlo)
               : absl::StrCat("pc ", PcText(at.pc)),
      ".");
}

std::string WellSentence(const Report& report) {
  switch (report.detail) {
    case Detail::kPaused:
      return "No hang: the job pauses, as it has announced or done before.";
    case Detail::kStarting:
      return "No hang: the job is starting.";
    case Detail::kEnded:
      return "No hang: the job has ended.";
    default:
      return report.from_logs ? "No hang in the logs: the job made progress until they end."
                              : "No hang: the job makes progress.";
  }
}

std::string What(const Report& report) {
  const std::string who = Culprits(report);
  switch (report.cause) {
    case Cause::kNoHang:
      return WellSentence(report);
    case Cause::kBadTpuChip:
      return ChipSentence(report, who.empty() ? "A chip that nobody names" : who);
    case Cause::kNetworkingIssue:
      return NetworkSentence(report, who);
    case Cause::kDifferentModule:
      return DivergenceSentence(report, who);
    case Cause::kFingerprintMismatch:
      if (who.empty()) return "The same program was compiled differently on some workers.";
      if (std::string why = CompilationSentence(report, who); !why.empty()) return why;
      return absl::StrCat(who, Several(report) ? " compile" : " compiles",
                          " the same program to something else than the others.");
    case Cause::kDataInputStall:
      return StallSentence(report, who);
    case Cause::kUnrecoverableError:
      return ErrorSentence(report, who);
    case Cause::kUnknown:
      break;
  }
  return UnknownSentence(report);
}

const char* ErrorLabel(Detail detail) {
  switch (detail) {
    case Detail::kProcessStopped:
      return "stopped here";
    case Detail::kProcessExit:
      return "ended here";
    case Detail::kWorkerLost:
      return "lost here";
    case Detail::kNotStarted:
      return "not started here";
    case Detail::kPreempted:
      return "preempted here";
    default:
      return "failed here";
  }
}

}  // namespace

const char* CulpritLabel(const Report& report) {
  switch (report.cause) {
    case Cause::kBadTpuChip:
      return Loops(report) ? "loops here" : "stopped here";
    case Cause::kNetworkingIssue:
      return report.detail == Detail::kDcnPartition ? "cut off here" : "link broken here";
    case Cause::kDifferentModule:
      return report.detail == Detail::kLaunchOrder ? "other order here" : "other program here";
    case Cause::kFingerprintMismatch:
      return "compiled otherwise here";
    case Cause::kDataInputStall:
      return "launches nothing here";
    case Cause::kUnrecoverableError:
      return ErrorLabel(report.detail);
    case Cause::kUnknown:
      return "suspected here";
    case Cause::kNoHang:
      break;
  }
  return "";
}

OneSentence WriteSentence(const Report& report) { return {What(report), Waits(report)}; }

std::string SentenceText(const Report& report) {
  const OneSentence sentence = WriteSentence(report);
  return absl::StrCat(sentence.what, sentence.waits.empty() ? "" : " ", sentence.waits);
}

}  // namespace rapideye::digest
