#include "classifier/errors/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/errors/aftermath.h"
#include "classifier/errors/coordination.h"
#include "classifier/errors/error_kind.h"
#include "classifier/errors/error_reader.h"
#include "classifier/errors/standstill.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

// True if the logs of several workers hold such lines: those that still live end for the same
// reason, a moment later.
bool SeveralEndThemselves(const Topology& topology) {
  const auto ends_itself = [](const WorkerInfo& worker) {
    return worker.snapshot != nullptr &&
           std::any_of(worker.snapshot->log_events.begin(), worker.snapshot->log_events.end(),
                       EndsItsProcess);
  };
  return std::count_if(topology.workers().begin(), topology.workers().end(), ends_itself) > 1;
}

// True if some worker has a process, as far as is known, and no error: the end of one is an error.
bool SomebodyLivesUntouched(const std::vector<ErrorEvent>& errors, const Topology& topology) {
  std::set<int> touched;
  for (const ErrorEvent& event : errors) touched.insert(event.worker);
  for (int worker = 0; worker < static_cast<int>(topology.workers().size()); ++worker) {
    const Snapshot* snapshot = topology.worker(worker).snapshot;
    const bool has_process = snapshot != nullptr && !snapshot->processes.empty();
    if (has_process && !touched.contains(worker)) return true;
  }
  return false;
}

// The oldest age of some ends, but for those of one worker.
class OldestEnd {
 public:
  void Add(const ErrorEvent& end) {
    const std::pair<int64_t, int> added{end.age_ms.value_or(0), end.worker};
    if (!oldest_ || added.first > oldest_->first) {
      if (oldest_ && oldest_->second != end.worker) other_ = oldest_;
      oldest_ = added;
    } else if (end.worker != oldest_->second && (!other_ || added.first > other_->first)) {
      other_ = added;
    }
  }

  std::optional<int64_t> ButOf(int worker) const {
    const auto& end = oldest_ && oldest_->second == worker ? other_ : oldest_;
    return end ? std::optional(end->first) : std::nullopt;
  }

 private:
  std::optional<std::pair<int64_t, int>> oldest_;  // age and worker
  std::optional<std::pair<int64_t, int>> other_;   // likewise, the oldest of any other worker
};

// Workers whose mismatch of collectives follows a kill: after one, the rest of a collective
// receives messages that are not meant for it. A mismatch by itself ends the process that meets
// it by an abort. An end at the time of the mismatch that nobody saw and no log explains was a
// kill, too, if others live on: a launcher that ends the job after a mismatch ends all. The same
// holds for a kill of which no time orders the two.
std::set<int> MixedUpByKills(const std::vector<ErrorEvent>& errors, const Topology& topology) {
  std::set<int> mixed_up;
  const auto is_mismatch = [](const ErrorEvent& event) {
    return event.kind == ErrorKind::kCollectiveMismatch;
  };
  if (std::none_of(errors.begin(), errors.end(), is_mismatch)) return mixed_up;
  OldestEnd killed;
  OldestEnd killed_some_time;
  OldestEnd vanished;
  int explained = -1;  // the worker that has another error: those of one are adjacent, ends last
  for (const ErrorEvent& event : errors) {
    if (event.kind != ErrorKind::kExit) {
      explained = event.worker;
      continue;
    }
    if ((event.signalled || event.terminated) && !event.of_victim) {
      (event.age_ms ? killed : killed_some_time).Add(event);
    }
    if (event.unexplained && event.worker != explained) vanished.Add(event);
  }
  const bool others_live = SomebodyLivesUntouched(errors, topology);
  for (const ErrorEvent& event : errors) {
    if (!is_mismatch(event)) continue;
    const std::optional<int64_t> killed_ms = killed.ButOf(event.worker);
    const std::optional<int64_t> vanished_ms = vanished.ButOf(event.worker);
    const bool unordered =
        killed_some_time.ButOf(event.worker) || (killed_ms && !event.age_ms) ||
        (vanished_ms && event.age_ms && *vanished_ms + kAgeErrorMs >= *event.age_ms);
    const bool after_kill = killed_ms && event.age_ms && *killed_ms > *event.age_ms;
    if (after_kill || (unordered && others_live)) mixed_up.insert(event.worker);
  }
  return mixed_up;
}

