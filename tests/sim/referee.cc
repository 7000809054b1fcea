#include "tests/sim/referee.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "agent/core/limits.h"
#include "coordinator/core/limits.h"
#include "tests/scenarios/truth.h"

namespace rapideye::sim {
namespace {

// Time that a digest may take after a hang can be seen, beyond the threshold and the
// collect deadline: heartbeats on their way, a poll, the second look.
constexpr absl::Duration kSlack = absl::Seconds(12);

std::string Name(const WorkerId& worker) { return absl::StrCat(worker.slice, ".", worker.task); }

}  // namespace

absl::Time WallOrigin() { return absl::FromUnixSeconds(1'800'000'000); }

void Referee::Fail(const std::string& what) {
  failures_.push_back(absl::StrCat(absl::FormatDuration(clockwork_.now()), ": ", what));
}

// Streams ------------------------------------------------------------------------

void Referee::CoordinatorBegins() {
  ++coordinators_;
  over_.clear();
  asked_.clear();
  granted_.clear();
  first_look_ = 0;
}

void Referee::StreamIsOver(Connection connection) {
  over_.insert(connection);
  asked_.erase(connection);
  std::erase_if(granted_, [&](const auto& grant) { return grant.first.first == connection; });
}

void Referee::CheckStream(Connection connection, const char* what) {
  if (over_.contains(connection)) {
    Fail(absl::StrCat(what, " stream ", connection, ", which is over"));
  }
}

void Referee::Closed(Connection connection) {
  CheckStream(connection, "close of");
  StreamIsOver(connection);
}

void Referee::Sent(Connection connection, const wire::CoordinatorMessage& message) {
  CheckStream(connection, "a message for");
  int64_t granted = 0;
  if (const auto* collect = std::get_if<wire::Collect>(&message)) {
    if (collect->deadline <= absl::ZeroDuration()) Fail("a deadline that is over already");
    if (collect->collection % 2 == 1 && collect->collection >= first_look_) {
      if (collect->collection > first_look_) asked_.clear();
      first_look_ = collect->collection;
      asked_[connection] = collect->deadline;
    }
    if (collect->credit) granted = collect->collection;
  } else if (const auto* grant = std::get_if<wire::Grant>(&message)) {
    granted = grant->collection;
  }
  if (granted == 0) return;
  const absl::Duration now = clockwork_.now();
  std::erase_if(granted_, [&](const auto& grant) {
    return now - grant.second >= coordinator::kGrantTimeout || grant.first.second != granted;
  });
  granted_[{connection, granted}] = now;
  if (granted_.size() > coordinator::kMaxSnapshotsInFlight) {
    Fail(absl::StrCat(granted_.size(), " snapshots are in flight"));
  }
}

void Referee::TextsArrived(const coordinator::TextsGathered& texts) {
  const absl::Duration took = clockwork_.now() - texts_awaited_;
  if (took > coordinator::kModuleTextDeadline + absl::Seconds(1)) {
    Fail(absl::StrCat("texts of programs took ", absl::FormatDuration(took)));
  }
  for (const coordinator::GatheredText& one : texts.sides) {
    const std::vector<WorkerId>& workers = one.side.workers;
    if (std::find(workers.begin(), workers.end(), one.worker) == workers.end()) {
      Fail("a text is of a worker of neither side");
    }
    if (one.text.has_value() == one.problem.empty()) continue;
    Fail("a side has neither a text nor a reason");
  }
}

void Referee::SnapshotArrived(Connection connection, int64_t collection) {
  granted_.erase({connection, collection});
}

// Incidents ----------------------------------------------------------------------

void Referee::Concluded(const coordinator::Conclude& conclude, const Verdict& verdict,
                        const Speakers& speakers) {
  const Capture& capture = conclude.capture;
  CheckCapture(capture, speakers);
  if (verdict.cause == Cause::kNoHang) return;
  if (conclude.again) {
    ++further_looks_;
    // Agents notice a completion at their next poll. A liar may have the coordinator look once
    // more.
    const absl::Duration unseen =
        job_.GapAt(clockwork_.now()).from + options_.poll_interval + options_.slowest_message;
    if (!options_.liar.has_value() && settled_.contains(conclude.incident_id) &&
        unseen < looked_[conclude.incident_id]) {
      Fail(absl::StrCat("incident ", conclude.incident_id, " is looked at again, and was settled"));
    }
  } else if (stored_.contains(conclude.incident_id)) {
    Fail(absl::StrCat("incident ", conclude.incident_id, " is on disk, and concluded again"));
  }
  looked_[conclude.incident_id] = clockwork_.now();
  unknown_ = verdict.cause == Cause::kUnknown;
  const absl::Duration detected =
      absl::FromUnixMillis(capture.header.detected_unix_ms.value_or(0)) - WallOrigin();
  CheckHang(conclude, verdict, detected, speakers);
}

void Referee::CheckCapture(const Capture& capture, const Speakers& speakers) {
  std::set<WorkerId> expected;
  for (const ExpectedWorker& worker : capture.header.expected_workers) expected.insert(worker.id);
  std::set<WorkerId> seen;
  for (const Snapshot& snapshot : capture.snapshots) {
    if (!expected.contains(snapshot.worker)) Fail(Name(snapshot.worker) + " is not expected");
    if (!seen.insert(snapshot.worker).second) Fail(Name(snapshot.worker) + " was seen twice");
  }
  // A poll that hangs may take its deadline; the rest is for messages, there and back.
  const absl::Duration enough = agent::kPollDeadline + 3 * options_.slowest_message;
  for (const auto& [connection, deadline] : asked_) {
    const auto speaker = speakers.find(connection);
    if (deadline < enough || speaker == speakers.end() || !network_.Whole(connection)) continue;
    if (!seen.contains(speaker->second.worker) && !IsLiar(speaker->second.worker)) {
      Fail(
          absl::StrCat(Name(speaker->second.worker), " was connected all the time and is missing"));
    }
  }
}

// An alarm may be raised while launches still complete here and there: the alarm is
// false if the job hangs neither when it is raised nor when the incident is concluded.
void Referee::CheckHang(const coordinator::Conclude& conclude, const Verdict& verdict,
                        absl::Duration detected, const Speakers& speakers) {
  const Capture& capture = conclude.capture;
  std::optional<Job::Standstill> standstill = job_.StandstillAt(clockwork_.now());
  if (!standstill.has_value()) standstill = job_.StandstillAt(detected);
  const Job::Gap gap = job_.GapAt(clockwork_.now());
  const std::string what = absl::StrCat(
      std::string(CauseName(verdict.cause)), " ", std::string(DetailName(verdict.detail)),
      " (trigger ", capture.header.trigger.value_or("none"), ", detected at ",
      absl::FormatDuration(detected), "; no completion between ", absl::FormatDuration(gap.from),
      " and ", absl::FormatDuration(gap.until), ")");
  if (options_.liar.has_value()) {
    // The liar may well raise an alarm: only the removals that follow count.
    if (standstill.has_value()) told_[*standstill].incidents.insert(conclude.incident_id);
    return CheckRemoval(verdict, detected);
  }
  if (!standstill.has_value()) return Fail(absl::StrCat("false alarm: ", what));
  CheckToldOnce(*standstill, conclude.incident_id, speakers, what);
  CheckVerdict(capture, verdict, detected);
}

bool Referee::IsLiar(const WorkerId& worker) const {
  return options_.liar.has_value() && job_.layout().Id(*options_.liar) == worker;
}

// A liar may have its own machine removed, or a broken machine, but no other.
void Referee::CheckRemoval(const Verdict& verdict, absl::Duration detected) {
  if (!verdict.removal.eligible) return;
  const scenarios::Truth* truth = job_.TruthAt(detected);
  if (truth != nullptr && !scenarios::GradeVerdict(*truth, verdict).wrong_removal) return;
  const std::string& own = job_.layout().machines[static_cast<size_t>(*options_.liar)].host;
  for (const RemovalTarget& target : verdict.removal.targets) {
    if (target.host == own) continue;
    Fail(absl::StrCat("a lie removes ", target.host, ": ", verdict.removal.reason));
  }
}

// A coordinator reports a hang once. Its successor knows only the incidents that more
// than half of the agents remember.
void Referee::CheckToldOnce(const Job::Standstill& standstill, const std::string& incident,
                            const Speakers& speakers, const std::string& what) {
  Told& told = told_[standstill];
  const bool again = !told.incidents.empty() && !told.incidents.contains(incident);
  const auto remembering = std::count_if(speakers.begin(), speakers.end(), [&](const auto& entry) {
    const std::optional<wire::IncidentMemory>& memory = entry.second.memory;
    return memory.has_value() && told.incidents.contains(memory->incident);
  });
  const bool known = std::exchange(told.coordinator, coordinators_) == coordinators_ ||
                     static_cast<size_t>(remembering) * 2 > speakers.size();
  // Without agents that watch hosts, a restarted agent looks like another process, and
  // many of them look like a job that has restarted.
  const bool seems_restarted = options_.agent_restarts > 0 && !options_.watches_host;
  if (again && known && !seems_restarted) Fail(absl::StrCat("told of twice: ", what));
  told.incidents.insert(incident);
}

void Referee::Stored(const std::string& incident, bool settled) {
  stored_.insert(incident);
  if (settled) settled_.insert(incident);
}

bool Referee::Complete(const Capture& capture) const {
  if (capture.snapshots.size() < capture.header.expected_workers.size()) return false;
  return std::all_of(capture.snapshots.begin(), capture.snapshots.end(),
                     [](const Snapshot& snapshot) { return !snapshot.cores.empty(); });
}

void Referee::CheckVerdict(const Capture& capture, const Verdict& verdict,
                           absl::Duration detected) {
  const scenarios::Truth* truth = job_.TruthAt(detected);
  if (truth == nullptr) return;
  const scenarios::Grade grade = scenarios::GradeVerdict(*truth, verdict);
  if (grade.wrong_removal) Fail("a machine would be removed that is well");
  if (!Complete(capture)) return;
  // Without agents that watch hosts, only a runtime's silence tells of the end of its process.
  if (options_.hang == scenarios::Kind::kProcessKilled && !options_.watches_host) return;
  // Without the learnt order of programs either side may be the one that is out of order.
  const bool learnt = std::any_of(capture.header.cohorts.begin(), capture.header.cohorts.end(),
                                  [](const Cohort& cohort) { return !cohort.sequence.empty(); });
  const bool out_of_order = options_.hang == scenarios::Kind::kLaunchOrder;
  if (out_of_order && !learnt && grade.cause) return;
  const bool undecided = grade.unknown && (!truth->needs.empty() || out_of_order);
  if (!(grade.cause && grade.detail && grade.culprits) && !undecided) {
    wrong_verdicts_.push_back(grade.reason);
  }
}

// Liveness -----------------------------------------------------------------------

absl::Duration Referee::Deadline() const {
  // An agent that was refused comes back after a minute; an agent whose stream is half
  // open has to notice first; a coordinator that begins waits for them all.
  const absl::Duration reconnected = options_.quiet_at + agent::kRefusedBackoff +
                                     2 * agent::kLongestBackoff + agent::kWelcomeTimeout;
  const absl::Duration seen = std::max(reconnected + coordinator::kSettleTime, job_.last_break());
  // A liar that alone advances is believed for a while.
  const absl::Duration believed =
      options_.liar.has_value() ? 2 * job_.threshold() : absl::ZeroDuration();
  return seen + job_.threshold() + believed + options_.collect_deadline + kSlack;
}

bool Referee::Satisfied() const {
  const absl::Duration now = clockwork_.now();
  if (now < job_.last_break() || now < options_.quiet_at) return false;
  const std::optional<Job::Standstill> standstill = job_.StandstillAt(now);
  return standstill.has_value() && told_.contains(*standstill);
}

void Referee::CheckEnd() {
  if (job_.TruthAt(clockwork_.now()) == nullptr) return;
  if (!Satisfied()) Fail("the job hangs, and nobody was told");
}

}  // namespace rapideye::sim
