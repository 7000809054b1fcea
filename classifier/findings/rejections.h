// Rejection states as data why a rule has no finding although some evidence suggested one;
// RejectionText puts the rejection into a sentence.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_REJECTIONS_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_REJECTIONS_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "classifier/findings/facts.h"

namespace rapideye::classifier {

// The others wait for the job to be complete, and no worker is absent.
struct AllHaveCome {
  StartUpWaits waits;
};

// Workers have not come, but something else failed outright.
struct FailedInsteadOfWaiting {
  const std::vector<int>* absent = nullptr;
};

// The job advanced a short while ago, but a worker has failed since.
enum class Advance {
  kLaunches,   // cores completed launches
  kLoops,      // training loops made steps
  kLogs,       // logs told steps
  kProcesses,  // processes worked
};
struct FailedSince {
  Advance advance = Advance::kLaunches;
};

// A pause that is no excuse.
enum class NoExcuse {
  kWaitedFor,  // it was announced and has been waited for, for as long as the capture's header says
  kOutlived,   // the alarm has outlived every learnt pause
  kOthersEnded,   // training processes of other workers have ended
  kLaunchStands,  // cores stand in a launch for longer than the threshold
};
struct PauseRejected {
  NoExcuse why = NoExcuse::kOutlived;
};

// Evidence speaks in one of these ways against a job that was ended on purpose.
enum class NotOnPurpose {
  kWorkerLives,      // a worker has not ended
  kFailedByItself,   // a worker failed by itself
  kNotAlike,         // several signals ended the processes
  kTooFew,           // too few processes are known to have ended
  kHangDeclared,     // the runtime had declared a hang
  kFailureBefore,    // something had failed before
  kStandstillBefore  // the job had stood still before
};
struct NotEndedOnPurpose {
  NotOnPurpose why = NotOnPurpose::kTooFew;
  int worker = 0;  // for kWorkerLives and kFailedByItself
};

// Workers that run what the others do not, held there by connections that deliver nothing.
struct HeldByConnections {
  const std::vector<int>* workers = nullptr;
};

// Workers that run what the others do not, in the program in which a chip stands apart.
struct HeldByChip {
  const std::vector<int>* workers = nullptr;
  const Head* head = nullptr;
};

// A failure raised the alarm, and the head completed a launch and moved a short while before.
struct WentOnRecently {
  const Head* head = nullptr;
};

// XLA's dumps hold several compilations of a module, none of them that of most workers.
struct CompilationsScattered {
  std::string_view module;
};

// A barrier that names nobody.
enum class BarrierUnclear {
  kAfterFailure,   // something had failed before it timed out
  kTooManyMissed,  // too many did not come
  kShutdown,       // nothing shows whether the workers that came to that of the shutdown were done
};
struct BarrierRejected {
  BarrierUnclear why = BarrierUnclear::kShutdown;
  const FailedBarrier* barrier = nullptr;
};

// No host stands where the others do not.
enum class NoHostStandsOut {
  kMostUnknown,   // of most hosts it is not known where they stand
  kSomeMissing,   // all known ones wait, and a worker is missing
  kPythonAlone,   // stacks in logs end in functions of the program, which may wait below Python
  kDeviceRuns,    // the host that stands apart waits for its device, of which some cores run
  kMostAreAlike,  // most known ones wait in the same way
};
struct HostsRejected {
  NoHostStandsOut why = NoHostStandsOut::kMostUnknown;
  HostWait wait = HostWait::kNone;  // for kMostAreAlike
};

// Workers without a snapshot that are not known to be lost.
struct NotLost {
  const std::vector<int>* workers = nullptr;
  bool reached = false;  // probes of their hosts are answered
};

// Cores wait for another slice, and no connection is known to be broken.
enum class NoBrokenLink {
  kNoFault,       // no connection shows a fault
  kThirdHost,     // two hosts wait, perhaps for a third one
  kReachedOther,  // two hosts wait for each other's slice, and reach each other
};
struct LinkRejected {
  NoBrokenLink why = NoBrokenLink::kNoFault;
};

// Pointers and views in a rejection outlive it.
using Rejection =
    std::variant<AllHaveCome, FailedInsteadOfWaiting, FailedSince, PauseRejected, NotEndedOnPurpose,
                 HeldByConnections, HeldByChip, WentOnRecently, CompilationsScattered,
                 BarrierRejected, HostsRejected, NotLost, LinkRejected>;

// One sentence, the same for the same case and rejection, bounded and not escaped.
std::string RejectionText(const Case& c, const Rejection& rejection);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_REJECTIONS_H_
