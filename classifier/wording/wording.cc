#include "classifier/wording/wording.h"

#include "absl/strings/str_cat.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"

namespace rapideye {
namespace {

using classifier::Count;

std::string By(const Considered& considered) {
  if (!considered.by) return "another finding";
  if (considered.by_detail == Detail::kNone) return std::string(CauseName(*considered.by));
  return absl::StrCat(std::string(CauseName(*considered.by)), " (",
                      std::string(DetailName(considered.by_detail)), ")");
}

// Why a finding is not the verdict; empty: no rule found the cause.
std::string WhyLost(const Considered& considered) {
  switch (considered.why) {
    case WhyNot::kLessCertain:
      return absl::StrCat(By(considered), " is surer");
    case WhyNot::kTooUncertain:
      return "it is less sure than what may be named as the cause";
    case WhyNot::kFailure:
      return absl::StrCat(By(considered), " of the same workers explains it");
    case WhyNot::kNotStarted:
      return "a worker that has not come explains it";
    case WhyNot::kAbsence:
      return "these can be mates of the missing worker, and wait for it";
    case WhyNot::kBrokenLink:
      return absl::StrCat(By(considered),
                          " explains it: they wait for data of a broken connection");
    case WhyNot::kPause:
      return "those hosts rest on purpose";
    case WhyNot::kContradiction:
      return "something surer speaks against it";
    case WhyNot::kProgress:
      return "the job makes progress, or rests on purpose";
    default:
      return "";
  }
}

// Why no rule found the cause.
std::string WhyNotFound(const Considered& considered) {
  const int64_t count = considered.count.value_or(0);
  switch (considered.why) {
    case WhyNot::kNoCoresKnown:
      return "nothing is known of any core";
    case WhyNot::kNoCoreStandsOut:
      return absl::StrCat("of ", Count(count, "core"), " none stands where the others do not");
    case WhyNot::kHostsStandOut:
      return absl::StrCat("the chain ends at ", Count(count, "host"),
                          ", not at a chip that waits for nobody");
    case WhyNot::kNoLinksKnown:
      return "nothing is known of connections between workers: no sockets, no probes";
    case WhyNot::kLinksWork:
      return absl::StrCat("no connection is broken, in ", Count(count, "socket"),
                          " and probes looked at");
    case WhyNot::kLinksNotAwaited:
      return absl::StrCat(Count(count, "connection"), count == 1 ? " shows faults" : " show faults",
                          ", but nothing that waits rests on them");
    case WhyNot::kNoProgramsKnown:
      return "nothing is known of the programs that run";
    case WhyNot::kSamePrograms:
      return absl::StrCat("the programs of all ", Count(count, "worker"), " fit together");
    case WhyNot::kProgramsCanMeet:
      return absl::StrCat(Count(count, "worker"), count == 1 ? " is" : " are",
                          " elsewhere in the programs, but nothing shows that they never meet");
    case WhyNot::kOneFingerprint:
      return count == 1 ? "the module has one fingerprint at all workers"
                        : absl::StrCat("each of ", Count(count, "module"),
                                       " has one fingerprint at all workers");
    case WhyNot::kNotOneLaunch:
      return absl::StrCat(Count(count, "module"), count == 1 ? " has" : " have",
                          " several fingerprints, but no launch is known to run two of them");
    case WhyNot::kEveryHostQueued:
      return absl::StrCat("none of ", Count(count, "host"),
                          " that have work lacks what the others wait for");
    case WhyNot::kNobodyFailed:
      return "nobody has halted, ended or is missing";
    case WhyNot::kFailuresFollow:
      return absl::StrCat(Count(count, "error"), count == 1 ? " is" : " are",
                          " younger than the standstill, or follow from it");
    case WhyNot::kMissingNotNeeded:
      return absl::StrCat(Count(count, "worker"), count == 1 ? " is" : " are",
                          " missing, but nothing shows that the others wait for them");
    case WhyNot::kNothingCompletes:
      return considered.count ? absl::StrCat("nothing has completed for ", classifier::Span(count))
                              : "nothing shows that anything completes";
    case WhyNot::kLessCertain:
    case WhyNot::kTooUncertain:
    case WhyNot::kFailure:
    case WhyNot::kNotStarted:
    case WhyNot::kAbsence:
    case WhyNot::kBrokenLink:
    case WhyNot::kPause:
    case WhyNot::kContradiction:
    case WhyNot::kProgress:
      break;
  }
  return "";
}

}  // namespace

std::string_view PhaseText(Phase phase) {
  switch (phase) {
    case Phase::kCompile:
      return "in a compilation";
    case Phase::kInput:
      return "waiting for input";
    case Phase::kStep:
      return "in a step";
    case Phase::kCheckpoint:
      return "in a checkpoint";
    case Phase::kEval:
      return "in an evaluation";
    case Phase::kUnspecified:
      break;
  }
  return "between phases";
}

std::string WhyNotText(const Considered& considered) {
  const std::string lost = WhyLost(considered);
  return lost.empty() ? WhyNotFound(considered) : lost;
}

std::string WaitText(const ChainGroup& group) {
  const bool one = group.cores == 1 || (group.cores == 0 && group.workers.size() == 1);
  switch (group.wait) {
    case WaitKind::kUnclear:
      if (group.loops_ms) return "loops: its pc moves, but no launch completes";
      return one ? "stands, for what is not clear" : "stand, for what is not clear";
    case WaitKind::kCollective:
      return absl::StrCat(
          one ? "waits at a collective in its slice" : "wait at a collective in their slice",
          group.members ? absl::StrCat(", ", group.cores, " of the ", *group.members,
                                       " that meet in one group")
                        : "");
    case WaitKind::kTransfer:
      return one ? "waits for data of another slice" : "wait for data of another slice";
    case WaitKind::kSparseCore:
      return one ? "waits for a SparseCore of its chip" : "wait for a SparseCore of their chip";
    case WaitKind::kOwnHost:
      return one ? "waits for its own host" : "wait for their own hosts";
    case WaitKind::kIdle:
      return one ? "is idle, with nothing queued" : "are idle, with nothing queued";
    case WaitKind::kCompute:
      if (group.loops_ms) return "loops: its pc moves, but no launch completes";
      return one ? "computes, and waits for nobody" : "compute, and wait for nobody";
    case WaitKind::kKernel:
      if (group.loops_ms) return "loops in a kernel: its pc moves, but no launch completes";
      return one ? "stands in a kernel" : "stand in a kernel";
    case WaitKind::kHostWait:
      return one ? "waits on its host" : "wait on their hosts";
    case WaitKind::kHostWork:
      return one ? "is busy on its host" : "are busy on their hosts";
    case WaitKind::kStarting:
      return one ? "starts" : "start";
    case WaitKind::kHalted:
      return one ? "has halted" : "have halted";
    case WaitKind::kStopped:
      return one ? "is stopped or frozen" : "are stopped or frozen";
    case WaitKind::kEnded:
      return one ? "has ended" : "have ended";
    case WaitKind::kSilent:
      return one ? "has told nothing" : "have told nothing";
    case WaitKind::kMixed:
      return one ? "stands there" : "stand at one place or several";
    case WaitKind::kRunning:
      return one ? "runs" : "run";
  }
  return "";
}

std::string EdgeText(WaitEdgeKind kind) {
  switch (kind) {
    case WaitEdgeKind::kCollective:
      return "waits in the slice for";
    case WaitEdgeKind::kTransfer:
      return "waits across slices for";
    case WaitEdgeKind::kSparseCore:
      return "waits on the chip for";
    case WaitEdgeKind::kInput:
      return "waits for input that is missing at";
    case WaitEdgeKind::kLaunch:
      return "waits for a launch that is missing at";
    case WaitEdgeKind::kHost:
      return "waits on the host for";
    case WaitEdgeKind::kStartUp:
      return "cannot start without";
    case WaitEdgeKind::kAfter:
      return "ran out of work, or ended, after";
    case WaitEdgeKind::kBrokenLink:
      return "has a broken connection to";
    case WaitEdgeKind::kDivergence:
      return "runs programs that never meet those of";
  }
  return "";
}

}  // namespace rapideye