// Ranks the ends of processes by their age.
class ExitOrder {
 public:
  explicit ExitOrder(const std::vector<ErrorEvent>& errors) {
    for (const ErrorEvent& event : errors) {
      if (event.kind != ErrorKind::kExit || !event.age_ms) continue;
      if (!oldest_ || *event.age_ms > *oldest_) {
        second_ = oldest_;
        oldest_ = event.age_ms;
      } else if (!second_ || *event.age_ms > *second_) {
        second_ = event.age_ms;
      }
    }
  }

  // True for the oldest, if no other is as old within the error of ages.
  bool IsEarliestByFar(const ErrorEvent& event) const {
    return event.age_ms && event.age_ms == oldest_ &&
           (!second_ || *event.age_ms > *second_ + kAgeErrorMs);
  }

 private:
  std::optional<int64_t> oldest_;
  std::optional<int64_t> second_;
};

// Chooses the errors that can be the cause, and notes why the others cannot.
class RootChooser {
 public:
  RootChooser(const Topology& topology, const Standstill& still, Timeline& timeline)
      : topology_(topology), still_(still), timeline_(timeline), exits_(timeline.errors) {}

  void Choose();

 private:
  // True if the error came of the standstill: the worker's own cores had stood still clearly
  // before it. A host without a launch may have been slow for a while, with others waiting for it,
  // before it fails: then the job has to have stood for about as long as a hang takes.
  bool IsAfterStandstill(const ErrorEvent& event) const;
  bool IsLongBeforeStandstill(const ErrorEvent& event) const;

  // True for aborts after the runtime declared the hang; and for aborts of many, unless this one
  // ended earlier than the others by far.
  bool IsAbortAfterHang(const ErrorEvent& event) const;
  bool DeclaredHangOn(int worker) const;

  // True if it is older than each line by which a runtime declared the hang.
  bool PrecedesHangLines(const ErrorEvent& event) const;

  // Why the error cannot be the cause; empty: it can.
  std::string_view WhyNoRoot(const ErrorEvent& event) const;

  // True if the coordination service reports a failure that this end can have followed, be it of
  // processes that live: a barrier that timed out before it, or another worker whose heartbeats
  // it misses.
  bool ServiceBlamesOthers(const ErrorEvent& end) const;

  // Takes the ends of victims out of the roots, if there is a failure that they can have
  // followed: another root, a worker of which nothing is known, another victim.
  void DropVictims();

  // Takes ends that nobody saw, of processes whose logs say nothing, out of the roots, if another
  // process had fallen by its own hand by then: a launcher ends the others, or their run was over.
  void DropUnexplained();

  // Puts the oldest roots first, and counts those that are as old.
  void PutOldestFirst();

  // The time at which failures began on a worker: the oldest of its errors counts for
  // the most specific one.
  std::optional<int64_t> WorkerAge(int worker) const;

  void Note(const ErrorEvent& event, std::string_view why);

  // Merges equal reasons, because thousands of workers may have the same.
  void TellNotFirst();

  const Topology& topology_;
  const Standstill& still_;
  Timeline& timeline_;
  const ExitOrder exits_;
  std::set<int> mixed_up_;  // workers whose mismatch follows a kill
  std::map<std::pair<std::string, std::string>, std::vector<int>> not_first_;  // text, why
};

void RootChooser::Choose() {
  auto& errors = timeline_.errors;
  for (ErrorEvent& event : errors) event.of_victim = IsEndOfVictim(topology_, event);
  mixed_up_ = MixedUpByKills(errors, topology_);
  for (size_t i = 0; i < errors.size(); ++i) {
    // Errors of one worker are adjacent, the most specific first.
    const bool repeats =
        !timeline_.roots.empty() &&
        errors[static_cast<size_t>(timeline_.roots.back())].worker == errors[i].worker;
    if (repeats) continue;
    const std::string_view why = WhyNoRoot(errors[i]);
    if (why.empty()) {
      timeline_.roots.push_back(static_cast<int>(i));
    } else {
      Note(errors[i], why);
    }
  }
  DropVictims();
  DropUnexplained();
  PutOldestFirst();
  TellNotFirst();
}

