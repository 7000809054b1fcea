#include "classifier/findings/rejections.h"

#include "absl/strings/str_cat.h"
#include "classifier/errors/coordination.h"
#include "classifier/wait/chain_text.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

std::string_view AdvanceText(Advance advance) {
  switch (advance) {
    case Advance::kLaunches:
      return "launches completed";
    case Advance::kLoops:
      return "training loops made steps";
    case Advance::kLogs:
      return "logs told steps";
    case Advance::kProcesses:
      return "processes worked";
  }
  return "";
}

std::string NotOnPurposeText(const Case& c, const NotEndedOnPurpose& rejection) {
  switch (rejection.why) {
    case NotOnPurpose::kWorkerLives:
      return absl::StrCat(Who(c.worker(rejection.worker)), " has not ended");
    case NotOnPurpose::kFailedByItself:
      return absl::StrCat(Who(c.worker(rejection.worker)), " failed by itself");
    case NotOnPurpose::kNotAlike:
      return "its processes were not all ended alike";
    case NotOnPurpose::kTooFew:
      return "too few processes are known to have ended";
    case NotOnPurpose::kHangDeclared:
      return "its runtime had declared a hang";
    case NotOnPurpose::kFailureBefore:
      return "something had failed before";
    case NotOnPurpose::kStandstillBefore:
      return "it had stood still before";
  }
  return "";
}

std::string Say(const Case& c, const AllHaveCome& rejection) {
  return absl::StrCat(FactText(c, rejection.waits), ", but everybody has come");
}

std::string Say(const Case& c, const FailedInsteadOfWaiting& rejection) {
  return absl::StrCat(WhoAll(c.topology, *rejection.absent),
                      " has not come, but something else failed outright");
}

std::string Say(const Case&, const FailedSince& rejection) {
  return absl::StrCat(std::string(AdvanceText(rejection.advance)),
                      " a short while ago, but a worker has failed since");
}

std::string Say(const Case& c, const PauseRejected& rejection) {
  switch (rejection.why) {
    case NoExcuse::kWaitedFor:
      return absl::StrCat("a pause was announced and has been waited for for ",
                          Span(c.capture.header.announced_pause_ms.value_or(0)),
                          ": it is no excuse any more");
    case NoExcuse::kOutlived:
      return "the alarm has outlived every pause that was learnt: none is an excuse";
    case NoExcuse::kOthersEnded:
      return "training processes have ended: no pause of others is an excuse for that";
    case NoExcuse::kLaunchStands:
      return absl::StrCat("cores stand in a launch for longer than ", Span(c.threshold_ms),
                          ": no pause of others is an excuse for that");
  }
  return "";
}

std::string Say(const Case& c, const HeldByConnections& rejection) {
  return absl::StrCat("connections that deliver nothing hold ",
                      WhoAll(c.topology, *rejection.workers));
}

std::string Say(const Case& c, const HeldByChip& rejection) {
  return absl::StrCat(HeadName(c.topology, c.positions, *rejection.head),
                      " stands apart in the program of ", WhoAll(c.topology, *rejection.workers),
                      ", and holds them there");
}

std::string Say(const Case& c, const WentOnRecently& rejection) {
  return absl::StrCat(HeadName(c.topology, c.positions, *rejection.head),
                      " stands apart, but went on a short while ago: a failure raised the alarm, "
                      "not a standstill");
}

std::string Say(const Case& c, const NotEndedOnPurpose& rejection) {
  return absl::StrCat("the job was not ended on purpose: ", NotOnPurposeText(c, rejection));
}

std::string Say(const Case&, const CompilationsScattered& rejection) {
  return absl::StrCat("by XLA's dumps ", Quote(rejection.module),
                      " has several compilations, and none is that of most workers");
}

std::string Say(const Case&, const BarrierRejected& rejection) {
  const std::string barrier = absl::StrCat("barrier ", Quote(rejection.barrier->id));
  switch (rejection.why) {
    case BarrierUnclear::kAfterFailure:
      return absl::StrCat(barrier, ": something had failed before it timed out");
    case BarrierUnclear::kTooManyMissed:
      return absl::StrCat(barrier, ": too many did not come, they may wait for whoever did");
    case BarrierUnclear::kShutdown:
      break;
  }
  return "a barrier of the shutdown timed out: whether whoever came was done, nothing tells";
}

std::string Say(const Case&, const HostsRejected& rejection) {
  switch (rejection.why) {
    case NoHostStandsOut::kMostUnknown:
      return "no host is singled out: of most it is not known where they stand";
    case NoHostStandsOut::kSomeMissing:
      return "no host is singled out: all that are known wait, and somebody is missing";
    case NoHostStandsOut::kPythonAlone:
      return "no host is singled out: stacks in the logs end in functions that may wait for the "
             "device";
    case NoHostStandsOut::kDeviceRuns:
      return "no host is singled out: the one that stands apart waits for its device, of which "
             "some cores run and others do not";
    case NoHostStandsOut::kMostAreAlike:
      break;
  }
  return absl::StrCat("no host is singled out: most that are known wait ",
                      std::string(WaitedFor(rejection.wait)));
}

std::string Say(const Case& c, const NotLost& rejection) {
  return absl::StrCat(WhoAll(c.topology, *rejection.workers),
                      rejection.reached
                          ? ": no snapshot, but probes are answered: the agent or the pod is gone, "
                            "not the host"
                          : ": no snapshot, and nothing else that speaks against it");
}

std::string Say(const Case&, const LinkRejected& rejection) {
  switch (rejection.why) {
    case NoBrokenLink::kNoFault:
      return "cores wait for another slice, but no connection shows a fault";
    case NoBrokenLink::kThirdHost:
      return "two hosts wait for another slice, but a third one may be what they wait for";
    case NoBrokenLink::kReachedOther:
      return "two hosts wait for each other's slice, but reach each other";
  }
  return "";
}

}  // namespace

std::string RejectionText(const Case& c, const Rejection& rejection) {
  return std::visit([&](const auto& one) { return Say(c, one); }, rejection);
}

}  // namespace rapideye::classifier
