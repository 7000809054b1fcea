#include "digest/sentence.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
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

// "tpu-1-2 chip 2", "4 chips of tpu-1-2", "tpu-0-[1-3] (3)".
std::string Culprits(const Report& report) {
  std::set<WorkerId> workers;
  std::vector<std::string> hosts;
  std::set<std::optional<int32_t>> chips;
  for (const ReportCulprit& culprit : report.culprits) {
    if (workers.insert(culprit.worker.id).second) {
      hosts.push_back(text::EscapeName(culprit.worker.host));
    }
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

std::string ChipSentence(const Report& report, const std::string& who) {
  const Position* position = CulpritPosition(report);
  std::string text = absl::StrCat(who, " stopped");
  if (position != nullptr && !position->idle) {
    if (position->hlo) {
      absl::StrAppend(&text, " in ", text::EscapeName(*position->hlo));
    } else if (position->pc) {
      absl::StrAppend(&text, " at pc ", PcText(position->pc));
    }
  }
  return text + ".";
}

std::string NetworkSentence(const Report& report, const std::string& who) {
  const auto host = [](const ReportWorker& worker) { return text::EscapeName(worker.host); };
  switch (report.detail) {
    case Detail::kDcnPartition:
      if (!report.partition[0].empty()) {
        return absl::StrCat("The network is cut between ",
                            Counted(static_cast<int64_t>(report.partition[0].size()), "worker"),
                            " and ", report.partition[1].size(), " others.");
      }
      return "The network is cut in two.";
    case Detail::kIciLink:
      return absl::StrCat("An ICI link at ", who.empty() ? "an unknown chip" : who, " is down.");
    case Detail::kDcnHost: {
      const auto nic = report.culprits.empty() ? std::nullopt : report.culprits.front().nic;
      return absl::StrCat(who, " does not reach the other slices",
                          nic ? absl::StrCat(" over ", text::EscapeName(*nic)) : "", ".");
    }
    default:
      break;
  }
  if (!report.links.empty()) {
    const ReportLink& link = report.links.front();
    return absl::StrCat(host(link.from), " and ", host(link.to), " do not reach each other",
                        link.nic ? absl::StrCat(" over ", text::EscapeName(*link.nic)) : "", ".");
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

std::string StallSentence(const Report& report, const std::string& who) {
  const auto activity =
      report.culprits.empty() ? std::nullopt : report.culprits.front().host_activity;
  const char* does = activity ? Activity(*activity) : nullptr;
  if (does != nullptr && !Several(report)) {
    return absl::StrCat(who, " ", does, " and launches nothing.");
  }
  const bool input = report.detail == Detail::kInputPipeline;
  return absl::StrCat(who.empty() ? "Nobody" : who,
                      who.empty()       ? " launches anything: the input has stopped."
                      : Several(report) ? (input ? " launch nothing: they wait for their input."
                                                 : " have launched nothing.")
                      : input           ? " launches nothing: it waits for its input."
                                        : " has launched nothing.");
}

std::string ErrorSentence(const Report& report, const std::string& who) {
  const bool many = Several(report);
  const std::string somebody = who.empty() ? "a worker that nobody names" : who;
  switch (report.detail) {
    case Detail::kProcessExit:
      return absl::StrCat("The training process", many ? "es on " : " on ", somebody, " ended.");
    case Detail::kProcessStopped:
      return absl::StrCat("The training process", many ? "es on " : " on ", somebody,
                          many ? " are stopped." : " is stopped.");
    case Detail::kWorkerLost:
      return absl::StrCat(somebody, many ? " are gone." : " is gone.");
    case Detail::kCoreHalt:
      return absl::StrCat(somebody, " halted.");
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

std::string UnknownSentence(const Report& report) {
  std::string text = "The job stands still, and nothing tells who stopped it.";
  const Position* largest = nullptr;
  size_t all = 0;
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      if (position.idle) continue;
      all += position.cores.size();
      const bool larger = largest == nullptr || position.cores.size() > largest->cores.size();
      if (larger) largest = &position;
    }
  }
  if (largest == nullptr || !(largest->hlo || largest->pc)) return text;
  return absl::StrCat(text, " ", Grouped(static_cast<int64_t>(largest->cores.size())), " of ",
                      Counted(static_cast<int64_t>(all), "core"),
                      largest->cores.size() == 1 ? " stands" : " stand", " at ",
                      largest->hlo ? text::EscapeName(*largest->hlo) : PcText(largest->pc), ".");
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
      return "No hang: the job makes progress.";
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
      return absl::StrCat(who, Several(report) ? " have compiled" : " has compiled",
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

}  // namespace

OneSentence WriteSentence(const Report& report) { return {What(report), Waits(report)}; }

}  // namespace rapideye::digest
