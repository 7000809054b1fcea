#include "agent/core/launches.h"

#include <algorithm>
#include <utility>

#include "agent/core/limits.h"

namespace rapideye::agent {
namespace {

bool SamePosition(const Transitions::Change& a, const Transitions::Change& b) {
  return a.fingerprint == b.fingerprint && a.launch_id == b.launch_id && a.pc == b.pc &&
         a.tag == b.tag;
}

}  // namespace

void Transitions::Observe(const RuntimeSample& sample, absl::Duration now) {
  std::map<int32_t, Ring> present;
  for (const CoreSample& core : sample.cores) {
    Change change;
    change.seen = now;
    change.fingerprint = core.fingerprint;
    change.launch_id = core.launch_id;
    if (!core.sequencers.empty()) {
      change.pc = core.sequencers.front().pc;
      change.tag = core.sequencers.front().tag;
    }
    Ring& ring = present[core.id];
    const auto known = rings_.find(core.id);
    if (known != rings_.end()) {
      ring = std::move(known->second);
      if (!ring.empty() && SamePosition(ring.back(), change)) continue;
      change.before = last_sample_;
    }
    if (ring.size() == kMaxTransitionsPerCore) ring.pop_front();
    ring.push_back(std::move(change));
  }
  rings_ = std::move(present);
  last_sample_ = now;
}

const Transitions::Ring* Transitions::Of(int32_t core_id) const {
  const auto ring = rings_.find(core_id);
  return ring == rings_.end() ? nullptr : &ring->second;
}

namespace {

// The runtime names an instruction by these alone: a tracemark that moves on
// the spot does not change what stands at the pc.
bool SameInstruction(const Position& a, const Position& b) {
  return a.fingerprint == b.fingerprint && a.launch_id == b.launch_id && a.tag == b.tag &&
         a.pc == b.pc;
}

}  // namespace

Position PositionOf(const CoreSample& core, const SequencerSample& sequencer) {
  return {core.fingerprint, core.launch_id,      sequencer.pc,
          sequencer.tag,    sequencer.tracemark, sequencer.run_id};
}

SequencerKey KeyOf(const CoreSample& core, const SequencerSample& sequencer) {
  return {core.id, sequencer.type, sequencer.index};
}

void PositionAges::Observe(const RuntimeSample& sample, absl::Duration now) {
  std::map<SequencerKey, Standing> present;
  for (const CoreSample& core : sample.cores) {
    for (const SequencerSample& sequencer : core.sequencers) {
      const SequencerKey key = KeyOf(core, sequencer);
      Standing standing{PositionOf(core, sequencer), now, std::nullopt};
      const auto before = sequencers_.find(key);
      if (before != sequencers_.end()) {
        if (before->second.position == standing.position) standing.since = before->second.since;
        if (SameInstruction(before->second.position, standing.position)) {
          standing.hlo = std::move(before->second.hlo);
        }
      }
      if (sequencer.hlo.has_value() || sequencer.hlo_text.has_value()) {
        standing.hlo =
            Hlo{sequencer.hlo, sequencer.hlo_text, sequencer.hlo_waits, sequencer.meeting};
      }
      present.emplace(key, std::move(standing));
    }
  }
  sequencers_ = std::move(present);
}

std::optional<absl::Duration> PositionAges::StillSince(const SequencerKey& key) const {
  const auto it = sequencers_.find(key);
  if (it == sequencers_.end()) return std::nullopt;
  return it->second.since;
}

const PositionAges::Hlo* PositionAges::HloOf(const SequencerKey& key) const {
  const auto it = sequencers_.find(key);
  if (it == sequencers_.end() || !it->second.hlo.has_value()) return nullptr;
  return &*it->second.hlo;
}

namespace {

// Launch ids are signed 32-bit counters that wrap.
int64_t Distance(int32_t from, int32_t to) {
  return static_cast<int32_t>(static_cast<uint32_t>(to) - static_cast<uint32_t>(from));
}

int32_t After(int32_t launch_id) {
  return static_cast<int32_t>(static_cast<uint32_t>(launch_id) + 1);
}

}  // namespace

bool LaunchTracker::Running::SameLaunch(const Running& other) const {
  if (fingerprint != other.fingerprint || launch_id != other.launch_id) return false;
  return launch_id.has_value() || run_id == other.run_id;
}

LaunchTracker::LaunchTracker(const CoreSample& core, absl::Duration now)
    : running_(RunningOn(core, now)), last_sample_(now), last_completion_(now) {
  if (core.fingerprint.has_value() && core.launch_id.has_value()) {
    FindOrAdd(*core.fingerprint, running_ ? *core.launch_id : After(*core.launch_id), now);
  }
}

std::optional<LaunchTracker::Running> LaunchTracker::RunningOn(const CoreSample& core,
                                                               absl::Duration now) {
  if (!core.InLaunch()) return std::nullopt;
  Running running{core.fingerprint.value_or(""), core.launch_id, std::nullopt, now, now};
  for (const SequencerSample& sequencer : core.sequencers) {
    if (sequencer.run_id.has_value()) {
      running.run_id = sequencer.run_id;
      break;
    }
  }
  return running;
}

bool LaunchTracker::Plausible(const CoreSample& core, absl::Duration now) {
  if (!core.fingerprint.has_value() || !core.launch_id.has_value()) return true;
  const Counter* counter = Find(*core.fingerprint);
  if (counter == nullptr) return true;
  const int64_t ahead = Distance(counter->next, *core.launch_id);
  // An idle core may name the launch that ran last.
  if (ahead < (core.InLaunch() ? 0 : -1)) return false;
  const absl::Duration elapsed = now - counter->seen;
  return ahead <= kLaunchCounterSlack +
                      absl::ToInt64Seconds(elapsed * static_cast<double>(kMaxLaunchesPerSecond));
}

LaunchChange LaunchTracker::Observe(const CoreSample& core, absl::Duration now) {
  LaunchChange change;
  // A halted core's launches vanish without having completed.
  if (core.error.has_value()) return change;
  if (!Plausible(core, now)) {
    change.counters_restarted = true;
    return change;
  }
  std::optional<Running> current = RunningOn(core, now);
  const bool same = running_ && current && running_->SameLaunch(*current);
  if (same) {
    running_->last_seen = now;
    last_sample_ = now;
    return change;
  }
  const std::optional<Running> ended = std::exchange(running_, std::move(current));
  change.began = running_.has_value();
  const int64_t before = completed_;
  if (ended.has_value()) {
    if (ended->launch_id.has_value()) {
      CountUpTo(ended->fingerprint, *ended->launch_id, After(*ended->launch_id), now, change);
    } else {
      Count(FindOrAdd(ended->fingerprint, 0, now), 1, change);
    }
  }
  if (core.fingerprint.has_value() && core.launch_id.has_value()) {
    const int32_t next = running_ ? *core.launch_id : After(*core.launch_id);
    CountUpTo(*core.fingerprint, next, next, now, change);
  }
  const int64_t launches = completed_ - before;
  if (launches > 0) last_completion_ = now;
  if (ended.has_value()) {
    for (Completion& completion : change.completions) {
      if (completion.fingerprint != ended->fingerprint) continue;
      completion.longest = ended->last_seen - ended->first_seen +
                           (now - last_sample_) / std::max<int64_t>(1, launches);
    }
  }
  last_sample_ = now;
  return change;
}

void LaunchTracker::MeasureAnew(absl::Duration now) {
  if (running_.has_value()) running_->first_seen = running_->last_seen = now;
}

void LaunchTracker::CountUpTo(const std::string& fingerprint, int32_t first, int32_t next,
                              absl::Duration now, LaunchChange& change) {
  Counter& counter = FindOrAdd(fingerprint, first, now);
  counter.seen = now;
  const int64_t launches = Distance(counter.next, next);
  if (launches <= 0) return;
  counter.next = next;
  Count(counter, launches, change);
}

void LaunchTracker::Count(Counter& counter, int64_t launches, LaunchChange& change) {
  counter.total += launches;
  completed_ += launches;
  for (Completion& completion : change.completions) {
    if (completion.fingerprint == counter.fingerprint) {
      completion.total = counter.total;
      return;
    }
  }
  change.completions.push_back({counter.fingerprint, counter.total, std::nullopt});
}

LaunchTracker::Counter* LaunchTracker::Find(const std::string& fingerprint) {
  const auto it = std::find_if(counters_.begin(), counters_.end(), [&](const Counter& counter) {
    return counter.fingerprint == fingerprint;
  });
  return it == counters_.end() ? nullptr : &*it;
}

LaunchTracker::Counter& LaunchTracker::FindOrAdd(const std::string& fingerprint, int32_t next,
                                                 absl::Duration now) {
  if (Counter* counter = Find(fingerprint)) return *counter;
  if (counters_.size() == kMaxPrograms) {
    counters_.erase(
        std::min_element(counters_.begin(), counters_.end(),
                         [](const Counter& a, const Counter& b) { return a.seen < b.seen; }));
  }
  counters_.push_back({fingerprint, next, 0, now});
  return counters_.back();
}

}  // namespace rapideye::agent
