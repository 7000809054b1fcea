#include "coordinator/core/incident.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "coordinator/core/exits.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/progress.h"

namespace rapideye::coordinator {
namespace {

// A message to an agent must never state a deadline of zero.
constexpr absl::Duration kLeastDeadline = absl::Milliseconds(1);

std::map<WorkerId, StreamId> ByWorker(const std::vector<Target>& targets) {
  std::map<WorkerId, StreamId> result;
  for (const Target& target : targets) result[target.worker] = target.stream;
  return result;
}

std::map<WorkerId, double> VotesByWorker(const std::vector<Target>& targets) {
  std::map<WorkerId, double> result;
  for (const Target& target : targets) result[target.worker] = target.votes;
  return result;
}

absl::Status CheckSpeaker(const WorkerId& worker, const Snapshot& snapshot) {
  if (snapshot.worker == worker) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("snapshot.worker: slice %d task %d, on the stream of slice %d task %d",
                      snapshot.worker.slice, snapshot.worker.task, worker.slice, worker.task));
}

// INVALID_ARGUMENT names a list that is longer than any real host's.
absl::Status CheckSizes(const Snapshot& snapshot) {
  struct List {
    const char* name;
    size_t size;
    size_t most;
  };
  for (const List& list : {List{"cores", snapshot.cores.size(), kMaxCoresOfWorker},
                           List{"programs", snapshot.programs.size(), kMaxProgramsOfWorker},
                           List{"pcie", snapshot.pcie.size(), kMaxChipsOfWorker},
                           List{"logEvents", snapshot.log_events.size(), kMaxLogEventsOfWorker},
                           List{"nics", snapshot.nics.size(), kMaxNicsOfWorker},
                           List{"iciLinks", snapshot.ici_links.size(), kMaxIciLinksOfWorker}}) {
    if (list.size <= list.most) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "snapshot.%s: %d are more than a host has (%d)", list.name, list.size, list.most));
  }
  return absl::OkStatus();
}

}  // namespace

// A worker that is slow to answer the first round must not cost the second one:
// the first gets at most half of the time.
Incident::Incident(Suspicion suspicion, const std::vector<Target>& targets, int64_t first_number,
                   absl::Duration deadline, absl::Duration now, Effects& effects)
    : suspicion_(std::move(suspicion)),
      started_(now),
      deadline_(now + deadline),
      first_round_deadline_(now + deadline / 2),
      connected_(ByWorker(targets)),
      votes_(VotesByWorker(targets)),
      first_(first_number, suspicion_.incident, targets, deadline / 2, kMaxCollectionBytes, now,
             effects) {
  Advance(now, effects);
}

absl::Duration Incident::Remaining(absl::Duration now) const {
  return std::max(deadline_ - now, kLeastDeadline);
}

Collection* Incident::FindRound(int64_t number) {
  if (number == first_.number()) return &first_;
  if (second_.has_value() && number == second_->number()) return &*second_;
  return nullptr;
}

void Incident::OnJoin(const Target& target, absl::Duration now, Effects& effects) {
  connected_[target.worker] = target.stream;
  votes_[target.worker] = target.votes;
  if (state_ == State::kFirstRound) {
    first_.Join(target, std::max(first_round_deadline_ - now, kLeastDeadline), now, effects);
  } else if (state_ == State::kSecondRound) {
    second_->Join(target, Remaining(now), now, effects);
  }
}

void Incident::OnLeave(const WorkerId& worker, absl::Duration now, Effects& effects) {
  connected_.erase(worker);
  hlo_waiting_.erase(worker);
  probes_.Leave(worker);
  first_.Leave(worker, now, effects);
  if (second_.has_value()) second_->Leave(worker, now, effects);
  Advance(now, effects);
}

absl::Status Incident::OnReady(const WorkerId& worker, const wire::SampleReady& ready,
                               absl::Duration now, Effects& effects) {
  Collection* round = FindRound(ready.collection);
  if (round == nullptr) return absl::OkStatus();
  absl::Status status = round->OnReady(worker, ready, now, effects);
  Advance(now, effects);
  return status;
}

