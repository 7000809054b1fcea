#include "coordinator/core/probe_round.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/membership.h"

namespace rapideye::coordinator {
namespace {

bool Answers(const Probe& probe, const PlannedProbe& planned) {
  return probe.peer == planned.target.peer && probe.nic == planned.target.nic;
}

const Probe* AnswerTo(const PlannedProbe& planned, const wire::ProbeReply& reply) {
  const auto found = std::find_if(reply.probes.begin(), reply.probes.end(),
                                  [&](const Probe& probe) { return Answers(probe, planned); });
  return found == reply.probes.end() ? nullptr : &*found;
}

absl::Status Refused(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("probes.", what));
}

}  // namespace

void ProbeRound::Begin(int64_t collection, std::vector<PlannedProbe> plan,
                       const std::map<WorkerId, StreamId>& connected, absl::Duration deadline,
                       absl::Duration now, Effects& effects) {
  collection_ = collection;
  until_ = now + deadline;
  for (PlannedProbe& probe : plan) {
    const auto stream = connected.find(probe.prober);
    if (stream == connected.end()) continue;
    Prober& prober = probers_[probe.prober];
    prober.stream = stream->second;
    prober.planned.push_back(std::move(probe));
    ++asked_;
  }
  for (const auto& [worker, prober] : probers_) {
    wire::ProbeRequest request{.collection = collection, .deadline = deadline, .targets = {}};
    for (const PlannedProbe& probe : prober.planned) request.targets.push_back(probe.target);
    effects.push_back(Send{prober.stream, std::move(request)});
    waiting_.insert(worker);
  }
}

absl::Status ProbeRound::OnReply(const WorkerId& worker, const wire::ProbeReply& reply) {
  const auto found = probers_.find(worker);
  if (found == probers_.end()) {
    return Refused(absl::StrFormat("collection: nothing was asked of this worker in collection %d",
                                   reply.collection));
  }
  Prober& prober = found->second;
  if (prober.reply.has_value()) {
    return Refused(
        absl::StrFormat("collection: a second answer for collection %d", reply.collection));
  }
  for (size_t i = 0; i < reply.probes.size(); ++i) {
    const Probe& probe = reply.probes[i];
    const bool asked = std::any_of(prober.planned.begin(), prober.planned.end(),
                                   [&](const PlannedProbe& p) { return Answers(probe, p); });
    const bool twice =
        std::any_of(reply.probes.begin(), reply.probes.begin() + static_cast<ptrdiff_t>(i),
                    [&](const Probe& p) { return p.peer == probe.peer && p.nic == probe.nic; });
    if (!asked || twice) {
      return Refused(absl::StrFormat(
          "probes[%d]: slice %d task %d was %s", i, probe.peer.slice, probe.peer.task,
          asked ? "given twice" : "not to be probed, or not by that NIC"));
    }
  }
  prober.reply = reply;
  waiting_.erase(worker);
  return absl::OkStatus();
}

std::set<ProbeRound::Nic> ProbeRound::BlindNics() const {
  std::set<Nic> compared;
  std::set<Nic> reaching;
  for (const auto& [worker, prober] : probers_) {
    if (!prober.reply.has_value()) continue;
    for (const PlannedProbe& planned : prober.planned) {
      const Probe* probe = AnswerTo(planned, *prober.reply);
      if (probe == nullptr) continue;
      if (planned.control) compared.insert(planned.target.nic);
      if (probe->ok) reaching.insert(planned.target.nic);
    }
  }
  std::set<Nic> blind;
  std::set_difference(compared.begin(), compared.end(), reaching.begin(), reaching.end(),
                      std::inserter(blind, blind.end()));
  return blind;
}

void ProbeRound::Settle(std::map<WorkerId, Snapshot>& snapshots, Effects& effects) const {
  if (probers_.empty()) return;
  const std::set<Nic> blind = BlindNics();
  size_t answered = 0;
  size_t failed = 0;
  size_t refusals = 0;
  for (const auto& [worker, prober] : probers_) {
    if (!prober.reply.has_value()) continue;
    if (!prober.reply->error.empty() && ++refusals <= kMaxLoggedRefusals) {
      effects.push_back(
          Log{LogLevel::kInfo, absl::StrFormat("slice %d task %d left out probes: %s", worker.slice,
                                               worker.task, Quoted(prober.reply->error))});
    }
    const auto snapshot = snapshots.find(worker);
    for (const Probe& probe : prober.reply->probes) {
      ++(probe.ok ? answered : failed);
      if (snapshot == snapshots.end() || blind.contains(probe.nic)) continue;
      snapshot->second.probes.push_back(probe);
    }
  }
  effects.push_back(Log{LogLevel::kInfo,
                        absl::StrFormat("%d workers were asked for %d probes: %d answered, %d not",
                                        probers_.size(), asked_, answered, failed)});
  for (const Nic& nic : blind) {
    effects.push_back(Log{
        LogLevel::kWarning,
        absl::StrCat("no probe", nic.has_value() ? absl::StrCat(" over ", Quoted(*nic)) : "",
                     " was answered, not even between workers that nobody suspects: nothing is "
                     "concluded from them; let the agents' --probe-port through between the hosts "
                     "of the job")});
  }
}

void ProbeRound::Cancel(Effects& effects) const {
  for (const WorkerId& worker : waiting_) {
    effects.push_back(Send{probers_.at(worker).stream, wire::Cancel{.collection = collection_}});
  }
}

}  // namespace rapideye::coordinator