std::string_view RootChooser::WhyNoRoot(const ErrorEvent& event) const {
  if (IsAbortAfterHang(event)) return "an abort after the runtime declared the hang";
  if (IsAfterStandstill(event) && event.kind != ErrorKind::kKernelHardware) {
    return "younger than the standstill";
  }
  if (IsLongBeforeStandstill(event)) return "the job went on for long after it";
  const bool of_mismatch = event.kind == ErrorKind::kCollectiveMismatch || event.aborted;
  if (of_mismatch && mixed_up_.contains(event.worker)) return "a peer had been killed before";
  if (event.kind == ErrorKind::kPreempted &&
      (!IsGone(topology_, event.worker) || Lives(topology_, event.worker))) {
    return "a notice alone, its worker is still there";
  }
  if ((event.kind == ErrorKind::kException || event.kind == ErrorKind::kDeviceUnavailable) &&
      WentOnAfter(topology_, event)) {
    return "its training loop went on after it";
  }
  return "";
}

bool RootChooser::IsAfterStandstill(const ErrorEvent& event) const {
  if (!event.age_ms) return false;
  const Snapshot* snapshot = topology_.worker(event.worker).snapshot;
  const auto own = snapshot == nullptr ? std::nullopt : LongestStandMs(*snapshot);
  if (own.has_value()) return *event.age_ms + still_.wait_before_failing_ms < *own;
  return still_.waiting_ms && *event.age_ms + still_.idle_before_failing_ms < *still_.waiting_ms;
}

bool RootChooser::IsLongBeforeStandstill(const ErrorEvent& event) const {
  return event.age_ms && timeline_.still_ms && event.kind != ErrorKind::kKernelHardware &&
         event.kind != ErrorKind::kPreempted &&
         *event.age_ms > 2 * *timeline_.still_ms + kOldNewsMs;
}

bool RootChooser::PrecedesHangLines(const ErrorEvent& event) const {
  std::optional<int64_t> oldest;
  for (const WorkerInfo& worker : topology_.workers()) {
    if (worker.snapshot == nullptr || !DeclaredHang(*worker.snapshot)) continue;
    bool told = false;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kHangDetected || !log.age_ms) continue;
      told = true;
      oldest = std::max(oldest.value_or(0), *log.age_ms);
    }
    if (!told) return false;
  }
  return oldest && event.age_ms && *event.age_ms > *oldest + kAgeErrorMs;
}

bool RootChooser::IsAbortAfterHang(const ErrorEvent& event) const {
  if (!DeclaredHangOn(event.worker) && PrecedesHangLines(event)) return false;
  // An observer that came too late knows no signal: a process whose own runtime had
  // declared the hang lived until then, and ended as the others did.
  if (event.unexplained && DeclaredHangOn(event.worker)) return true;
  if (!event.aborted) return false;
  if (timeline_.hang_declared) return true;
  return timeline_.aborted >= 2 && !exits_.IsEarliestByFar(event);
}

bool RootChooser::DeclaredHangOn(int worker) const {
  const Snapshot* snapshot = topology_.worker(worker).snapshot;
  return snapshot != nullptr && DeclaredHang(*snapshot);
}

bool RootChooser::ServiceBlamesOthers(const ErrorEvent& end) const {
  const auto ends_it = [&end](const FailedBarrier& barrier) {
    if (!barrier.age_ms || !end.age_ms) return true;
    return *barrier.age_ms + kAgeErrorMs >= *end.age_ms &&
           *barrier.age_ms <= *end.age_ms + kVictimEndsWithinMs;
  };
  const std::vector<FailedBarrier> barriers = FailedBarriers(topology_);
  const std::vector<int> declared = WithoutHeartbeats(topology_);
  return std::any_of(barriers.begin(), barriers.end(), ends_it) ||
         std::any_of(declared.begin(), declared.end(),
                     [&end](int one) { return one != end.worker; });
}

