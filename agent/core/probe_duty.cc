#include "agent/core/probe_duty.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "agent/sources/probe/limits.h"

namespace rapideye::agent {

void ProbeDuty::Request(const wire::ProbeRequest& request, absl::Duration now, Effects& effects) {
  const auto refuse = [&](std::string why) {
    effects.push_back(Send{wire::ProbeReply{request.collection, {}, std::move(why)}});
  };
  if (!allowed_) return refuse("this agent was started with --disable=probe");
  if (now < next_at_ || now < busy_until_) {
    return refuse("this agent has only just made other probes");
  }
  next_at_ = now + kProbeRequestSpacing;
  busy_until_ = now + kProbeTime + kLostProbeGrace;
  asked_by_ = request.collection;
  effects.push_back(Log{LogLevel::kInfo, absl::StrCat("probing other workers, as the coordinator "
                                                      "asks: ",
                                                      request.targets.size(), " probes")});
  effects.push_back(MakeProbes{++last_, request.targets});
}

void ProbeDuty::Made(const ProbesMade& made, Effects& effects) {
  if (made.request != last_) return;
  busy_until_ = -absl::InfiniteDuration();
  if (!asked_by_.has_value()) return;
  effects.push_back(
      Send{wire::ProbeReply{*asked_by_, made.reading.probes, made.reading.unavailable}});
  asked_by_.reset();
}

void ProbeDuty::Cancel(const wire::Cancel& cancel) {
  if (asked_by_ == cancel.collection) asked_by_.reset();
}

}  // namespace rapideye::agent