absl::Status Incident::OnSnapshot(const WorkerId& worker, wire::SnapshotReply reply, int64_t bytes,
                                  absl::Duration now, Effects& effects) {
  Collection* round = FindRound(reply.collection);
  if (round == nullptr) return absl::OkStatus();
  if (absl::Status status = CheckSpeaker(worker, reply.snapshot); !status.ok()) return status;
  if (absl::Status status = CheckSizes(reply.snapshot); !status.ok()) return status;
  if (absl::Status status = round->OnSnapshot(worker, bytes, now, effects); !status.ok()) {
    return status;
  }
  const bool is_first = round == &first_;
  if (is_first) {
    first_launches_.try_emplace(worker, reply.snapshot);
    // A late answer to the first round must not replace the worker's answer to the second.
    if (second_.has_value() && second_->Answered(worker)) return absl::OkStatus();
  } else if (auto before = first_launches_.find(worker);
             !suspicion_.to_the_end && before != first_launches_.end() &&
             before->second.CompletedBy(reply.snapshot)) {
    advanced_.insert(worker);
    if (!MayAdvance()) {
      Recover("launches completed between the two looks");
      return absl::OkStatus();
    }
  }
  // Agents send probes when asked, in a message of their own: a snapshot's own probes are dropped.
  reply.snapshot.probes.clear();
  snapshots_[worker] = std::move(reply.snapshot);
  Advance(now, effects);
  return absl::OkStatus();
}

absl::Status Incident::OnHlo(const WorkerId& worker, const wire::HloReply& reply,
                             absl::Duration now, Effects& effects) {
  if (FindRound(reply.collection) == nullptr) return absl::OkStatus();
  if (!hlo_asked_.contains(worker)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "hlo.collection: nothing was asked of this worker in collection %d", reply.collection));
  }
  // One answer for each question: each answer is kept, and takes memory.
  if (!hlo_waiting_.contains(worker)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("hlo: a second answer for collection %d", reply.collection));
  }
  if (reply.snapshot.has_value()) {
    if (absl::Status status = CheckSpeaker(worker, *reply.snapshot); !status.ok()) return status;
    const std::vector<Program>& programs = reply.snapshot->programs;
    named_programs_.insert(named_programs_.end(), programs.begin(), programs.end());
    hlo_answers_[worker] = *reply.snapshot;
  }
  hlo_waiting_.erase(worker);
  Advance(now, effects);
  return absl::OkStatus();
}

absl::Status Incident::OnProbes(const WorkerId& worker, const wire::ProbeReply& reply,
                                absl::Duration now, Effects& effects) {
  if (FindRound(reply.collection) == nullptr) return absl::OkStatus();
  if (absl::Status status = probes_.OnReply(worker, reply); !status.ok()) return status;
  Advance(now, effects);
  return absl::OkStatus();
}

void Incident::OnTick(absl::Duration now, Effects& effects) {
  first_.OnTick(now, effects);
  if (second_.has_value()) second_->OnTick(now, effects);
  Advance(now, effects);
}

absl::Duration Incident::NextWake() const {
  switch (state_) {
    case State::kFirstRound:
      return first_round_deadline_;
    case State::kPause:
      return second_round_at_;
    case State::kSecondRound:
      return deadline_;
    case State::kAnswers: {
      // Both have to end, and the earlier end may be past.
      const absl::Duration hlo = hlo_waiting_.empty() ? -absl::InfiniteDuration() : hlo_until_;
      return std::max(hlo, probes_.until());
    }
    case State::kDone:
    case State::kRecovered:
      break;
  }
  return absl::InfiniteDuration();
}

void Incident::Advance(absl::Duration now, Effects& effects) {
  if (state_ == State::kFirstRound && (first_.Done() || now >= first_round_deadline_)) {
    EndFirstRound(now, effects);
  }
  if (state_ == State::kPause && now >= second_round_at_) BeginSecondRound(now, effects);
  if (state_ == State::kSecondRound && (second_->Done() || now >= deadline_)) {
    state_ = State::kAnswers;
    if (JobReplaced()) Recover("the job restarted between the two looks");
  }
  const bool hlo_done = hlo_waiting_.empty() || now >= hlo_until_;
  if (state_ == State::kAnswers && hlo_done && probes_.Done(now)) Conclude(effects);
}

