#include "classifier/decision/removal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::classifier {
namespace {

std::string WhyNothingIsRemoved(const Verdict& verdict) {
  switch (verdict.cause) {
    case Cause::kNoHang:
      return "the job does not hang";
    case Cause::kUnknown:
      return "the cause is unknown: nothing is ever removed for it";
    case Cause::kDifferentModule:
    case Cause::kFingerprintMismatch:
    case Cause::kDataInputStall:
      return "a fault of software or input: watched, hosts are never removed for it";
    case Cause::kNetworkingIssue:
      if (verdict.detail == Detail::kDcnHost) {
        return "its own side and its peers' probes do not agree sufficiently: watched";
      }
      if (verdict.detail == Detail::kDcnPartition) {
        return "something between the hosts is cut, no host: watched";
      }
      if (verdict.detail == Detail::kIciLink) {
        return "which end of the link is bad is not known: eligible only if one end repeats";
      }
      return "which end of the link is bad is not known: watched";
    case Cause::kBadTpuChip:
      return "no evidence from outside the job's reach on that chip: eligible only if it repeats";
    case Cause::kUnrecoverableError:
      switch (verdict.detail) {
        case Detail::kWorkerLost:
        case Detail::kPower:
        case Detail::kHostToDevice:
        case Detail::kDeviceToHost:
          return "a single event: eligible only if it repeats";
        case Detail::kNotStarted:
          return "why it has not come is not known: watched";
        case Detail::kConfiguration:
        case Detail::kCoordinationService:
          return "a matter of settings: watched, hosts are never removed for it";
        case Detail::kPreempted:
          return "the host was preempted: never counts against it";
        default:
          return "a fault of software: watched, hosts are never removed for it";
      }
  }
  return "watched";
}

// A target must be a culprit of the verdict: without a culprit, nothing is removed.
bool IsCulprit(const Verdict& verdict, const RemovalTarget& target) {
  return std::any_of(verdict.culprits.begin(), verdict.culprits.end(), [&](const Culprit& culprit) {
    return culprit.host == target.host &&
           (!target.chip.has_value() || culprit.chip == target.chip) &&
           (!target.nic.has_value() || culprit.nic == target.nic);
  });
}

}  // namespace

Removal JudgeRemoval(const Verdict& verdict, std::vector<RemovalTarget> removable,
                     const std::string& reason) {
  Removal removal;
  const bool nothing = removable.empty();
  const bool kind_allows =
      verdict.cause == Cause::kBadTpuChip ||
      (verdict.cause == Cause::kNetworkingIssue && verdict.detail == Detail::kDcnHost);
  if (kind_allows) {
    for (RemovalTarget& target : removable) {
      if (IsCulprit(verdict, target)) removal.targets.push_back(std::move(target));
    }
  }
  removal.eligible = !removal.targets.empty();
  if (removal.eligible) {
    removal.reason = absl::StrCat("eligible at once: ", reason);
  } else {
    removal.reason =
        nothing && kind_allows && !reason.empty() ? reason : WhyNothingIsRemoved(verdict);
  }
  return removal;
}

}  // namespace rapideye::classifier
