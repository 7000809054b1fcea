#include "agent/core/snapshot_builder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "classifier/hlo/assignment.h"

namespace rapideye::agent {
namespace {

// Number of the program in the snapshot's table, added if new.
int32_t ProgramIndex(const std::string& fingerprint, const ModuleNames& modules,
                     std::vector<Program>& programs) {
  const auto it = std::find_if(programs.begin(), programs.end(), [&](const Program& program) {
    return program.fingerprint == fingerprint;
  });
  if (it != programs.end()) return static_cast<int32_t>(it - programs.begin());
  programs.push_back({modules.Find(fingerprint), fingerprint});
  return static_cast<int32_t>(programs.size() - 1);
}

int64_t AgeMs(absl::Duration since, Instant now) {
  return std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - since));
}

Sequencer BuildSequencer(const CoreSample& core, const SequencerSample& sample,
                         const PositionAges& position_ages, Instant now) {
  Sequencer sequencer;
  sequencer.type = sample.type;
  sequencer.index = sample.index;
  sequencer.pc = sample.pc;
  sequencer.tag = sample.tag;
  sequencer.tracemark = sample.tracemark;
  sequencer.run_id = sample.run_id;
  const SequencerKey key = KeyOf(core, sample);
  if (const PositionAges::Hlo* hlo = position_ages.HloOf(key)) {
    sequencer.hlo = hlo->instruction;
    sequencer.hlo_text = hlo->text;
    sequencer.hlo_waits = hlo->waits;
  }
  if (const std::optional<absl::Duration> since = position_ages.StillSince(key)) {
    sequencer.frozen_ms = AgeMs(*since, now);
  }
  return sequencer;
}

Core BuildCore(const CoreSample& sample, const WorkerView& view, Instant now,
               std::vector<Program>& programs) {
  Core core;
  core.chip = sample.chip;
  core.chip_id = sample.chip_id;
  core.type = sample.type;
  core.index = sample.index;
  if (sample.fingerprint.has_value()) {
    core.program = ProgramIndex(*sample.fingerprint, view.modules(), programs);
  }
  core.launch_id = sample.launch_id;
  if (const std::optional<absl::Duration> since = view.LastCompletion(sample.id)) {
    core.stuck_ms = AgeMs(*since, now);
  }
  core.sequencers.reserve(sample.sequencers.size());
  for (const SequencerSample& sequencer : sample.sequencers) {
    core.sequencers.push_back(BuildSequencer(sample, sequencer, view.position_ages(), now));
  }
  core.queued.reserve(sample.queued.size());
  for (const QueuedSample& queued : sample.queued) {
    core.queued.push_back({ProgramIndex(queued.fingerprint, view.modules(), programs),
                           queued.launch_id, queued.run_id});
  }
  core.error = sample.error;
  if (const Transitions::Ring* ring = view.transitions().Of(sample.id)) {
    for (const Transitions::Change& change : *ring) {
      Transition& transition = core.transitions.emplace_back();
      transition.age_ms = AgeMs(change.seen, now);
      if (change.before.has_value()) {
        transition.within_ms = absl::ToInt64Milliseconds(change.seen - *change.before);
      }
      if (change.fingerprint.has_value()) {
        transition.program = ProgramIndex(*change.fingerprint, view.modules(), programs);
      }
      transition.launch_id = change.launch_id;
      transition.pc = change.pc;
      transition.tag = change.tag;
    }
  }
  return core;
}

}  // namespace

Snapshot BuildSnapshot(const wire::Hello& identity, const RuntimeHealth& health,
                       const WorkerView& view, Instant now) {
  Snapshot snapshot;
  snapshot.worker = identity.worker;
  snapshot.host = identity.host;
  snapshot.node = identity.node;
  snapshot.pod = identity.pod;
  snapshot.hardware = identity.hardware;
  snapshot.incarnation = view.incarnation();
  // A clock before 1970 is wrong: left out.
  if (now.wall >= absl::UnixEpoch()) snapshot.captured_unix_ms = absl::ToUnixMillis(now.wall);
  snapshot.runtime = health;
  if (view.last_sample().has_value()) {
    for (const CoreSample& core : view.last_sample()->cores) {
      snapshot.cores.push_back(BuildCore(core, view, now, snapshot.programs));
    }
  }
  return snapshot;
}