void Incident::Conclude(Effects& effects) {
  for (const auto& [worker, answer] : hlo_answers_) {
    auto found = snapshots_.find(worker);
    if (found != snapshots_.end()) MergeHlo(answer, found->second);
  }
  probes_.Settle(snapshots_, effects);
  state_ = State::kDone;
  Abandon(effects);
}

bool Incident::MayAdvance() const {
  // A single worker that reports a hang may be wrong, or lie.
  constexpr double kSeveral = 2;
  double alarmed = 0;
  for (const WorkerId& worker : alarmed_) alarmed += VotesOf(worker);
  if (!suspicion_.most_stand && !AtLeast(alarmed, kSeveral)) return false;
  Tally all;
  for (const auto& [worker, launches] : first_launches_) all.Add(VotesOf(worker));
  Tally advanced;
  for (const WorkerId& worker : advanced_) advanced.Add(VotesOf(worker));
  return AreExceptions(advanced, all);
}

double Incident::VotesOf(const WorkerId& worker) const {
  const auto found = votes_.find(worker);
  return found == votes_.end() ? 1 : found->second;
}

void Incident::Recover(const char* why) {
  state_ = State::kRecovered;
  why_recovered_ = why;
}

// A restart that is on its way looks like processes that have ended beside processes that wait
// for them; the first round's evidence of these belongs to a job that is gone.
bool Incident::JobReplaced() const {
  double both = 0;
  double replaced = 0;
  for (const auto& [worker, before] : first_launches_) {
    if (!second_->Answered(worker)) continue;
    both += VotesOf(worker);
    const auto after = snapshots_.find(worker);
    if (after != snapshots_.end() && before.ReplacedBy(after->second)) replaced += VotesOf(worker);
  }
  return IsMost(replaced, both);
}

void Incident::EndFirstRound(absl::Duration now, Effects& effects) {
  state_ = State::kPause;
  // The interval runs from the last answer, so that it holds for every worker.
  second_round_at_ = now + kRoundInterval;
  // Only an exit waits longer: an alarm of another kind is about a job that stands.
  if (suspicion_.trigger == kExitTrigger && MayBeTheEndOfTheRun(snapshots_)) {
    second_round_at_ =
        std::max(second_round_at_, started_ + std::min(kExitsSettle, (deadline_ - started_) / 2));
  }
  AskForHlo(now, effects);
  wants_probes_ = true;
}

void Incident::AskForHlo(absl::Duration now, Effects& effects) {
  const absl::Duration deadline = std::min(kHloDeadline, Remaining(now));
  hlo_until_ = now + deadline;
  for (const WorkerId& worker : ChooseForHlo(snapshots_, kMaxHloRequests)) {
    auto stream = connected_.find(worker);
    if (stream == connected_.end()) continue;
    hlo_asked_.insert(worker);
    hlo_waiting_.insert(worker);
    effects.push_back(Send{stream->second,
                           wire::HloRequest{.collection = first_.number(), .deadline = deadline}});
  }
}

void Incident::BeginProbes(std::vector<PlannedProbe> plan, absl::Duration now, Effects& effects) {
  wants_probes_ = false;
  probes_.Begin(first_.number(), std::move(plan), connected_,
                std::min(kProbeDeadline, Remaining(now)), now, effects);
}

void Incident::BeginSecondRound(absl::Duration now, Effects& effects) {
  state_ = State::kSecondRound;
  // A worker that did not answer the first round is not waited for again; its late answer to
  // that round still counts.
  std::vector<Target> targets;
  for (const auto& [worker, stream] : connected_) {
    if (first_.Answered(worker)) targets.push_back({worker, stream});
  }
  second_.emplace(first_.number() + 1, suspicion_.incident, targets, Remaining(now),
                  kMaxCollectionBytes - first_.received_bytes(), now, effects);
}

void Incident::Abandon(Effects& effects) {
  first_.CancelRest(effects);
  if (second_.has_value()) second_->CancelRest(effects);
  probes_.Cancel(effects);
}

}  // namespace rapideye::coordinator