void RootChooser::DropVictims() {
  std::vector<int> others;
  std::vector<int> victims;
  for (int root : timeline_.roots) {
    (timeline_.errors[static_cast<size_t>(root)].of_victim ? victims : others).push_back(root);
  }
  const bool missing =
      std::any_of(topology_.workers().begin(), topology_.workers().end(),
                  [](const WorkerInfo& worker) { return worker.snapshot == nullptr; });
  const bool alone = others.empty() && victims.size() == 1 && !missing &&
                     !ServiceBlamesOthers(timeline_.errors[static_cast<size_t>(victims[0])]);
  if (victims.empty() || (alone && !SeveralEndThemselves(topology_))) return;
  timeline_.roots = std::move(others);
  for (int victim : victims) {
    Note(timeline_.errors[static_cast<size_t>(victim)],
         "its log says that a peer or the coordination service was gone before");
  }
}

void RootChooser::DropUnexplained() {
  std::optional<int64_t> fell_ms;  // ago; the first
  for (int root : timeline_.roots) {
    const ErrorEvent& event = timeline_.errors[static_cast<size_t>(root)];
    const bool by_own_hand = event.kind == ErrorKind::kExit && !event.unexplained &&
                             !event.succeeded && !event.terminated && !event.of_victim;
    if (by_own_hand && event.age_ms) fell_ms = std::max(fell_ms.value_or(0), *event.age_ms);
  }
  if (!fell_ms) return;
  std::erase_if(timeline_.roots, [&](int root) {
    const ErrorEvent& event = timeline_.errors[static_cast<size_t>(root)];
    const bool unexplained = event.kind == ErrorKind::kExit && event.unexplained && event.age_ms &&
                             *event.age_ms <= *fell_ms + kAgeErrorMs &&
                             IsGone(topology_, event.worker) && !Lives(topology_, event.worker);
    if (unexplained) Note(event, "another process had fallen by its own hand");
    return unexplained;
  });
}

void RootChooser::PutOldestFirst() {
  const auto age = [&](int root) {
    return WorkerAge(timeline_.errors[static_cast<size_t>(root)].worker);
  };
  std::optional<int64_t> oldest;
  for (int root : timeline_.roots) {
    if (age(root) && (!oldest || *age(root) > *oldest)) oldest = age(root);
  }
  // A root without an age has no order, and counts as first.
  const auto first_end = std::stable_partition(
      timeline_.roots.begin(), timeline_.roots.end(),
      [&](int root) { return !oldest || !age(root) || *age(root) + kAgeErrorMs >= *oldest; });
  timeline_.first_count = static_cast<int>(first_end - timeline_.roots.begin());
}

std::optional<int64_t> RootChooser::WorkerAge(int worker) const {
  std::optional<int64_t> oldest;
  auto it = std::lower_bound(timeline_.errors.begin(), timeline_.errors.end(), worker,
                             [](const ErrorEvent& e, int w) { return e.worker < w; });
  for (; it != timeline_.errors.end() && it->worker == worker; ++it) {
    if (it->age_ms && (!oldest || *it->age_ms > *oldest)) oldest = it->age_ms;
  }
  return oldest;
}

void RootChooser::Note(const ErrorEvent& event, std::string_view why) {
  std::vector<int>& workers = not_first_[{event.text, std::string(why)}];
  if (workers.empty() || workers.back() != event.worker) workers.push_back(event.worker);
}

void RootChooser::TellNotFirst() {
  for (const auto& [what, workers] : not_first_) {
    if (timeline_.reasons.size() >= kMaxChainLines) return;
    timeline_.reasons.push_back(
        absl::StrCat(what.first, " on ", WhoAll(topology_, workers), ": ", what.second));
  }
}

}  // namespace

Timeline BuildTimeline(const Topology& topology) {
  const Standstill still = MeasureStandstill(topology);
  Errors errors = ReadErrors(topology, still);
  Timeline timeline;
  timeline.still_ms = still.still_ms;
  timeline.errors = std::move(errors.events);
  timeline.aborted = errors.aborted;
  timeline.hang_declared = errors.hang_declared;
  RootChooser(topology, still, timeline).Choose();
  return timeline;
}

}  // namespace rapideye::classifier