namespace {

// The groups or pairs as devices of the job; empty: not certain.
std::vector<DeviceGroup> GroupsOf(const MeetingText& meeting, DeviceRange slice) {
  const auto in = [&meeting](const std::vector<int64_t>& assignment) {
    if (!meeting.pairs) return classifier::DeviceGroupsOf(meeting.groups, assignment);
    // Pairs need not hold all partitions: only their number tells what they number.
    const bool fits = meeting.partitions == static_cast<int64_t>(assignment.size());
    return fits ? classifier::DevicePairsOf(meeting.groups, assignment)
                : std::vector<DeviceGroup>();
  };
  std::vector<DeviceGroup> groups = in(meeting.assignment);
  if (!groups.empty() || slice.empty()) return groups;
  // The text is of one slice: it numbers the slice's partitions in the order of all.
  std::vector<int64_t> own;
  std::copy_if(meeting.assignment.begin(), meeting.assignment.end(), std::back_inserter(own),
               [slice](int64_t device) { return slice.Holds(device); });
  return in(own);
}

}  // namespace

void AddCollectives(const WorkerView& view, DeviceRange slice, bool all_groups,
                    Snapshot& snapshot) {
  if (snapshot.devices.empty() || !view.last_sample().has_value()) return;
  const auto is_own = [&](int64_t device) {
    return std::binary_search(snapshot.devices.begin(), snapshot.devices.end(), device);
  };
  std::vector<Collective>& collectives = snapshot.collectives;
  for (const CoreSample& core : view.last_sample()->cores) {
    if (!core.fingerprint.has_value()) continue;
    const int32_t program = ProgramIndex(*core.fingerprint, view.modules(), snapshot.programs);
    for (const SequencerSample& sequencer : core.sequencers) {
      const PositionAges::Hlo* hlo = view.position_ages().HloOf(KeyOf(core, sequencer));
      if (hlo == nullptr || hlo->meeting == nullptr || !hlo->instruction.has_value()) continue;
      const bool known =
          std::any_of(collectives.begin(), collectives.end(), [&](const Collective& one) {
            return one.program == program && one.instruction == *hlo->instruction;
          });
      if (known || collectives.size() == size_t{Snapshot::kMaxCollectives}) continue;
      std::vector<DeviceGroup> groups = GroupsOf(*hlo->meeting, slice);
      std::erase_if(groups, [&](const DeviceGroup& group) {
        return !all_groups && std::none_of(group.devices.begin(), group.devices.end(), is_own);
      });
      if (groups.empty() || groups.size() > size_t{Collective::kMaxGroups}) continue;
      Collective& collective = collectives.emplace_back();
      collective.program = program;
      collective.instruction = *hlo->instruction;
      collective.groups = std::move(groups);
      if (hlo->meeting->pairs) collective.pairs = true;
    }
  }
}

int64_t EstimateBytes(const Snapshot& snapshot) {
  // Messages are mostly small integers and short strings.
  constexpr int64_t kPerSnapshot = 256;
  constexpr int64_t kPerProgram = 64;
  constexpr int64_t kPerCore = 32;
  constexpr int64_t kPerSequencer = 40;
  constexpr int64_t kPerQueued = 20;
  constexpr int64_t kPerTransition = 30;
  constexpr int64_t kPerEvent = 96;
  constexpr int64_t kPerSocket = 32;
  int64_t bytes = kPerSnapshot + static_cast<int64_t>(snapshot.programs.size()) * kPerProgram;
  for (const Core& core : snapshot.cores) {
    bytes += kPerCore + static_cast<int64_t>(core.queued.size()) * kPerQueued +
             static_cast<int64_t>(core.transitions.size()) * kPerTransition;
    if (core.error.has_value()) bytes += static_cast<int64_t>(core.error->size());
    for (const Sequencer& sequencer : core.sequencers) {
      bytes += kPerSequencer;
      if (sequencer.hlo.has_value()) bytes += static_cast<int64_t>(sequencer.hlo->size());
      if (sequencer.hlo_text.has_value()) bytes += static_cast<int64_t>(sequencer.hlo_text->size());
    }
  }
  constexpr int64_t kPerDevice = 3;
  for (const Collective& collective : snapshot.collectives) {
    bytes += static_cast<int64_t>(collective.instruction.size());
    for (const DeviceGroup& group : collective.groups) {
      bytes += static_cast<int64_t>(group.devices.size() + 1) * kPerDevice;
    }
  }
  bytes += static_cast<int64_t>(snapshot.sockets.size()) * kPerSocket;
  constexpr int64_t kPerMetric = 64;
  bytes += static_cast<int64_t>(snapshot.metrics.size()) * kPerMetric;
  for (const Stack& stack : snapshot.stacks) {
    for (const std::string& frame : stack.frames) bytes += static_cast<int64_t>(frame.size()) + 2;
  }
  for (const LogEvent& event : snapshot.log_events) {
    bytes += kPerEvent + static_cast<int64_t>(event.text.size());
  }
  return bytes;
}

}  // namespace rapideye::agent
